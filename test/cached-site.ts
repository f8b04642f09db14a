/** A site that reports what its pages have read, behind an edge that caches them. */
import http from 'node:http'
import { onTestFinished } from 'vitest'
import { createPageCache, type PageCache } from '../server/edge/index.ts'
import { openTestEdge, running, visitsOf, type TestEdge } from './edge-visits.ts'

export const host = 'shop.example.vn'
/** A body long enough to be compressed. */
export const long = 'Xin chào các bạn! '.repeat(400)

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown
export interface Page {
  readonly status?: number
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string
  readonly tags?: string
  readonly options?: string
  readonly seconds?: number
}

/** Answers like the runtime: marked, and with tags in the trailers. */
export function page(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { status = 200, headers = {}, body = 'page', tags = 'a', options = 'o', seconds = 0 }: Page = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    ...(request.headers['x-portal-page'] !== undefined && { 'x-portal-page': '1' }),
    'transfer-encoding': 'chunked',
    ...headers,
  })
  response.write(body)
  if (request.headers['x-portal-page'] !== undefined)
    response.addTrailers({
      'x-portal-tags': tags,
      'x-portal-options': options,
      'x-portal-seconds': String(seconds),
    })
  response.end()
}

/** An edge with a cache of a few megabytes, closed after the test. */
export async function openKeepingEdge(): Promise<{ edge: TestEdge; cache: PageCache }> {
  const cache = createPageCache({ totalBytes: 4e6, siteBytes: 2e6, waitMs: 5_000 })
  const edge = await openTestEdge({ cache, answerMs: 5_000 })
  onTestFinished(() => edge.edge.close())
  return { edge, cache }
}

/** The site, and its visitors. The edge must be open when they visit. */
export function cachedSiteOf(edge: () => TestEdge) {
  const closers: (() => unknown)[] = []
  // Keep-alive, as browsers use it, so that the edge answers on its fast path.
  const { upstream, ask } = visitsOf(() => edge().port, closers, { connection: 'keep-alive' })
  /** A site whose requests are counted. */
  async function site(handler: Handler): Promise<http.IncomingMessage[]> {
    onTestFinished(async () => {
      for (const close of closers.splice(0)) await close()
    })
    const seen: http.IncomingMessage[] = []
    const { port } = await upstream((request, response) => {
      seen.push(request)
      return handler(request, response)
    })
    edge().sites.set(host, running({ host: '127.0.0.1', port }))
    return seen
  }
  const xCache = async (target = '/', options: http.RequestOptions = {}): Promise<string> =>
    String((await ask(host, target, options)).headers['x-cache'])

  return { site, ask, xCache }
}
