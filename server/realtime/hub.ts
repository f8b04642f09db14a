/**
 * Subscriptions of connections to channels, and the messages of the Pusher protocol (version 7). No
 * network here: a connection is anything that can send and close.
 */
import { randomInt } from 'node:crypto'

export interface Connection {
  send(text: string): void
  close(code: number, reason: string): void
  /** Bytes accepted but not yet sent. */
  readonly bufferedAmount: number
}

/**
 * Close codes of the protocol: 4000-4099 do not come back, 4100-4199 come back later, 4200-4299
 * come back at once.
 */
export const closeCodes = {
  unknownApp: 4001,
  unknownPath: 4005,
  badVersion: 4006,
  unauthorised: 4009,
  unsupportedVersion: 4007,
  noVersion: 4008,
  overCapacity: 4100,
  restart: 4200,
  silent: 4201,
} as const

export interface Member {
  readonly socketId: string
  readonly connection: Connection
  readonly channels: Set<string>
  lastReceivedAt: number
  pinged: boolean
}

/** A slow reader is disconnected rather than buffered; it reconnects and reads what it missed. */
const maxBufferedBytes = 1 << 20
const maxChannels = 10

export const frame = (event: string, data: unknown, channel?: string): string =>
  JSON.stringify({
    event,
    ...(channel !== undefined && { channel }),
    data: typeof data === 'string' ? data : JSON.stringify(data),
  })

export const protocolError = (code: number, message: string): string =>
  JSON.stringify({ event: 'pusher:error', data: { code, message } })

export interface Hub {
  join(connection: Connection, now: number): Member
  leave(member: Member): void
  subscribe(member: Member, channel: string): boolean
  unsubscribe(member: Member, channel: string): void
  /** Delivers to all members of a channel; answers how many. */
  publish(channel: string, event: string, data: unknown): number
  publishToAll(event: string, data: unknown): void
  members(): Iterable<Member>
  readonly size: number
}

export function createHub(): Hub {
  const members = new Set<Member>()
  const channels = new Map<string, Set<Member>>()

  const deliver = (member: Member, text: string): void => {
    if (member.connection.bufferedAmount > maxBufferedBytes)
      member.connection.close(closeCodes.overCapacity, 'slow consumer')
    else member.connection.send(text)
  }
  const unsubscribe = (member: Member, channel: string): void => {
    const set = channels.get(channel)
    set?.delete(member)
    if (set?.size === 0) channels.delete(channel)
    member.channels.delete(channel)
  }

  return {
    join(connection, now) {
      const member: Member = {
        socketId: `${randomInt(1, 2 ** 31)}.${randomInt(1, 2 ** 31)}`,
        connection,
        channels: new Set(),
        lastReceivedAt: now,
        pinged: false,
      }
      members.add(member)
      return member
    },
    leave(member) {
      for (const channel of member.channels) unsubscribe(member, channel)
      members.delete(member)
    },
    subscribe(member, channel) {
      if (member.channels.size >= maxChannels) return false
      let set = channels.get(channel)
      if (!set) channels.set(channel, (set = new Set()))
      set.add(member)
      member.channels.add(channel)
      return true
    },
    unsubscribe,
    publish(channel, event, data) {
      const set = channels.get(channel)
      if (!set) return 0
      const text = frame(event, data, channel)
      for (const member of set) deliver(member, text)
      return set.size
    },
    publishToAll(event, data) {
      for (const [channel, set] of channels) {
        const text = frame(event, data, channel)
        for (const member of set) deliver(member, text)
      }
    },
    members: () => members,
    get size() {
      return members.size
    },
  }
}
