/**
 * Keeps one private channel open: connects, subscribes, detects a silent connection, reconnects.
 */
import {
  addressOf,
  afterClose,
  gapMs,
  pingFrame,
  pongFrame,
  read,
  subscribeFrame,
  type Place,
} from './protocol.ts'

/** The server refuses this channel; asking again with the same token is useless. */
export class Refused extends Error {}

export interface SocketOptions {
  at: Place
  channel: string
  /** Returns the signature for this socket; throws `Refused` where the server gives none. */
  authorise: (socketId: string, channel: string) => Promise<string>
  onSubscribed: () => void
  onEvent: (name: string, data: unknown) => void
  onConnected: (connected: boolean) => void
  /** The server said never to reconnect. */
  onEnded: () => void
}

const handshakeTimeoutMs = 10_000
const pongMs = 10_000

export class ChannelSocket {
  #options: SocketOptions
  #socket: WebSocket | undefined
  /** The timer of the present state: the handshake, the silence, a pong, or the next attempt. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #activityMs = 0
  #over = false

  constructor(options: SocketOptions) {
    this.#options = options
    globalThis.addEventListener?.('online', this.#online)
    globalThis.addEventListener?.('offline', this.#offline)
    this.#connect()
  }

  close() {
    this.#over = true
    globalThis.removeEventListener?.('online', this.#online)
    globalThis.removeEventListener?.('offline', this.#offline)
    this.#leave()
  }

  #connect() {
    const socket = new WebSocket(addressOf(this.#options.at))
    let errorCode: number | undefined
    this.#socket = socket
    this.#wait(handshakeTimeoutMs, () => this.#lost(1006))
    socket.onmessage = ({ data }) => {
      if (this.#socket !== socket || typeof data !== 'string') return
      const message = read(data)
      if (message.kind === 'error') errorCode = message.code
      else this.#hear(socket, message)
    }
    // A proxy may drop the close code; the error message before it had the same code.
    socket.onclose = ({ code }) => {
      if (this.#socket === socket) this.#lost(code >= 4000 ? code : (errorCode ?? code))
    }
  }

  #hear(socket: WebSocket, message: ReturnType<typeof read>) {
    if (message.kind === 'established') {
      this.#activityMs = message.activityMs
      void this.#subscribe(socket, message.socketId)
    }
    if (this.#activityMs > 0) this.#rest()
    if (message.kind === 'ping') socket.send(pongFrame)
    const { channel } = this.#options
    if (message.kind === 'subscribed' && message.channel === channel) {
      this.#failures = 0
      this.#options.onConnected(true)
      this.#options.onSubscribed()
    }
    if (message.kind === 'refused' && message.channel === channel) this.#lost(4009)
    if (message.kind === 'event' && message.channel === channel)
      this.#options.onEvent(message.name, message.data)
  }

  async #subscribe(socket: WebSocket, socketId: string) {
    const { authorise, channel } = this.#options
    try {
      const auth = await authorise(socketId, channel)
      if (this.#socket === socket && socket.readyState === WebSocket.OPEN)
        socket.send(subscribeFrame(channel, auth))
    } catch (error) {
      if (this.#socket === socket) this.#lost(error instanceof Refused ? 4009 : 1006)
    }
  }

  /**
   * The connection may be silent for the time that the server announced. Then a ping is sent, and
   * without a pong the connection is closed.
   */
  #rest() {
    this.#wait(this.#activityMs, () => this.#ask())
  }
  #ask() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    this.#socket.send(pingFrame)
    this.#wait(pongMs, () => this.#lost(4201))
  }

  #lost(code: number) {
    const subscribed = this.#failures === 0
    this.#leave()
    if (this.#over) return
    const next = afterClose(code)
    if (next === 'never') {
      this.close()
      this.#options.onEnded()
      return
    }
    // At once, but not repeatedly while the server is still restarting.
    const gap = next === 'now' && subscribed ? 0 : gapMs(this.#failures)
    this.#failures += 1
    this.#wait(gap, () => this.#connect())
  }

  #leave() {
    clearTimeout(this.#timer)
    const socket = this.#socket
    this.#socket = undefined
    this.#activityMs = 0
    socket?.close()
    this.#options.onConnected(false)
  }

  #wait(ms: number, then: () => void) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(then, ms)
  }

  #online = () => {
    if (this.#socket !== undefined) return this.#ask()
    this.#failures = 0
    this.#wait(0, () => this.#connect())
  }
  #offline = () => this.#ask()
}
