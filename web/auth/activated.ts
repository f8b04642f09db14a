/** The address whose account was just activated: the sign-in that follows need not ask for it. */
let activated = ''
export const noteActivated = (email: string): void => void (activated = email)
export const activatedEmail = (): string => activated
