/** A visitor's request: its sender and its target. */
import { isHttp2, type VisitorRequest } from './http2.ts'

export interface Visitor {
  readonly client: string
  /** By performance.now(). */
  readonly began: number
}

/**
 * The request's target: by the Host header, or an absolute request line. Null: neither is there.
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
