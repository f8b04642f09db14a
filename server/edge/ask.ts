/**
 * One request to one upstream, over keep-alive connections where it may be retried. It uses
 * undici's dispatcher with a handler of our own: no object per request and no stream between the
 * two sockets, which takes half the CPU of `node:http`'s client.
 */
import { isIP } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { Agent, buildConnector, Client, type Dispatcher } from 'undici'
import { marksOf, toUpstream, toVisitor, withoutOurs, type Visit } from './headers.ts'
import type { VisitorRequest } from './http2.ts'
import { withinSite } from './shared-domain.ts'
import type { Sink } from './sink.ts'
import type { EdgeAddress } from './upstreams.ts'

/** How long the rest of a request body is read after its response. */
const lingerMs = 30_000

export interface UpstreamRequest {
  readonly address: EdgeAddress
  readonly path: string
  readonly visit: Visit
  readonly hasBody: boolean
  /** Replaces the visitor's own headers. */
  readonly headers: readonly string[] | null
  /**
   * False: it gets a connection of its own, because the other end may close a kept one just as the
   * request is written.
   */
  readonly kept: boolean
}
/**
 * How an attempt ended. `answered`: the visitor has the response. `broken`: the response broke off
 * in the middle, and the visitor sees that. `client_closed`: the visitor closed the connection.
 * `slow`: no first byte in time. `closed`: a keep-alive connection was closed before the response,
 * which says nothing of the upstream. `invalid_request`: the request cannot be sent. `failed`: the
 * upstream did not respond.
 */
export type Outcome =
  | {
      readonly how: 'answered' | 'broken' | 'client_closed' | 'slow' | 'closed' | 'invalid_request'
    }
  | { readonly how: 'failed'; readonly code: string }

export interface UpstreamClient {
  /** `onAnswer` is called at the first byte of a response; `onEnd` once, at the end. */
  ask(
    request: VisitorRequest,
    sink: Sink,
    upstream: UpstreamRequest,
    onAnswer: () => void,
    onEnd: (outcome: Outcome) => void,
  ): void
  close(): Promise<void>
}

interface SocketError extends NodeJS.ErrnoException {
  /** The connection had received data before. */
  kept?: boolean
  readonly socket?: { readonly bytesRead?: number }
}

/**
 * The origin of an upstream, built from its parts: an invalid address or port cannot become a user,
 * a password or another host.
 */
function originOf({ host, port }: EdgeAddress): URL {
  const origin = new URL('http://upstream.invalid')
  origin.hostname = isIP(host) === 6 ? `[${host}]` : host
  origin.port = String(port)
  return origin
}

/**
 * The request body for undici. If the response comes before the body ends, undici destroys the
 * body. With the visitor's request itself as body, nothing would read that connection any more, and
 * a client that sends everything before reading would never see the response. So the rest is read
 * and dropped for a while.
 */
function bodyOf(request: VisitorRequest): Readable {
  const body = new PassThrough()
  request.pipe(body)
  request.once('close', () => {
    if (!request.readableEnded) body.destroy()
  })
  body.once('close', () => {
    request.unpipe(body)
    if (request.complete || request.destroyed) return
    const timer = setTimeout(() => request.destroy(), lingerMs)
    request.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
    request.resume()
  })
  // The response, or its failure, shows the outcome.
  body.on('error', () => undefined)
  return body
}

/**
 * `connectMs`: time limit for the connection; `answerMs`: for the first byte of the response;
 * `sharedDomain`: see `withinSite`.
 */
export function createUpstreamClient({
  connectMs,
  answerMs,
  sharedDomain,
}: {
  connectMs: number
  answerMs: number
  sharedDomain: string | null
}): UpstreamClient {
  const plain = buildConnector({ timeout: connectMs })
  const connect: typeof plain = (options, done) => {
    plain(options, (...connected) => {
      const [, socket] = connected
      // Before undici's own listener, which passes the bare error to its handlers.
      socket?.once('error', (error: SocketError) => (error.kept = socket.bytesRead > 0))
      done(...connected)
    })
  }
  // A slow page may pause for as long as it wants once it has begun.
  const options = {
    connect,
    headersTimeout: answerMs,
    // Trailers name what was read for a page.
    maxHeaderSize: 65_536,
    bodyTimeout: 0,
    allowH2: false,
    pipelining: 1,
  }
  const agent = new Agent(options)

  return {
    ask(request, sink, { address, path, visit, hasBody, headers, kept }, onAnswer, onEnd) {
      const origin = originOf(address)
      const dispatcher = kept ? agent : new Client(origin, options)
      let controller: Dispatcher.DispatchController | undefined
      let left = false
      sink.onLeave = () => {
        left = true
        controller?.abort(new Error('the visitor left'))
      }
      sink.onDrain = () => controller?.resume()
      const end = (outcome: Outcome) => {
        sink.onLeave = () => {}
        sink.onDrain = () => {}
        if (!kept) void dispatcher.close()
        onEnd(outcome)
      }
      dispatcher.dispatch(
        {
          origin,
          path,
          method: request.method ?? 'GET',
          headers: headers
            ? toUpstream(headers, undefined, visit)
            : toUpstream(withoutOurs(request.rawHeaders), request.headers.connection, visit),
          body: hasBody ? bodyOf(request) : null,
        },
        {
          onRequestStart(started) {
            controller = started
            if (left) started.abort(new Error('the visitor left'))
          },
          onResponseStart({ rawHeaders }, status, _headers, statusText) {
            // 100 Continue and its like are between us and the upstream.
            if (status < 200) return
            onAnswer()
            const raw = (rawHeaders as Buffer[]).map((part) => part.toString('latin1'))
            sink.begin(
              status,
              statusText,
              withinSite(toVisitor(raw, visit.httpsForSeconds), visit.host, sharedDomain),
              marksOf(raw),
            )
          },
          onResponseData(running, chunk) {
            if (!sink.write(chunk)) running.pause()
          },
          onResponseEnd(_running, trailers) {
            // Called before the response ends: a visitor who leaves at its end has not left early.
            end({ how: 'answered' })
            sink.end(trailers as Readonly<Record<string, string>>)
          },
          onResponseError(_running, error: SocketError) {
            // The response broke off in the middle: the visitor must see that, not a short page
            // that looks complete.
            if (sink.begun) {
              end({ how: left ? 'client_closed' : 'broken' })
              sink.breakOff()
            } else if (left) end({ how: 'client_closed' })
            else if (error.code === 'UND_ERR_INVALID_ARG') end({ how: 'invalid_request' })
            else if (error.code === 'UND_ERR_HEADERS_TIMEOUT') end({ how: 'slow' })
            else if (kept && (error.kept ?? (error.socket?.bytesRead ?? 0) > 0))
              end({ how: 'closed' })
            else end({ how: 'failed', code: error.code ?? error.name })
          },
        },
      )
    },
    close: async () => await agent.destroy(),
  }
}
