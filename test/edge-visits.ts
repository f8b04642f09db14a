/** An edge with sites that a test defines, the servers that answer for them, and a visitor. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEdge, type Edge, type EdgeParts, type EdgeSite } from '../server/edge/index.ts'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

export interface TestEdge {
  readonly edge: Edge
  readonly port: number
  /** By host; every other host is unknown. */
  readonly sites: Map<string, EdgeSite>
  /** Warnings that it logged. */
  readonly warnings: string[]
  /** `site: line` of the sites' own logs. */
  readonly notes: string[]
}

/** `other`: parts that this test replaces. */
export async function openTestEdge(other: Partial<EdgeParts> = {}): Promise<TestEdge> {
  const sites = new Map<string, EdgeSite>()
  const warnings: string[] = []
  const notes: string[] = []
  const edge = createEdge({
    resolve: (host) => sites.get(host) ?? { id: null, state: 'unknown', addresses: [] },
    port: 0,
    host: '127.0.0.1',
    answerMs: 1_000,
    log: { warn: (_detail, message) => void warnings.push(message) },
    note: (site, line) => void notes.push(`${site}: ${line}`),
    ...other,
  })
  return { edge, port: await edge.listen(), sites, warnings, notes }
}

export const running = (...addresses: EdgeSite['addresses']): EdgeSite => ({
  id: 'site',
  state: 'running',
  addresses,
})

/**
 * Servers of sites, and visitors of the edge at `port`; what must be closed after the test is added
 * to `closers`.
 * @param usual headers that every visitor sends
 */
export function visitsOf(
  port: () => number,
  closers: (() => unknown)[],
  usual: http.OutgoingHttpHeaders = {},
) {
  const upstream = async (
    handler: (request: http.IncomingMessage, response: http.ServerResponse) => unknown,
  ): Promise<{ host: string; port: number; server: http.Server }> => {
    const server = http.createServer((request, response) => void handler(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, server }
  }
  const ask = (
    host: string,
    target = '/',
    options: http.RequestOptions & { body?: string | Buffer } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        {
          port: port(),
          host: '127.0.0.1',
          path: target,
          agent: false,
          ...options,
          headers: { host, ...usual, ...(options.headers as object) },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          )
        },
      )
      request.on('error', reject)
      request.end(options.body)
    })

  return { upstream, ask }
}
