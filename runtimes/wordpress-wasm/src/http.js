// The container's HTTP server: it serves files itself, and everything else by the PHP processes.
import http from 'node:http'
import { actCode, actTicketOf } from './acts.js'
import { ClientLimits } from './client-limits.js'
import { agentHeader, fileHeader, pageHeader } from './page-tags.js'
import { showPage } from './pages.js'
import { clientOf, createPhpAnswers } from './php-answer.js'
import { route } from './route.js'
import { refusalPage, signInCode, takeTicket, ticketOf } from './sign-in.js'
import { serveFile } from './static-files.js'
import { WriteHold, mayWrite } from './write-hold.js'

/**
 * A refused body is still read for this long, ms: closing at once would lose the answer on its way.
 */
const lingerMs = 15_000

/**
 * @param {{pool: object, spool: object, order: object, log: (line: object) => void}} parts
 * @returns `server` (not listening yet), `run` (an internal request, for cron), `setHosts` (names
 * beside the order's own), `hold` (write-hold.js), `settle` (resolves when
 * no request is being handled)
 */
export function createSiteServer({ pool, spool, order, log }) {
  const siteUrl = new URL(order.url)
  const portSuffix = siteUrl.port ? `:${siteUrl.port}` : ''
  let hosts = new Set(order.hosts)
  const clients = new ClientLimits()
  const hold = new WriteHold()
  hold.set(order.holdMs ?? 0)
  const php = createPhpAnswers({ pool, spool, clients, pageMs: order.pageMs, siteUrl })
  let activeRequests = 0
  let idle = () => {}

  const isSecure = (request) =>
    request.headers['x-forwarded-proto'] === undefined
      ? siteUrl.protocol === 'https:'
      : request.headers['x-forwarded-proto'] === 'https'

  /**
   * The site's URL as this visitor sees it; null when the host is not one of the site's names. The
   * port is never taken from the visitor's request. The scheme is: the edge redirects visitors to
   * HTTPS where it can, so a request by HTTP has no other way.
   */
  function homeUrlOf(request) {
    const name = (request.headers.host ?? siteUrl.host)
      .toLowerCase()
      .replace(/:\d*$/, '')
      .replace(/\.$/, '')
    return name === siteUrl.hostname || hosts.has(name)
      ? `${isSecure(request) ? 'https' : 'http'}://${name}${portSuffix}`
      : null
  }

  /** Returns null when nothing was done: the visitor left, and the edge logs that itself. */
  async function answer(request, response) {
    const url = new URL(
      request.url.startsWith('/') ? `http://site${request.url.replace(/^\/+/, '/')}` : request.url,
    )
    const homeUrl = homeUrlOf(request)
    if (homeUrl === null) {
      // The edge forwards no request with an unknown name. So this name was released a moment ago,
      // or the caller bypassed the edge.
      const repeatable = request.method === 'GET' || request.method === 'HEAD'
      response.writeHead(repeatable ? 302 : 421, {
        ...(repeatable ? { location: order.url + url.pathname + url.search } : {}),
        'content-length': 0,
      })
      response.end()
      return { status: response.statusCode, bytes: 0 }
    }
    const ticket = ticketOf(url.pathname)
    if (ticket !== undefined) return signIn(request, response, { url, homeUrl, ticket })
    const actTicket = actTicketOf(url.pathname)
    if (actTicket !== undefined) return act(request, response, { url, homeUrl, ticket: actTicket })
    const target = await route(order.siteDir, url.pathname)
    switch (target.kind) {
      case 'file':
        if (request.headers[pageHeader] !== undefined) response.setHeader(fileHeader, '1')
        return serveFile(request, response, target, url.search)
      case 'redirect':
        response
          .writeHead(301, { location: target.location + url.search, 'content-length': 0 })
          .end()
        return { status: 301, bytes: 0 }
      case 'refused':
        response
          .writeHead(403, { 'content-type': 'text/plain', 'content-length': 10 })
          .end('Forbidden\n')
        return { status: 403, bytes: 10 }
      default:
        if (mayWrite(request.method) && !(await hold.pass(response)))
          return showPage(request, response, 'held', { 'retry-after': 30 })
        return php.answer(request, response, {
          url,
          homeUrl,
          secure: isSecure(request),
          script: target.script,
        })
    }
  }

  async function signIn(request, response, { url, homeUrl, ticket }) {
    // A HEAD request must not use the ticket up.
    const user = request.method === 'GET' ? takeTicket(order.ticketsDir, ticket)?.user : undefined
    if (user !== undefined)
      return php.answer(request, response, {
        url,
        homeUrl,
        secure: isSecure(request),
        script: '/wp-login.php',
        code: signInCode,
        server: { PORTAL_USER: user },
      })
    response.writeHead(403, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(refusalPage),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    response.end(request.method === 'HEAD' ? undefined : refusalPage)
    return { status: 403, bytes: 0 }
  }

  /** Performs an act of the portal; no visitor has a ticket for one. */
  async function act(request, response, { url, homeUrl, ticket }) {
    const allowed = request.method === 'GET' ? takeTicket(order.ticketsDir, ticket) : undefined
    const code =
      allowed?.step === undefined ? undefined : actCode(allowed.act, order.engine === true)
    if (code === undefined) {
      response.writeHead(404, { 'content-length': 0 }).end()
      return { status: 404, bytes: 0 }
    }
    const outcome = await php.answer(request, response, {
      url,
      homeUrl,
      secure: isSecure(request),
      script: '/index.php',
      code,
      limitMs: allowed.ms,
      server: { PORTAL_ACT: allowed.act ?? '', PORTAL_STEP: JSON.stringify(allowed.step) },
    })
    return outcome && { ...outcome, isOwnAct: true }
  }

  const server = http.createServer(
    { requestTimeout: 300_000, headersTimeout: 30_000, keepAliveTimeout: 65_000 },
    async (request, response) => {
      const started = performance.now()
      activeRequests++
      let outcome = { status: 500, bytes: 0 }
      try {
        outcome = await answer(request, response)
      } catch (error) {
        if (!response.destroyed)
          log({ s: 'php', m: `request failed: ${String(error?.stack ?? error).slice(0, 1_000)}` })
        if (!response.headersSent)
          response.writeHead(500, { connection: 'close', 'content-length': 0 })
        response.end()
      }
      if (!request.complete && !request.destroyed) linger(request)
      activeRequests--
      if (activeRequests === 0) idle()
      // An act of the portal is not logged as a visit.
      if (!outcome || outcome.isOwnAct) return
      log({
        s: 'access',
        m: request.method,
        // Tickets are kept out of the log.
        u: request.url.replace(/^\/portal-(sign-in|act)\/.*/s, '/portal-$1/…'),
        st: outcome.status,
        b: outcome.bytes,
        ms: Math.round(performance.now() - started),
        ip: clientOf(request),
        ua: request.headers[agentHeader] ?? request.headers['user-agent'] ?? '-',
      })
    },
  )

  return {
    server,
    setHosts(names) {
      hosts = new Set(names)
    },
    settle: () =>
      activeRequests === 0 ? Promise.resolve() : new Promise((resolve) => (idle = resolve)),
    run: php.run,
    hold,
  }
}

/** Reads and discards the rest of a body. */
function linger(request) {
  const timer = setTimeout(() => request.destroy(), lingerMs)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}
