/**
 * What the tabs of one browser tell each other of the session that they share. No tab believes more
 * than that it is to look: who is signed in is the server's word.
 */
import { session } from './session.ts'

/** `id`: of the session. `active`: somebody is at one of its tabs. */
export interface News {
  readonly kind: 'in' | 'out' | 'locked' | 'unlocked' | 'active'
  readonly id: string
}

const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel('session') : undefined

/** Tells every other tab. Nobody is told of a session that no cookie holds. */
export function tellTabs(kind: News['kind'], of: { readonly id: string } | undefined): void {
  if (of) channel?.postMessage({ kind, id: of.id } satisfies News)
}

/** Hears the other tabs until the answer is called. */
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

/** The session that was signed out of here and may not have ended yet, as without a connection. */
const leavingKey = 'signedOut'
export function leaving(): string | null {
  try {
    return localStorage.getItem(leavingKey)
  } catch {
    return null
  }
}
/**
 * No script can drop the cookie: until the server has, no tab takes this session into use.
 * Undefined: it has.
 */
export function noteLeaving(id: string | undefined): void {
  try {
    if (id === undefined) localStorage.removeItem(leavingKey)
    else localStorage.setItem(leavingKey, id)
  } catch {
    // Storage may be closed to us: then signing out needs a connection.
  }
}
