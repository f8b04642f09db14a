/**
 * The Pusher protocol, version 7, as far as one private channel needs it. Pure: no socket, no
 * clock.
 */

export interface Place {
  key: string
  wsHost: string
  wsPort: number
  forceTLS: boolean
}

export const addressOf = ({ key, wsHost, wsPort, forceTLS }: Place): string =>
  `${forceTLS ? 'wss' : 'ws'}://${wsHost}:${wsPort}/app/${encodeURIComponent(key)}` +
  '?protocol=7&client=web&version=1'

export type Message =
  | { kind: 'established'; socketId: string; activityMs: number }
  | { kind: 'subscribed' | 'refused'; channel: string }
  | { kind: 'ping' | 'pong' }
  | { kind: 'error'; code: number | undefined }
  | { kind: 'event'; name: string; channel: string; data: unknown }
  | { kind: 'noise' }

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const longestActivityMs = 120_000

/**
 * A message of the server. Its `data` is JSON inside a string, except for errors, where it is JSON
 * itself.
 */
export function read(text: string): Message {
  const { event, channel: to, data: raw } = fieldsOf(parse(text))
  if (typeof event !== 'string') return { kind: 'noise' }
  const data = typeof raw === 'string' ? (parse(raw) ?? raw) : raw
  const fields = fieldsOf(data)
  const channel = typeof to === 'string' ? to : ''
  switch (event) {
    case 'pusher:connection_established': {
      const { socket_id: socketId, activity_timeout: seconds } = fields
      if (typeof socketId !== 'string') return { kind: 'noise' }
      const activityMs =
        typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : longestActivityMs
      return { kind: 'established', socketId, activityMs: Math.min(activityMs, longestActivityMs) }
    }
    case 'pusher_internal:subscription_succeeded':
      return { kind: 'subscribed', channel }
    case 'pusher:subscription_error':
      return { kind: 'refused', channel }
    case 'pusher:ping':
      return { kind: 'ping' }
    case 'pusher:pong':
      return { kind: 'pong' }
    case 'pusher:error':
      return {
        kind: 'error',
        code: typeof fields['code'] === 'number' ? fields['code'] : undefined,
      }
    default:
      return event.startsWith('pusher:') || event.startsWith('pusher_internal:')
        ? { kind: 'noise' }
        : { kind: 'event', name: event, channel, data }
  }
}

const say = (event: string, data: object): string => JSON.stringify({ event, data })
export const pingFrame = say('pusher:ping', {})
export const pongFrame = say('pusher:pong', {})
export const subscribeFrame = (channel: string, auth: string): string =>
  say('pusher:subscribe', { channel, auth })

/**
 * How to react to a close code: 4000 to 4099 never reconnect, 4200 to 4299 reconnect at once, all
 * others after a delay.
 */
export function afterClose(code: number): 'never' | 'later' | 'now' {
  if (code >= 4000 && code <= 4099) return 'never'
  return code >= 4200 && code <= 4299 ? 'now' : 'later'
}

const firstGapMs = 500
const longestGapMs = 10_000

/**
 * The delay before the next attempt: it doubles up to 10 s, less a random share of up to a half, so
 * that many clients do not reconnect at the same time.
 */
export const gapMs = (failures: number, chance = Math.random()): number =>
  Math.min(longestGapMs, firstGapMs * 2 ** Math.min(failures, 10)) * (1 - chance / 2)
