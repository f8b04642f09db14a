/**
 * Signatures of the Pusher protocol: channel authorisation and the HTTP API
 * (pusher.com/docs/channels, "Auth signatures").
 */
import { createHash, createHmac } from 'node:crypto'
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

/** How far a request's clock may be from ours, seconds. */
const toleranceSeconds = 600

/**
 * Undefined when a call to the HTTP API is the key holder's own; otherwise why not. `nowSeconds` is
 * unix time.
 */
export function apiFault(
  app: AppKey,
  request: { method: string; path: string; query: URLSearchParams; body: Buffer },
  nowSeconds: number,
): string | undefined {
  const { query } = request
  if (query.get('auth_key') !== app.key) return 'unknown auth_key'
  if (query.get('auth_version') !== '1.0') return 'unsupported auth_version'
  const age = Math.abs(nowSeconds - Number(query.get('auth_timestamp')))
  if (!(age <= toleranceSeconds)) return 'timestamp expired'
  if (request.body.length > 0 || query.has('body_md5')) {
    if (createHash('md5').update(request.body).digest('hex') !== query.get('body_md5'))
      return 'body_md5 does not match'
  }
  const signed = [...query]
    .filter(([name]) => name !== 'auth_signature')
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const expected = hmac(app.secret, `${request.method}\n${request.path}\n${signed}`)
  return same(expected, query.get('auth_signature') ?? '') ? undefined : 'invalid signature'
}
