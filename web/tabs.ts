/**
 * Messages between the tabs of one browser about their shared session. A message only makes a tab
 * check: who is signed in is decided by the server.
 */
import { session } from './session.ts'

/** `id`: the session's. `active`: somebody uses one of its tabs. */
export interface News {
  readonly kind: 'in' | 'out' | 'locked' | 'unlocked' | 'active'
  readonly id: string
}

const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel('session') : undefined

/** Tells every other tab. A session that no cookie holds is not announced. */
export function tellTabs(kind: News['kind'], of: { readonly id: string } | undefined): void {
  if (of) channel?.postMessage({ kind, id: of.id } satisfies News)
}

/** Listens to the other tabs until the returned function is called. */
export function onNews(listener: (news: News) => void): () => void {
  const hear = ({ data }: MessageEvent<News>) => listener(data)
  channel?.addEventListener('message', hear)
  return () => channel?.removeEventListener('message', hear)
}

/** Locks this tab and the others that share its session. */
export function lockEverywhere(): void {
  session.lock()
  tellTabs('locked', session.held())
}

/**
 * The session that was signed out of here and may not have ended on the server yet, for example
 * without a connection.
 */
const leavingKey = 'signedOut'
export function leaving(): string | null {
  try {
    return localStorage.getItem(leavingKey)
  } catch {
    return null
  }
}
/**
 * Scripts cannot delete the cookie: until the server has ended this session, no tab uses it.
 * Undefined: it has ended.
 */
export function noteLeaving(id: string | undefined): void {
  try {
    if (id === undefined) localStorage.removeItem(leavingKey)
    else localStorage.setItem(leavingKey, id)
  } catch {
    // Storage may be blocked; then signing out needs a connection.
  }
}
