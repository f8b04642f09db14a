/** Seeing the portal as a customer does (decision 104). */

/** The beginning of a view's token. No session token and no token for programs contains a dot. */
export const viewPrefix = 'view.'
