/** Working in the account of another customer (decision 107). */

/** How the token begins by which somebody does; a view's begins otherwise. */
export const actingPrefix = 'act.'
