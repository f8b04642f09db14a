/**
 * Key in a tab's session storage: access to another's account has ended, and the message was not
 * shown yet.
 */
export const endedKey = 'accessEnded'
