/** The channel's connection, in a chunk that is loaded after the page: nothing waits for it. */
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
 * The portal's authorisation of this socket for this channel. Pusher's own form, without our
 * envelope.
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
  /** Undefined: anything may have happened before this was listened for. */
  onEvent: (event: PortalEvent | undefined) => void
  onConnected: (up: boolean) => void
}

/**
 * Longer than a page takes to open, on any line. A browser whose clock is behind takes all for
 * recent, and only reads more.
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
    // A failed connection is told in a toast: its code has to be there before the connection is
    // gone.
    void import('../ui/Toaster.tsx').catch(() => {})
    this.#timer = setInterval(() => this.catchUp(), catchUpEveryMs)
    this.catchUp()
    // Its channel is the customer's own: whoever only looks asks once a minute.
    if (session.view() !== null) return
    this.#socket = new ChannelSocket({
      at,
      channel: `private-${userId}`,
      authorise: (socketId, channel) => authorise(at.authEndpoint, socketId, channel),
      onSubscribed: () => this.catchUp(),
      onEvent: (name, data) => this.#heard(name, data),
      onConnected: (up) => this.#listener.onConnected(up),
      // Where the session was ended elsewhere, the answer leads to the sign-in.
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
    // Without an id it cannot be told apart from the stored one: the list tells it instead.
    if (typeof id !== 'string') return this.catchUp()
    if (this.#cursor.markSeen(id)) this.#tell({ id, event: name, payload, pushed: true })
  }

  #tell(event: PortalEvent | undefined) {
    this.#listener.onEvent(event)
  }

  /** One at a time; a failure is no matter, the next minute or subscription repeats it. */
  catchUp() {
    // The list under way may have been made before what is asked after now.
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
    // The first list is history. What happened between the screen's own reads and this list is in
    // it, and cannot be told from what is a little older.
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
