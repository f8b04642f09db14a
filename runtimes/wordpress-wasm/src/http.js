// The container's HTTP side: files from Node, everything else from PHP, one PHP request at a time.
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { callsItself } from './network-guard.js'
import { wordpressRoot } from './root.js'
import { route } from './route.js'
import { refusalPage, signInCode, takeTicket, ticketOf } from './sign-in.js'
import { serveFile } from './static-files.js'
import { Turnstile } from './turnstile.js'

const maxBodyBytes = 64 * 1024 * 1024
/**
 * Limit on requests that wait for PHP; more are refused with 503 rather than kept waiting for
 * minutes.
 */
const maxWaiting = 64
/** How long PHP may take for one request, from its turn on. */
const defaultRequestMs = 180_000
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

class BodyTooLarge extends Error {}

async function readBody(request) {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw new BodyTooLarge()
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) throw new BodyTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * The client as the edge saw it: this port is on loopback, so nobody but the edge (or the driver)
 * speaks to it.
 */
const clientOf = (request) =>
  request.headers['x-forwarded-for']?.split(',').at(-1).trim() ||
  request.socket.remoteAddress ||
  '127.0.0.1'

/** Addresses of this machine: what PHP asks of its own site comes from one of them. */
const isOwnMachine = (client) =>
  Object.values(os.networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === client),
  )

