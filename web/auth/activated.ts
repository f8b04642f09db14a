/** The address whose account was just activated: the sign-in that follows need not ask for it. */
let activated = ''
/** '' once somebody has signed in: the next person at this browser is not shown the address. */
export const noteActivated = (email: string): void => void (activated = email)
export const activatedEmail = (): string => activated
