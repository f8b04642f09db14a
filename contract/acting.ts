/** Working in the account of another customer (decision 107). */

/**
 * How the token of somebody who works in another's account begins; a view's token begins otherwise.
 */
export const actingPrefix = 'act.'
