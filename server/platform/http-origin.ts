/** Refuses cross-site requests: calls that a visitor's browser makes for another site's page. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '../../contract/index.ts'
import { Refusal } from './errors.ts'

/**
 * Refuses with forbidden what a browser says another site asked for (Fetch Metadata, W3C). Programs
 * send no such header. A public file may be opened from a link in a mail on the web: its address
 * carries its own ticket, and to open a page is not to read it.
 */
export function refuseCrossSite(endpoint: Endpoint, headers: IncomingHttpHeaders): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return
  const opensFile =
    endpoint.method === 'GET' &&
    endpoint.access === 'public' &&
    endpoint.files !== undefined &&
    headers['sec-fetch-mode'] === 'navigate'
  if (!opensFile) throw new Refusal('forbidden')
}

/**
 * Refuses with forbidden a call that a cookie holds and another host of our domain asked for: a
 * customer's site may be such a neighbour, and SameSite lets it have the cookie sent.
 */
export function refuseNeighbour(headers: IncomingHttpHeaders): void {
  if (headers['sec-fetch-site'] === 'same-site') throw new Refusal('forbidden')
}
