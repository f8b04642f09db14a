/**
 * The signed-in state of this tab. Everything that grants access lives in session storage under the
 * names that portal.md gives, and nowhere else.
 */
import { useSyncExternalStore } from 'react'
import type { Me } from '../contract/auth.ts'

const keys = {
  token: 'accessToken',
  signedIn: 'isLogin',
  user: 'user',
  locked: 'isLockScreen',
  cardSecret: 'client_secret',
  /** Whose session ended by itself, for the sign-in that follows. */
  ended: 'ended',
} as const
/** Where drafts.ts puts aside what is typed. */
export const draftsKey = 'drafts'
/** Set by drafts.ts once a form was on the screen: puts aside what is typed there. */
export const ending = { keep: (_account: string | undefined) => {} }
const listeners = new Set<() => void>()
const changed = () => {
  for (const listener of listeners) listener()
}

export const session = {
  token: (): string | null => sessionStorage.getItem(keys.token),
  signedIn: (): boolean =>
    sessionStorage.getItem(keys.signedIn) === '1' && sessionStorage.getItem(keys.token) !== null,
  locked: (): boolean => sessionStorage.getItem(keys.locked) === 'true',

  open(token: string) {
    session.unlock(token)
    changed()
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
  unlock(token: string) {
    sessionStorage.setItem(keys.token, token)
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

const subscribe = (listener: () => void) => {
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
