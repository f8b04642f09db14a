/**
 * Channel authorisation of the Pusher protocol (pusher.com/docs/channels, "Auth signatures"). Its
 * HTTP API for publishing is not served: the portal publishes by itself.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../platform/constant-time.ts'

export interface AppKey {
  readonly id: string
  readonly key: string
  readonly secret: string
}

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex')

/** `key:signature` over `socket_id:channel`. */
export const channelAuth = (app: AppKey, socketId: string, channel: string): string =>
  `${app.key}:${hmac(app.secret, `${socketId}:${channel}`)}`

export const channelAuthHolds = (
  app: AppKey,
  socketId: string,
  channel: string,
  given: string,
): boolean => sameText(channelAuth(app, socketId, channel), given)
