/** Who asks the edge, and for what. */
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
