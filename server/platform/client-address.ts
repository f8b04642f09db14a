/** The address that counts for whoever asks. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

interface Asking {
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: IncomingHttpHeaders
}

/**
 * The last address in X-Forwarded-For of a trusted proxy: the caller itself may have written the
 * entries further left.
 */
export function clientOf({ socket, headers }: Asking, trustsProxy: boolean): string {
  const forwardedFor = trustsProxy ? headers['x-forwarded-for'] : undefined
  const last =
    (typeof forwardedFor === 'string' ? forwardedFor : (forwardedFor?.at(-1) ?? ''))
      .split(',')
      .at(-1)
      ?.trim() ?? ''
  return (isIP(last) === 0 ? (socket.remoteAddress ?? '') : last).replace(/^::ffff:(?=\d+\.)/, '')
}
