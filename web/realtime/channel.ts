/**
 * The customer's private channel. An event is a nudge: what it says is read again from the server, and what was missed while the
 * socket was away is fetched from the stored notifications.
 */
import { eventNames, listNotifications, type EventName } from '../../contract/realtime.ts'
import type { Config } from '../../contract/system.ts'
import { callPage } from '../api.ts'
import { session } from '../session.ts'
import { NotificationCursor } from './notification-cursor.ts'
import { ChannelSocket, Refused } from './socket.ts'

export interface PortalEvent {
  id: string
  event: EventName
  payload: Record<string, unknown>
  /** False when it was read from the stored notifications after the fact. */
  pushed: boolean
}

const catchUpEveryMs = 60_000
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

/** The portal's word that this socket may hear this channel. Pusher's own form, without our envelope. */
async function authorise(endpoint: string, socketId: string, channel: string): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { Authorization: `Bearer ${session.token() ?? ''}` },
    body: new URLSearchParams({ socket_id: socketId, channel_name: channel }),
  })
  if (response.status === 401 || response.status === 403) throw new Refused()
  if (!response.ok) throw new Error(`channel authorisation: ${response.status}`)
  return ((await response.json()) as { auth: string }).auth
}

class Channel {
  #cursor = new NotificationCursor()
  #socket: ChannelSocket | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #catching = false
  #closed = false

  open(userId: string, at: Config['realtime']) {
    this.#timer = setInterval(() => this.catchUp(), catchUpEveryMs)
    this.catchUp()
    this.#socket = new ChannelSocket({
      at,
      channel: `private-${userId}`,
      authorise: (socketId, channel) => authorise(at.authEndpoint, socketId, channel),
      onSubscribed: () => this.catchUp(),
      onEvent: (name, data) => this.#heard(name, data),
      onConnected: (up) => {
        connected = up
      },
    })
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
    this.#socket?.close()
  }
}

/** Opens the channel; the answer closes it. */
export function startRealtime(userId: string, at: Config['realtime']): () => void {
  const channel = new Channel()
  channel.open(userId, at)
  return () => channel.close()
}
