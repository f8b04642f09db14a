import { session } from './session.ts'

/**
 * Before a screen that depends on who is signed in: a tab that knows of nobody asks by the cookie.
 */
export const resume = async (): Promise<void> => {
  if (session.signedIn()) return
  // Without it nobody is signed in here.
  await import('./resume.ts').then(({ takeUp }) => takeUp()).catch(() => {})
}
