/** Seeing the portal as a customer does (decision 104). */

/** How the token of such a view begins. No other token has a dot in it. */
export const viewPrefix = 'view.'
