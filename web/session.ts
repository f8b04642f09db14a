/**
 * The signed-in state of this tab. What grants access is the token in session storage, under the
 * names that portal.md gives, and the cookie that holds the session for every tab and that no
 * script can read (contract.md section 8). A tab that did not sign in itself has no token.
 */
import { useSyncExternalStore } from 'react'
import type { Me } from '../contract/auth.ts'
import type { BrowserSession } from '../contract/session.ts'

const keys = {
  token: 'accessToken',
  /** The session's name and CSRF token, which grant nothing without its cookie. */
  held: 'session',
  signedIn: 'isLogin',
  user: 'user',
  locked: 'isLockScreen',
  cardSecret: 'client_secret',
  /** Whose session ended by itself, for the sign-in that follows. */
  ended: 'ended',
  /**
   * A member of the staff sees the portal as its customer does, and changes nothing; or somebody
   * works in the account of another.
   */
  view: 'view',
  /** What may be done there: commas between (may.ts). */
  may: 'may',
} as const
/** What is one customer's. */
const ofCustomer = [keys.user, keys.cardSecret]
/** Where drafts.ts puts aside what is typed. */
export const draftsKey = 'drafts'
/**
 * Set by drafts.ts once a form was on the screen: puts aside what is typed there. Undefined: of a
 * visitor, if nobody is signed in.
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
  /** What a call of this tab carries; null for a visitor's. Another one is another session. */
  credential: (): string | null => session.token() ?? readHeld()?.csrfToken ?? null,
  signedIn: (): boolean =>
    sessionStorage.getItem(keys.signedIn) === '1' && session.credential() !== null,
  locked: (): boolean => sessionStorage.getItem(keys.locked) === 'true',
  /** What the bar of a view tells, as JSON; null in every customer's own tab. */
  view: (): string | null => sessionStorage.getItem(keys.view),

  /** Whoever signs in begins without what is kept here of the customer before. */
  open(token: string, of?: BrowserSession) {
    for (const key of ofCustomer) sessionStorage.removeItem(key)
    session.unlock(token, of)
    changed()
  },
  /**
   * Takes the session that the cookie holds into use in this tab, whose own token, if it had one,
   * is dead. What is kept here of another session's customer goes.
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
  /** The server told another CSRF token: the cookie was replaced. */
  renewCsrf(csrfToken: string) {
    const held = readHeld()
    if (held && held.csrfToken !== csrfToken) writeHeld({ ...held, csrfToken })
  },
  /**
   * Takes a token that stands in local storage into use in this tab, which has none: on the page
   * that a gateway leads back to, as portal.md has it. We write none there.
   */
  adopt() {
    const kept = session.token() === null ? localStorage.getItem(keys.token) : null
    if (kept !== null) session.open(kept)
  },
  /** Kept so that the frame of the portal can be drawn before the server has answered. */
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
  /** With it the card provider's script links one card. */
  cardSecret: (): string | null => sessionStorage.getItem(keys.cardSecret),
  keepCardSecret(secret: string | null) {
    if (secret === null) sessionStorage.removeItem(keys.cardSecret)
    else sessionStorage.setItem(keys.cardSecret, secret)
  },
  /** Until the password is given; the lock view tells the server. */
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
   * `wished`: the customer signs out; otherwise the session ended by itself, and what is typed
   * waits for them.
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
   * The email of the session that ended by itself; empty where it is not known, null where none
   * did.
   */
  ended: (): string | null => sessionStorage.getItem(keys.ended),
}

export const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
export const useLocked = (): boolean => useSyncExternalStore(subscribe, session.locked)
/** A locked screen tells nobody what a customer may see. */
export const useSignedIn = (): boolean =>
  useSyncExternalStore(subscribe, () => session.signedIn() && !session.locked())

/**
 * A path of our own to return to after signing in; anything that could lead elsewhere is dropped.
 */
export const returnPath = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\])/.test(next) && !next.startsWith('/login') ? next : '/'