function phpHeaders(request) {
  const headers = {}
  for (const [name, value] of Object.entries(request.headers)) {
    // `Proxy:` would become HTTP_PROXY, which PHP's HTTP clients obey.
    if (hopByHop.has(name) || name === 'proxy' || name === 'expect') continue
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

/**
 * @param {{php: object, order: object, log: (line: object) => void, onStuck: (why: string) =>
 * void}} parts `onStuck`: PHP is lost, the process must end
 * @returns `server` (not listening yet), `run` (an internal request, for cron), `setHosts` (names
 * beside the order's own), `settle` (resolves when no
 *   request is in hand)
 */
export function createSiteServer({ php, order, log, onStuck }) {
  const siteUrl = new URL(order.url)
  const requestMs = order.requestMs ?? defaultRequestMs
  const portSuffix = siteUrl.port ? `:${siteUrl.port}` : ''
  let hosts = new Set(order.hosts)
  const turns = new Turnstile()
  let activeRequests = 0
  let idle = () => {}

  const isSecure = (request) =>
    request.headers['x-forwarded-proto'] === undefined
      ? siteUrl.protocol === 'https:'
      : request.headers['x-forwarded-proto'] === 'https'

  /**
   * The site's URL as this visitor sees it, null when the name is none of the site's. The port is
   * never taken from the visitor's request.
   */
  function homeUrlOf(request) {
    const name = (request.headers.host ?? siteUrl.host)
      .toLowerCase()
      .replace(/:\d*$/, '')
      .replace(/\.$/, '')
    if (name === siteUrl.hostname) return order.url
    return hosts.has(name) ? `${isSecure(request) ? 'https' : 'http'}://${name}${portSuffix}` : null
  }

  /**
   * Waits for PHP and runs it.
   * @param request `code` instead of `script`: PHP of our own. `visitor`: the answer that somebody
   * waits for, who may leave
   * @returns null when the visitor left before the turn came
   */
  async function runPhp({
    visitor,
    method,
    url,
    script,
    code,
    headers,
    body,
    client,
    secure,
    server: more = {},
  }) {
    const leave = await turns.enter(visitor)
    if (!leave) return null
    // PHP's own limit does not count waiting (a socket, a lock): what never ends would block every
    // later request. The wait for the turn is not this request's doing: a long line of slow pages
    // is no lost PHP.
    const guard = setTimeout(
      () => onStuck(`a request did not end in ${requestMs / 1000} s: ${method} ${url.pathname}`),
      requestMs,
    )
    guard.unref()
    const release = () => {
      clearTimeout(guard)
      leave()
    }
    const pathInfo = url.pathname.startsWith(`${script}/`) ? url.pathname.slice(script.length) : ''
    const started = php.runStream({
      ...(code ? { code } : { scriptPath: path.posix.join(wordpressRoot, script) }),
      relativeUri: url.pathname + url.search,
      method,
      headers,
      body,
      protocol: secure ? 'https' : 'http',
      $_SERVER: {
        REMOTE_ADDR: client,
        REMOTE_PORT: '0',
        DOCUMENT_ROOT: wordpressRoot,
        HTTPS: secure ? 'on' : '',
        REQUEST_SCHEME: secure ? 'https' : 'http',
        REQUEST_URI: url.pathname + url.search,
        QUERY_STRING: url.search.slice(1),
        SCRIPT_NAME: script,
        SCRIPT_FILENAME: path.posix.join(wordpressRoot, script),
        PHP_SELF: script + pathInfo,
        SERVER_SOFTWARE: 'wordpress-wasm',
        ...(pathInfo ? { PATH_INFO: pathInfo } : {}),
        ...more,
      },
    })
    started.then((result) => result.finished.finally(release), release).catch(() => {})
    return started
  }

  async function logErrors(stream) {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of stream) {
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop().slice(-8_000)
      for (const line of lines) if (line.trim()) log({ s: 'php', m: line.slice(0, 2_000) })
    }
    if (rest.trim()) log({ s: 'php', m: rest.slice(0, 2_000) })
  }

  async function answerFromPhp(request, response, { url, homeUrl, script, code, server: more }) {
    const body = await readBody(request)
    if (turns.waiting >= maxWaiting) {
      response.writeHead(503, { 'retry-after': 2, 'content-length': 0 }).end()
      return { status: 503, bytes: 0 }
    }
    // A request that only reads is not run for a visitor who has left. A request that may change
    // something is run: programs send such requests and do not wait (WordPress's own background
    // requests among them), and on any other host they would be run.
    const reads = request.method === 'GET' || request.method === 'HEAD'
    // The site calls itself, and the only PHP that could respond is the one that waits for it: the
    // request is refused at once, before either side times out. A request that is sent without
    // waiting for a response (WordPress's background requests, POST) runs afterwards.
    if (reads && callsItself() && isOwnMachine(clientOf(request))) {
      response.writeHead(503, { 'retry-after': 1, 'content-length': 0 }).end()
      return { status: 503, bytes: 0 }
    }
    const result = await runPhp({
      visitor: reads ? response : undefined,
      method: request.method,
      url,
      script,
      code,
      // Not the visitor's spelling, nor his port: PHP sees one name for one address.
      headers: { ...phpHeaders(request), host: new URL(homeUrl).host },
      body: body.length > 0 ? body : undefined,
      client: clientOf(request),
      secure: isSecure(request),
      server: { ...more, PORTAL_HOME: homeUrl },
    })
    if (!result) return null
    const errors = logErrors(result.stderr)
    const status = await result.httpStatusCode
    for (const [name, value] of Object.entries(await result.headers)) {
      if (!hopByHop.has(name.toLowerCase()) && name.toLowerCase() !== 'x-powered-by')
        response.setHeader(name, value)
    }
    response.statusCode = status
    let bytes = 0
    const reader = result.stdout.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      bytes += value.length
      // The client has disconnected: PHP runs to its end, and its output is dropped.
      if (response.destroyed) continue
      if (!response.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) {
        await new Promise((resolve) => {
          response.once('drain', resolve)
          response.once('close', resolve)
        })
      }
    }
    await errors
    if (
      (await result.exitCode) !== 0 &&
      bytes === 0 &&
      !response.headersSent &&
      response.statusCode < 400
    )
      response.statusCode = 500
    response.end()
    return { status: response.statusCode, bytes }
  }

  /**
   * Null when nothing was done: the visitor left, and the edge, which noticed, has written that
   * down.
   */
  async function answer(request, response) {
    const url = new URL(
      request.url.startsWith('/') ? `http://site${request.url.replace(/^\/+/, '/')}` : request.url,
    )
    const homeUrl = homeUrlOf(request)
    if (homeUrl === null) {
      // The edge forwards no request with an unknown name: this name was released a moment ago, or
      // the caller went around the edge.
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
    const target = await route(order.siteDir, url.pathname)
    switch (target.kind) {
      case 'file':
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
        return answerFromPhp(request, response, { url, homeUrl, script: target.script })
    }
  }

  async function signIn(request, response, { url, homeUrl, ticket }) {
    // A HEAD request must not use the ticket up.
    const user = request.method === 'GET' ? takeTicket(order.ticketsDir, ticket) : null
    if (user !== null)
      return answerFromPhp(request, response, {
        url,
        homeUrl,
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

  const server = http.createServer(
    { requestTimeout: 300_000, headersTimeout: 30_000, keepAliveTimeout: 65_000 },
    async (request, response) => {
      const started = performance.now()
      activeRequests++
      let outcome = { status: 500, bytes: 0 }
      try {
        outcome = await answer(request, response)
      } catch (error) {
        outcome.status = error instanceof BodyTooLarge ? 413 : 500
        if (outcome.status === 500 && !response.destroyed)
          log({ s: 'php', m: `request failed: ${String(error?.stack ?? error).slice(0, 1_000)}` })
        if (!response.headersSent)
          response.writeHead(outcome.status, { connection: 'close', 'content-length': 0 })
        response.end()
      }
      activeRequests--
      if (activeRequests === 0) idle()
      if (!outcome) return
      log({
        s: 'access',
        m: request.method,
        u: request.url.startsWith('/portal-sign-in/') ? '/portal-sign-in/…' : request.url,
        st: outcome.status,
        b: outcome.bytes,
        ms: Math.round(performance.now() - started),
        ip: clientOf(request),
        ua: request.headers['user-agent'] ?? '-',
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
    /** An internal GET, its output thrown away. */
    async run(target) {
      const url = new URL(target, siteUrl)
      const result = await runPhp({
        method: 'GET',
        url,
        script: url.pathname,
        headers: { host: siteUrl.host },
        body: undefined,
        client: '127.0.0.1',
        secure: siteUrl.protocol === 'https:',
      })
      const errors = logErrors(result.stderr)
      for await (const chunk of result.stdout) void chunk
      await errors
    },
  }
}
