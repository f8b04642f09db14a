// A line of a site's log, in its containers' format, about a visitor who got no complete response
// from the site.
import type { VisitorRequest } from './http2.ts'

/** nginx's status for a visitor who left before there was a response; it is never sent. */
export const visitorLeft = 499

/** The response that the edge gave in the site's place. */
export interface Given {
  readonly status: number
  readonly bytes: number | null
  readonly tookMs: number
  readonly why: string
}

/**
 * `<client> "<method> <target>" <status> <bytes of the body, - when unknown> <time>ms "<user
 * agent>" (<why>)`
 */
export function accessLine(request: VisitorRequest, client: string, answer: Given): string {
  const { status, bytes, tookMs, why } = answer
  return (
    `${client} "${request.method} ${request.url}" ${status} ${bytes ?? '-'} ` +
    `${Math.round(tookMs)}ms "${request.headers['user-agent'] ?? ''}" (${why})`
  )
}
