/**
 * The signed-in state of this tab. Access is granted by the token in session storage (under the
 * names that portal.md gives), and by the cookie, which holds the session for every tab and which
 * no script can read (contract.md section 8). A tab that did not sign in itself has no token.
 */
import { useSyncExternalStore } from 'react'
import type { Me } from '../contract/auth.ts'
import type { BrowserSession } from '../contract/session.ts'

const keys = {
  token: 'accessToken',
  /** The session's id and CSRF token, which grant nothing without the cookie. */
  held: 'session',
  signedIn: 'isLogin',
  user: 'user',
  locked: 'isLockScreen',
  cardSecret: 'client_secret',
  /** The email of the customer whose session ended by itself, for the next sign-in. */
  ended: 'ended',
  /**
   * Set in a tab where a member of the staff sees the portal as its customer does and changes
   * nothing, or where somebody works in another's account.
   */
  view: 'view',
  /** The permissions there, separated by commas (may.ts). */
  may: 'may',
} as const
/** Keys that belong to one customer. */
const ofCustomer = [keys.user, keys.cardSecret]
/** Where drafts.ts stores typed text. */
export const draftsKey = 'drafts'
/**
 * Set by drafts.ts once a form was shown: stores what is typed for the account. Undefined: stores a
 * visitor's text, if nobody is signed in.
 */
export const ending = { keep: (_account: string | undefined) => {} }
/** What this tab knows of the session that the browser's cookie holds. */
interface Held {
  readonly id: string
  readonly csrfToken: string
}
const heldOf = ({ id, csrfToken }: BrowserSession): Held | undefined =>
  csrfToken === null ? undefined : { id, csrfToken }
function readHeld(): Held | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(keys.held) ?? 'null') as Held | null) ?? undefined
  } catch {
    return undefined
  }
}
function writeHeld(held: Held | undefined) {
  if (held === undefined) sessionStorage.removeItem(keys.held)
  else sessionStorage.setItem(keys.held, JSON.stringify({ id: held.id, csrfToken: held.csrfToken }))
}

const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

export const session = {
  token: (): string | null => sessionStorage.getItem(keys.token),
  held: readHeld,
  /**
   * The credential of this tab's calls; null for a visitor. Another value means another session.
   */
  credential: (): string | null => session.token() ?? readHeld()?.csrfToken ?? null,
  signedIn: (): boolean =>
    sessionStorage.getItem(keys.signedIn) === '1' && session.credential() !== null,
  locked: (): boolean => sessionStorage.getItem(keys.locked) === 'true',
  /** The bar's data in a view or acting tab, as JSON; null in a customer's own tab. */
  view: (): string | null => sessionStorage.getItem(keys.view),

  /** A sign-in first removes what is stored here for the previous customer. */
  open(token: string, of?: BrowserSession) {
    for (const key of ofCustomer) sessionStorage.removeItem(key)
    session.unlock(token, of)
    changed()
  },
  /**
   * Starts using the cookie's session in this tab. The tab's own token, if any, is dead. What is
   * stored here for another session's customer is removed.
   */
  hold(of: BrowserSession) {
    const held = heldOf(of)
    if (held === undefined) return
    if (readHeld()?.id !== held.id) for (const key of ofCustomer) sessionStorage.removeItem(key)
    sessionStorage.removeItem(keys.token)
    writeHeld(held)
    sessionStorage.setItem(keys.signedIn, '1')
    sessionStorage.removeItem(keys.ended)
    if (!of.locked) sessionStorage.removeItem(keys.locked)
    changed()
  },
  /** The server returned another CSRF token: the cookie was replaced. */
  renewCsrf(csrfToken: string) {
    const held = readHeld()
    if (held && held.csrfToken !== csrfToken) writeHeld({ ...held, csrfToken })
  },
  /**
   * Takes a token from local storage into this tab, if the tab has none: on the page to which a
   * gateway returns, as portal.md says. We never write a token there.
   */
  adopt() {
    const kept = session.token() === null ? localStorage.getItem(keys.token) : null
    if (kept !== null) session.open(kept)
  },
  /** Stored so that the portal's frame can be rendered before the server has answered. */
  remember(user: Me) {
    sessionStorage.setItem(keys.user, JSON.stringify(user))
  },
  user(): Me | undefined {
    try {
      return JSON.parse(sessionStorage.getItem(keys.user) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  },
  /** The secret with which the card provider's script links one card. */
  cardSecret: (): string | null => sessionStorage.getItem(keys.cardSecret),
  keepCardSecret(secret: string | null) {
    if (secret === null) sessionStorage.removeItem(keys.cardSecret)
    else sessionStorage.setItem(keys.cardSecret, secret)
  },
  /** Locks this tab until the password is given; the lock view tells the server. */
  lock() {
    ending.keep(session.user()?.id)
    sessionStorage.setItem(keys.locked, 'true')
    changed()
  },
  /** No listener is called: the page is reloaded, and the stored drafts wait for the new page. */
  unlock(token: string, of?: BrowserSession) {
    sessionStorage.setItem(keys.token, token)
    if (of) writeHeld(heldOf(of))
    sessionStorage.setItem(keys.signedIn, '1')
    sessionStorage.removeItem(keys.locked)
  },
  /**
   * `wished`: the customer signed out. Otherwise the session ended by itself, and typed text is
   * stored for them.
   */
  close(wished: boolean) {
    const user = session.user()
    if (wished) sessionStorage.removeItem(draftsKey)
    else ending.keep(user?.id)
    for (const key of Object.values(keys)) sessionStorage.removeItem(key)
    if (!wished) sessionStorage.setItem(keys.ended, user?.email ?? '')
    changed()
  },
  /**
   * The email of the session that ended by itself; empty where it is unknown, null where none did.
   */
  ended: (): string | null => sessionStorage.getItem(keys.ended),
}

export const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useLocked = (): boolean => useSyncExternalStore(subscribe, session.locked)
/** False on a locked screen too, so that it reveals nothing that a customer may see. */
export const useSignedIn = (): boolean =>
  useSyncExternalStore(subscribe, () => session.signedIn() && !session.locked())

/**
 * A path of our own to return to after the sign-in; any other address is replaced by '/'. Browsers
 * leave tabs and line breaks out of an address: behind the first slash may be another.
 */
export const returnPath = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\\s])/.test(next) && !next.startsWith('/login') ? next : '/'
/** The same as the search of another screen before the sign-in, which leads on to it. */
export function onward(next: string | undefined): { next?: string } {
  const path = returnPath(next)
  return path === '/' ? {} : { next: path }
}
