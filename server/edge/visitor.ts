/** Who asks the edge, and for what. */
import { isIP } from 'node:net'
import { isHttp2, type VisitorRequest } from './http2.ts'

export interface Visitor {
  readonly client: string
  /** By performance.now(). */
  readonly began: number
}

/**
 * Where the request wants to go: the Host header, or an absolute request line. Null when it says
 * neither.
 */
export function targetOf(
  request: VisitorRequest,
): { readonly host: string; readonly path: string } | null {
  const url = request.url ?? ''
  const host = isHttp2(request) ? request.authority : request.headers.host
  if (url.startsWith('/')) return host ? { host, path: url } : null
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return null
  const { host: named, pathname, search } = new URL(url)
  return { host: named, path: pathname + search }
}

/** The address that counts for whoever asks; of a proxy that is believed, its last word. */
export function clientOf({ socket, headers }: VisitorRequest, trustProxy: boolean): string {
  const forwardedFor = trustProxy ? headers['x-forwarded-for'] : undefined
  const last =
    (typeof forwardedFor === 'string' ? forwardedFor : (forwardedFor?.at(-1) ?? ''))
      .split(',')
      .at(-1)
      ?.trim() ?? ''
  return (isIP(last) === 0 ? (socket.remoteAddress ?? '') : last).replace(/^::ffff:(?=\d+\.)/, '')
}
