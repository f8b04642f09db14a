/**
 * Finds the session of the browser's cookie, for a tab that has none of its own, or whose own was
 * replaced. Loaded on demand.
 */
import { logout } from '../contract/auth.ts'
import type { Failure } from '../contract/endpoint.ts'
import { currentSession, type BrowserSession } from '../contract/session.ts'
import { takeEarlyRead } from './early-reads.ts'
import { ending, session } from './session.ts'
import { leaving, noteLeaving } from './tabs.ts'

/** Asks with the cookie alone. Undefined: no response came. */
async function ask(): Promise<BrowserSession | null | undefined> {
  try {
    const early = takeEarlyRead(currentSession.path, null)?.catch(() => undefined)
    const response = (await early) ?? (await fetch(currentSession.path))
    if (!response.ok) return undefined
    return ((await response.json()) as { result: BrowserSession | null }).result
  } catch {
    return undefined
  }
}

async function endWhatWasLeft(csrfToken: string): Promise<void> {
  const response = await fetch(logout.path, {
    method: logout.method,
    headers: { 'X-CSRF-Token': csrfToken },
    keepalive: true,
  }).catch(() => undefined)
  if (response?.ok) noteLeaving(undefined)
}

let asking: Promise<BrowserSession | null | undefined> | undefined
/**
 * The live session of the cookie; null where there is none, undefined where no response came. A
 * session that was signed out of here is ended now, and counts as none.
 */
export function heldSession(): Promise<BrowserSession | null | undefined> {
  const look = async () => {
    const found = await ask()
    const left = leaving()
    if (found === undefined || left === null) return found
    if (found?.id !== left) {
      noteLeaving(undefined)
      return found
    }
    if (found.csrfToken !== null) await endWhatWasLeft(found.csrfToken)
    return null
  }
  return (asking ??= look().finally(() => (asking = undefined)))
}

/** Starts using the cookie's session in a tab that is not signed in. */
export async function takeUp(): Promise<void> {
  const found = await heldSession()
  if (!found || session.signedIn()) return
  session.hold(found)
  if (found.locked) session.lock()
}

let recovering: Promise<void> | undefined
/**
 * This tab's credentials are dead. Another tab may since have unlocked the session or signed in;
 * then the cookie holds a live session. A different session needs a reload of the page.
 */
function recover(): Promise<void> {
  const look = async () => {
    const before = session.held()?.id
    const found = await heldSession()
    if (!found || !session.signedIn()) return
    if (found.locked) session.lock()
    else if (before !== found.id) ending.keep(session.user()?.id)
    session.hold(found)
    if (before !== found.id) location.reload()
  }
  return (recovering ??= look().finally(() => (recovering = undefined)))
}

/**
 * Whether a call that was refused for its credentials, `under`, may succeed with this tab's present
 * credentials.
 */
export async function isReplaced(response: Response, under: string): Promise<boolean> {
  const failure = (await response
    .clone()
    .json()
    .catch(() => undefined)) as Failure | undefined
  // A view or acting tab has a token of its own; the browser's cookie belongs to another session.
  if (session.view() !== null) return false
  const code = failure?.error?.code
  if (code === 'unauthenticated' && under === session.credential()) await recover()
  return (
    (code === 'unauthenticated' || code === 'forbidden') &&
    under !== session.credential() &&
    session.signedIn() &&
    !session.locked()
  )
}
