/** In a tab's session storage: access to another account has ended, and nobody has read it yet. */
export const endedKey = 'accessEnded'
