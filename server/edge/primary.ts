/** Sends visitors of a site's other host names to its primary one. */
import { isChallenge } from './challenges.ts'
import type { VisitorRequest } from './http2.ts'
import type { EdgeHttps, Instead } from './https.ts'

/** Browsers cache the redirect this long, seconds, because the owner may choose another name. */
const keptSeconds = 3600

/**
 * The redirect, with the visitor's path, query and port. An authority's question about a name is
 * answered under that name. To HTTPS where the primary name has a certificate, and not where only
 * the other one has.
 *
 * @param proto how the visitor came
 */
export function toPrimary(
  https: EdgeHttps | undefined,
  primary: string,
  target: { readonly host: string; readonly path: string },
  proto: 'http' | 'https',
  request: VisitorRequest,
): Instead | undefined {
  if (isChallenge(target.path)) return undefined
  // Without certificates of its own the edge is behind a proxy that speaks HTTPS for all names.
  let scheme = proto
  let place = /:\d+$/.exec(target.host)?.[0] ?? ''
  if (https) {
    scheme = https.certificates.covers(primary) ? 'https' : 'http'
    // The port in the request belongs to the other scheme.
    if (scheme === 'https' && proto === 'http' && place !== '')
      place = https.port === 443 ? '' : `:${https.port}`
    if (scheme === 'http' && proto === 'https') place = ''
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return {
    // 308 keeps the method and the body (RFC 9110, 15.4.9); older programs know 301 alone.
    status: isRead ? 301 : 308,
    headers: {
      location: `${scheme}://${primary}${place}${target.path}`,
      'cache-control': `max-age=${keptSeconds}`,
      'content-length': 0,
      ...(request.complete ? {} : { connection: 'close' }),
    },
    body: '',
  }
}
