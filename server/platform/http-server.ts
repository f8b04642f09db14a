/** The web server itself: its limits, its request log, and its shutdown. */
import { randomUUID } from 'node:crypto'
import Fastify, {
  LogController,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { isUuid } from './db.ts'
import { discardBody } from './discard-body.ts'
import { keepAliveMs } from './drain.ts'
import { explain } from './http-failures.ts'
import { traceOf } from './http-span.ts'
import type { Log } from './log.ts'
import { networkOf } from './network.ts'
import { watchUnused } from './unused-connections.ts'
import { opensWebSocket } from './upgrade.ts'

export interface ServerOptions {
  readonly log: Log
  /** Whose X-Forwarded-For is trusted: every caller's, or that of the named addresses. */
  readonly trustProxy: boolean | ((address: string) => boolean)
  /** Throws a Refusal when the load leaves no time for the call. */
  readonly judgeLoad: (url: string) => void
  readonly onResponse?: (route: string, method: string, status: number, seconds: number) => void
}

interface Caller {
  readonly customer: string
  /** The id of the token by which a program calls. */
  readonly token?: string | undefined
}
/** The caller of each request, for the log. */
const callers = new WeakMap<FastifyRequest, Caller>()
export const noteCaller = (request: FastifyRequest, customer: string, token?: string): void =>
  void callers.set(request, { customer, ...(token !== undefined && { token }) })

/**
 * Features that no page of ours uses (W3C Permissions Policy). Payment is left to the card form.
 */
const permissions =
  'camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), usb=(), serial=(), hid=()'
const bodyLimitBytes = 256 * 1024
/** How long a shutdown waits for requests in progress. */
const closeMs = 8_000

/** A server without routes, whose failures have our envelope. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log } = options
  const isTrusted = typeof options.trustProxy === 'function' ? options.trustProxy : () => false
  const sendFailure = (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply => {
    const { body, retryAfter } = explain(error, request, log)
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
    return reply.code(body.statusCode).send(body)
  }
  const server = Fastify({
    // The start's summary for the operator says where it listens.
    loggerInstance: log.child(
      {},
      log.level === 'info' ? { level: 'warn' } : {},
    ) as unknown as import('fastify').FastifyBaseLogger,
    // We write one line per request below, with the route's pattern and without the query string,
    // which may contain tickets.
    logController: new LogController({ disableRequestLogging: true }),
    // Trusts one hop, the proxy in front. Entries further left in X-Forwarded-For are whatever the
    // caller wrote.
    trustProxy:
      options.trustProxy !== false &&
      ((address: string, hop: number) =>
        hop === 0 && (options.trustProxy === true || isTrusted(address))),
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: 'idle',
    keepAliveTimeout: keepAliveMs,
    http: { shouldUpgradeCallback: opensWebSocket },
    // A request that arrives on an open connection during the shutdown is still answered, with our
    // own envelope, and the connection is closed after it.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && isUuid(given) ? given : randomUUID()
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    // Errors before the router found a route; the hooks below have not run.
    frameworkErrors: (error, request, reply) =>
      void sendFailure(
        error,
        request as FastifyRequest,
        (reply as FastifyReply).header('x-request-id', request.id),
      ),
  })
  const endUnused = watchUnused(server.server)
  let closeTimer: NodeJS.Timeout | undefined
  server.addHook('preClose', async () => {
    endUnused()
    // Closes connections that are opened now, and those whose request never ends.
    closeTimer = setTimeout(() => server.server.closeAllConnections(), closeMs)
  })
  server.addHook('onClose', async () => clearTimeout(closeTimer))

  // An empty body with a JSON content type counts as no body: logout and pay have none, but clients
  // send the header.
  const parseJson = server.getDefaultJsonParser('error', 'error')
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parseJson(request, body as string, done)
  })

  server.removeContentTypeParser('text/plain')

  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('permissions-policy', permissions)
    if (request.url.startsWith('/api/')) options.judgeLoad(request.url)
  })
  server.addHook('onSend', async (request, reply) => {
    if (reply.statusCode === 413) await discardBody(request.raw)
    // Responses of the API are private. A response that may be cached sets its own header.
    if (request.url.startsWith('/api/') && !reply.hasHeader('cache-control'))
      reply.header('cache-control', 'no-store')
  })
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    // An operator looks for API calls; lines for pages, their assets and a monitor's probes would
    // bury them.
    const level = request.url.startsWith('/api/') ? 'info' : 'debug'
    log[level](
      {
        reqId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        network: networkOf(request.ip),
        ...callers.get(request),
        ...(traceOf(request) !== undefined && { trace: traceOf(request) }),
      },
      'request',
    )
    options.onResponse?.(route, request.method, reply.statusCode, reply.elapsedTime / 1000)
  })
  server.setErrorHandler(sendFailure)
  return server as unknown as FastifyInstance
}
