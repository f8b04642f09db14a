/**
 * The channel's connection, in a chunk that is loaded after the page, so that nothing waits for it.
 */
import { eventNames, type EventName } from '../../contract/events.ts'
import { listNotifications } from '../../contract/realtime.ts'
import type { Config } from '../../contract/system.ts'
import { callPage, signed } from '../api.ts'
import { session } from '../session.ts'
import { NotificationCursor } from './notification-cursor.ts'
import type { PortalEvent } from './portal-event.ts'
import { ChannelSocket, Refused } from './socket.ts'

const catchUpEveryMs = 60_000
const pageSize = 100

const isEventName = (name: string): name is EventName => eventNames.some((known) => known === name)

/**
 * The portal's authorisation of this socket for this channel. The answer has Pusher's own form,
 * without our envelope.
 */
async function authorise(endpoint: string, socketId: string, channel: string): Promise<string> {
  const { response } = await signed('POST', (headers) =>
    fetch(endpoint, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ socket_id: socketId, channel_name: channel }),
    }),
  )
  if (response.status === 401 || response.status === 403) throw new Refused()
  if (!response.ok) throw new Error(`channel authorisation: ${response.status}`)
  return ((await response.json()) as { auth: string }).auth
}

interface Listener {
  /** Undefined: anything may have happened before the connection began to listen. */
  onEvent: (event: PortalEvent | undefined) => void
  onConnected: (up: boolean) => void
}

/**
 * Longer than a page takes to open on any connection, ms. With a browser clock that is slow, every
 * event counts as recent, which only causes more refetches.
 */
const recentMs = 300_000

export class Channel {
  readonly #listener: Listener
  #cursor = new NotificationCursor()
  #socket: ChannelSocket | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #catching = false
  #again = false
  #closed = false

  constructor(listener: Listener) {
    this.#listener = listener
  }

  open(userId: string, at: Config['realtime']) {
    // A failed connection is shown in a toast, so its code is loaded before the connection can
    // fail.
    void import('../ui/Toaster.tsx').catch(() => {})
    this.#timer = setInterval(() => this.catchUp(), catchUpEveryMs)
    this.catchUp()
    // The channel belongs to the customer's own tabs; a view only polls once a minute.
    if (session.view() !== null) return
    this.#socket = new ChannelSocket({
      at,
      channel: `private-${userId}`,
      authorise: (socketId, channel) => authorise(at.authEndpoint, socketId, channel),
      onSubscribed: () => this.catchUp(),
      onEvent: (name, data) => this.#heard(name, data),
      onConnected: (up) => this.#listener.onConnected(up),
      // If the session was ended elsewhere, this call's refusal leads to the sign-in.
      onEnded: () => this.catchUp(),
    })
  }

  #heard(name: string, data: unknown) {
    if (name === 'portal.resync') return this.catchUp()
    if (!isEventName(name)) return
    const payload = (typeof data === 'object' && data !== null ? data : {}) as Record<
      string,
      unknown
    >
    const id = payload['notificationId']
    // Without an id it cannot be matched with the stored event, so the stored list is read instead.
    if (typeof id !== 'string') return this.catchUp()
    if (this.#cursor.markSeen(id)) this.#tell({ id, event: name, payload, pushed: true })
  }

  #tell(event: PortalEvent | undefined) {
    this.#listener.onEvent(event)
  }

  /** Runs one at a time. A failure does no harm: the next minute or subscription repeats it. */
  catchUp() {
    // The running read may miss later events, so it is repeated afterwards.
    this.#again = this.#catching
    if (this.#catching) return
    this.#catching = true
    this.#fetchMissed()
      .catch(() => {})
      .finally(() => {
        this.#catching = false
        if (this.#again && !this.#closed) this.catchUp()
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
    // The first list is history. Events between the screen's own reads and this list are in it, but
    // cannot be told from slightly older ones, so recent events cause a refetch.
    const [newest] = result.data
    if (!this.#cursor.primed && newest && Date.now() - Date.parse(newest.createdAt) < recentMs)
      this.#tell(undefined)
    for (const { id, event, payload } of this.#cursor.take(missed))
      this.#tell({ id, event, payload, pushed: false })
  }

  close() {
    this.#closed = true
    this.#listener.onConnected(false)
    clearInterval(this.#timer)
    this.#socket?.close()
  }
}
