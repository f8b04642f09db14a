/**
 * The customer's private channel. An event is a nudge: what it says is read again from the server, and what was missed while the
 * socket was away is fetched from the stored notifications.
 */
import type Pusher from 'pusher-js'
import { eventNames, listNotifications, type EventName } from '../contract/realtime.ts'
import type { Config } from '../contract/system.ts'
import { callPage } from './api.ts'
import { NotificationCursor } from './notification-cursor.ts'
import { session } from './session.ts'

export interface PortalEvent {
  id: string
  event: EventName
  payload: Record<string, unknown>
  /** False when it was read from the stored notifications after the fact. */
  pushed: boolean
}

const catchUpEveryMs = 60_000
const reconnectAfterMs = 500
const pageSize = 100

const listeners = new Set<(event: PortalEvent) => void>()
export function onPortalEvent(listener: (event: PortalEvent) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

let connected = false
/** Whether the socket is up: screens poll more eagerly when it is not. */
export const realtimeConnected = (): boolean => connected

const isEventName = (name: string): name is EventName => eventNames.some((known) => known === name)

class Channel {
  #cursor = new NotificationCursor()
  #pusher: Pusher | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #catching = false
  #closed = false

  async open(userId: string, at: Config['realtime']) {
    this.#timer = setInterval(() => this.catchUp(), catchUpEveryMs)
    this.catchUp()
    const { default: PusherClient } = await import('pusher-js')
    if (this.#closed) return
    const pusher = new PusherClient(at.key, {
      cluster: '',
      wsHost: at.wsHost,
      wsPort: at.wsPort,
      wssPort: at.wsPort,
      forceTLS: at.forceTLS,
      // Otherwise the browser build may load SockJS from a host that is not ours.
      enabledTransports: ['ws', 'wss'],
      disableStats: true,
      unavailableTimeout: 1500,
      channelAuthorization: {
        endpoint: at.authEndpoint,
        transport: 'ajax',
        headersProvider: () => ({ Authorization: `Bearer ${session.token() ?? ''}` }),
      },
    })
    this.#pusher = pusher
    pusher.connection.bind('state_change', ({ current }: { current: string }) => {
      connected = current === 'connected'
      // Left alone, the library waits 15, 30, 60 s although the server is back after two.
      if (current === 'unavailable') {
        pusher.disconnect()
        setTimeout(() => {
          if (!this.#closed) pusher.connect()
        }, reconnectAfterMs)
      }
    })
    const channel = pusher.subscribe(`private-${userId}`)
    channel.bind('pusher:subscription_succeeded', () => this.catchUp())
    channel.bind_global((name: string, data: unknown) => this.#heard(name, data))
  }

  #heard(name: string, data: unknown) {
    if (name === 'portal.resync') return this.catchUp()
    if (!isEventName(name)) return
    const payload = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
    const id = payload['notificationId']
    // Without an id it cannot be told apart from the stored one: the list tells it instead.
    if (typeof id !== 'string') return this.catchUp()
    if (this.#cursor.hear(id)) this.#tell({ id, event: name, payload, pushed: true })
  }

  #tell(event: PortalEvent) {
    for (const listener of listeners) listener(event)
  }

  /** One at a time; a failure is no matter, the next minute or subscription repeats it. */
  catchUp() {
    if (this.#catching) return
    this.#catching = true
    this.#fetchMissed()
      .catch(() => {})
      .finally(() => {
        this.#catching = false
      })
  }

  async #fetchMissed() {
    if (!session.signedIn() || session.locked()) return
    const after = this.#cursor.after
    const query = { limit: pageSize, ...(after === undefined ? {} : { after }) }
    const { result, next } = await callPage(listNotifications, { query })
    const missed = [...result.data]
    let cursor = next
    while (cursor !== null && after !== undefined) {
      const page = await callPage(listNotifications, { query: { ...query, cursor } })
      missed.push(...page.result.data)
      cursor = page.next
    }
    if (this.#closed) return
    for (const { id, event, payload } of this.#cursor.take(missed)) this.#tell({ id, event, payload, pushed: false })
  }

  close() {
    this.#closed = true
    connected = false
    clearInterval(this.#timer)
    this.#pusher?.disconnect()
  }
}

/** Opens the channel; the answer closes it. */
export function startRealtime(userId: string, at: Config['realtime']): () => void {
  const channel = new Channel()
  // A network that cannot load the library leaves the minute's fetch.
  channel.open(userId, at).catch(() => {})
  return () => channel.close()
}
