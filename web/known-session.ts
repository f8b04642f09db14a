import { session } from './session.ts'

/**
 * Runs before a screen that depends on the session: a tab without one checks the browser's cookie.
 */
export const resume = async (): Promise<void> => {
  if (session.signedIn()) return
  // If that fails, nobody is signed in here.
  await import('./resume.ts').then(({ takeUp }) => takeUp()).catch(() => {})
}
