/**
 * Channel authorisation of the Pusher protocol (pusher.com/docs/channels, "Auth signatures"). Its
 * HTTP API for publishing is not served: the portal publishes by itself.
 */
import { createHmac } from 'node:crypto'
import { sameBytes } from '../platform/secrets.ts'

export interface AppKey {
  readonly id: string
  readonly key: string
  readonly secret: string
}

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex')
const same = (a: string, b: string): boolean => sameBytes(Buffer.from(a), Buffer.from(b))

/** `key:signature` over `socket_id:channel`. */
export const channelAuth = (app: AppKey, socketId: string, channel: string): string =>
  `${app.key}:${hmac(app.secret, `${socketId}:${channel}`)}`

export const channelAuthHolds = (
  app: AppKey,
  socketId: string,
  channel: string,
  given: string,
): boolean => same(channelAuth(app, socketId, channel), given)
