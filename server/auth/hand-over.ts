/** The answer of a sign-in and of an unlock. */
import type { SignedIn } from '../../contract/session.ts'
import type { Held } from '../platform/http.ts'
import { csrfTokenOf } from '../platform/session-cookie.ts'
import type { Opened } from './session.ts'

/** Sets the session's cookie in the browser, and answers the session. */
export function handOver(held: Held, opened: Opened): SignedIn {
  held.keep(opened.cookie, opened.cookieSeconds ?? undefined)
  const expiresAt = opened.expiresAt.toISOString()
  return {
    token: { accessToken: opened.accessToken, expiresAt },
    session: {
      id: opened.id,
      csrfToken: csrfTokenOf(opened.cookie),
      remembered: opened.remembered,
      expiresAt: opened.sessionExpiresAt.toISOString(),
      locked: false,
    },
  }
}
