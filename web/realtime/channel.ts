/**
 * The customer's private channel. An event only triggers a refetch: its subject is read again from
 * the server, and events missed while the socket was down are fetched from the stored
 * notifications.
 */
import type { Config } from '../../contract/system.ts'
import type { PortalEvent } from './portal-event.ts'

/**
 * Called with undefined once, when the channel opens: anything may have happened since the screen
 * was read.
 */
type Listener = (event: PortalEvent | undefined) => void
const listeners = new Set<Listener>()
export function onPortalEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

let connected = false
/** Whether the socket is up: screens poll more eagerly when it is not. */
export const realtimeConnected = (): boolean => connected

/**
 * Opens the channel; the returned function closes it. `loadFirst` loads the event handler before
 * the screens listen. A file that does not load is tried again, because the portal works without
 * it.
 */
export function startRealtime(
  userId: string,
  at: Config['realtime'],
  loadFirst = async (): Promise<Listener> => () => {},
): () => void {
  let close: (() => void) | undefined
  let closed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const begin = () =>
    Promise.all([import('./connection.ts'), loadFirst()]).then(
      ([{ Channel }, first]) => {
        if (closed) return
        const channel = new Channel({
          onEvent: (event) => {
            first(event)
            for (const listener of listeners) listener(event)
          },
          onConnected: (up) => {
            connected = up
          },
        })
        channel.open(userId, at)
        close = () => channel.close()
      },
      () => {
        if (!closed) timer = setTimeout(() => void begin(), retryMs)
      },
    )
  void begin()
  return () => {
    closed = true
    clearTimeout(timer)
    close?.()
  }
}
const retryMs = 10_000
