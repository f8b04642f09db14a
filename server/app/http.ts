/** The server of calls, pages and sockets. */
import path from 'node:path'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { sql } from 'kysely'
import * as auth from '../auth/index.ts'
import { isOwnEdge } from '../certifiable-names.ts'
import { identifyActing } from '../customer-team.ts'
import { machinePaths, serveHealth } from '../health.ts'
import { pageProtection } from '../page-protection.ts'
import { identifyView } from '../operator/index.ts'
import * as payments from '../payments/index.ts'
import { acceptedLanguage } from '../platform/accept-language.ts'
import { watchLoad } from '../platform/back-pressure.ts'
import { Refusal } from '../platform/errors.ts'
import { createHttp, type Http } from '../platform/http.ts'
import type { IdempotencyStore } from '../platform/idempotency.ts'
import { clientOf } from '../platform/client-address.ts'
import { prepareDrain } from '../platform/drain.ts'
import { failure } from '../platform/http-failures.ts'
import { checkDiskSpace } from '../platform/disk-space.ts'
import { openApi } from '../platform/openapi.ts'
import * as staff from '../staff/index.ts'
import { createClosure } from '../status/index.ts'
import * as storefront from '../storefront/index.ts'
import * as team from '../team/index.ts'
import { identifyToken } from '../tokens/index.ts'
import { version } from '../version.ts'
import type { Base } from './base.ts'
import type { Sites } from './sites.ts'

const root = path.resolve(import.meta.dirname, '..', '..')

type Server = Http['server']

/** The HTTP server, without any routes yet. */
export async function openHttp(base: Base, idempotency: IdempotencyStore) {
  const { config, db, pool, clock, log, notices, limits, portalUrl, metrics } = base
  const load = watchLoad(() => pool.pool.waitingCount)
  const closure = createClosure({ db, clock, log, notices })
  const http = createHttp({
    db,
    judgeLoad: load.judge,
    log,
    idempotency,
    identify: (credential) => auth.identify(db, clock, credential),
    isProven: (caller) => auth.isProven(db, clock, caller),
    programs: {
      identify: (token, ip) => identifyToken(db, clock, token, ip),
      calls: limits.limit('token-call'),
    },
    identifyView: (token, ip) => identifyView(db, clock, token, ip),
    members: {
      identifyActing: (token) => identifyActing(db, clock, token),
      noteMemberAct: team.createNoteAct(clock),
    },
    identifyStaff: (cookie, ip) => staff.identifyStaff(db, clock, cookie, ip),
    portalUrl,
    closure: closure.now,
    trustProxy: proxiesOf(config),
    onResponse: metrics.observe,
  })
  const { server } = http
  const connections = prepareDrain(server)
  await server.register(
    helmet,
    pageProtection(portalUrl, payments.cardsOf(base.catalog, base.drivers.payments)?.origins),
  )
  return { http, connections, closure, load }
}

/** The description of every call, as data and as a page. */
export async function serveDocument(http: Http, base: Base): Promise<void> {
  const { server } = http
  const { catalog, portalUrl } = base
  const document = openApi(http.endpoints, {
    title: `${catalog.seller.name} API`,
    version,
    url: portalUrl,
    cookieName: http.cookieName,
    staffCookieName: http.staffCookieName,
  })
  server.get('/api/openapi.json', async () => document)
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', deepLinking: true },
  })
}

/** The endpoints for monitoring. */
export function serveChecks(
  server: Server,
  base: Base,
  { nodes }: Sites,
  isReady: () => boolean,
): void {
  const { config, db, metrics, jobs, realtime, drivers } = base
  // The disk job logs shortages. A monitor calls this check every few seconds, so here the check
  // does not log.
  const silentLog = { warn: () => undefined, error: () => undefined }
  serveHealth(server, {
    metrics,
    metricsToken: config.METRICS_TOKEN,
    behindProxy: config.TRUST_PROXY === 'on' || config.portalBehindEdge !== undefined,
    checks: {
      portal: () => (isReady() ? undefined : 'starting or stopping'),
      database: async () => void (await sql`select 1`.execute(db)),
      jobs: () => jobs.health(),
      realtime: () => realtime.health(),
      wordpress: () => nodes.driver.health(),
      dns: () => drivers.dns.health(),
      disk: () => checkDiskSpace(config.DATA_DIR, silentLog),
    },
  })
}

/** The callers whose X-Forwarded-For is trusted. */
const proxiesOf = (config: Base['config']): boolean | ((address: string) => boolean) =>
  config.portalBehindEdge === undefined ? config.TRUST_PROXY === 'on' : isOwnEdge(config.HOST)

/** Pages and sockets, on a machine that answers customers. */
export function servePages(server: Server, base: Base, { logs }: Sites): void {
  const { config, catalog, portalUrl, realtime } = base
  if (!config.ROLES.has('api'))
    // A machine without the `api` role answers the monitors' paths only.
    server.addHook('onRequest', async ({ url }) => {
      if (!machinePaths.has(url.split('?', 1)[0] ?? '')) throw new Refusal('not_found')
    })
  storefront.servePages(
    server,
    path.join(root, 'dist', 'web'),
    portalUrl,
    storefront.brandOf(catalog, path.dirname(config.CATALOG)),
    (request, reply) => {
      const refusal = failure(
        'not_found',
        acceptedLanguage(request.headers['accept-language']),
        request.id,
      )
      return reply.code(refusal.statusCode).send(refusal)
    },
  )
  const proxies = proxiesOf(config)
  server.server.on('upgrade', (request, socket, head) => {
    // Node has removed its own error listener, so a client that disconnects now would end the
    // process. Exceptions here are not caught either: one request with an invalid address would end
    // the process.
    socket.on('error', () => socket.destroy())
    const { remoteAddress = '' } = request.socket
    const client = clientOf(
      request,
      typeof proxies === 'boolean' ? proxies : proxies(remoteAddress),
    )
    const readable = URL.canParse(request.url ?? '', portalUrl)
    if (
      !config.ROLES.has('api') ||
      !readable ||
      (!realtime.sockets.upgrade(request, socket, head, client) &&
        !logs.upgrade(request, socket, head))
    )
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
}
