/**
 * HTTP/2 with visitors (RFC 9113): each stream becomes a request and a response in the form that
 * the rest of the edge uses for HTTP/1.
 */
import http from 'node:http'
import http2 from 'node:http2'
import type { Duplex } from 'node:stream'

export type VisitorRequest = http.IncomingMessage | http2.Http2ServerRequest

export interface Http2Door {
  /** Speaks with a visitor whose browser chose h2. */
  enter(socket: Duplex): void
  /** Closes each session gracefully (GOAWAY); resolves when their requests are done. */
  close(): Promise<void>
  /** Destroys every session, with requests in progress. */
  destroy(): void
}

/** The usual limit of browsers and other servers; RFC 9113, 6.5.2 recommends no fewer. */
const streamsAtOnce = 100
/** A connection without a request is closed, as HTTP/1's keepAliveTimeout does. */
const idleMs = 65_000
/** A request has to be whole by then, as HTTP/1's requestTimeout does. */
const requestMs = 600_000

export const isHttp2 = (request: VisitorRequest): request is http2.Http2ServerRequest =>
  request.httpVersionMajor === 2

const forConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/**
 * Headers in node:http2's form: one entry per name. A repeated header becomes a list; Set-Cookie
 * may not be joined (RFC 9110, 5.3).
 */
function asObject(
  headers: http.OutgoingHttpHeaders | readonly (string | number)[],
): http2.OutgoingHttpHeaders {
  const out: Record<string, string | string[]> = {}
  const flat = Array.isArray(headers) ? (headers as readonly string[]) : []
  const pairs = Array.isArray(headers)
    ? flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]] as const] : []))
    : Object.entries(headers)
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase()
    if (value === undefined || forConnection.has(lower)) continue
    const text = String(value)
    const before = out[lower]
    if (before === undefined) out[lower] = text
    else if (lower === 'set-cookie') out[lower] = [before, text].flat()
    else out[lower] = `${String(before)}, ${text}`
  }
  return out
}

/**
 * The response as one of HTTP/1: a reason phrase and headers of the connection are left out, and
 * one that breaks off ends with an error, so that it is not taken for a whole one.
 */
function asHttp1(response: http2.Http2ServerResponse): http.ServerResponse {
  const writeHead = response.writeHead.bind(response)
  type Headers = http.OutgoingHttpHeaders | readonly (string | number)[]
  return Object.assign(response as unknown as http.ServerResponse, {
    writeHead(status: number, ...rest: readonly (string | Headers | undefined)[]) {
      const headers = rest.find((one) => typeof one === 'object')
      writeHead(status, asObject(headers ?? {}))
      return response
    },
    destroy() {
      response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
      return response
    },
  })
}

export function createHttp2Door(
  visit: (request: http2.Http2ServerRequest, response: http.ServerResponse) => void,
  limits = { idleMs, requestMs },
): Http2Door {
  const sessions = new Set<http2.ServerHttp2Session>()
  const server = http2.createServer({
    settings: { maxConcurrentStreams: streamsAtOnce, enablePush: false },
    // Megabytes per connection; above it the connection gets no new stream.
    maxSessionMemory: 10,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 50,
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.setTimeout(limits.idleMs, () => session.close())
  })
  // A faulty connection ends; others go on.
  server.on('sessionError', (_error, session) => session.destroy())
  server.on('request', (request, response) => {
    // A request without a body is whole with its headers; how long its response takes is no matter.
    if (!request.stream.endAfterHeaders) {
      const timer = setTimeout(
        () => request.stream.close(http2.constants.NGHTTP2_CANCEL),
        limits.requestMs,
      )
      request.once('end', () => clearTimeout(timer))
      response.once('close', () => clearTimeout(timer))
    }
    visit(request, asHttp1(response))
  })
  return {
    enter: (socket) => void server.emit('connection', socket),
    async close() {
      const gone = [...sessions].map(
        (session) => new Promise((resolve) => session.once('close', resolve)),
      )
      for (const session of sessions) session.close()
      await Promise.all(gone)
    },
    destroy() {
      for (const session of sessions) session.destroy()
    },
  }
}
