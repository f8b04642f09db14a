// From a visitor's request to PHP and back: limits a client, the body, the turn, the answer.
import os from 'node:os'
import path from 'node:path'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { BodyRefused } from './body-spool.js'
import { clientKey } from './client-limits.js'
import { internalHeaders, pageHeader, trailerNames } from './page-tags.js'
import { showPage } from './pages.js'
import { wordpressRoot } from './root.js'

/**
 * Limit on requests that wait for PHP; more are refused with 503 rather than kept waiting for
 * minutes.
 */
const maxWaiting = 64
/** A visitor who takes nothing of a waiting answer for so long is given up. */
const slowReaderMs = 30_000
/** WordPress's own jobs may take longer than a page. */
const cronMs = 180_000
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

/**
 * The client as the edge saw it: this port is on loopback, so nobody but the edge (or the driver)
 * speaks to it.
 */
export const clientOf = (request) =>
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
    if (hopByHop.has(name) || name === 'proxy' || name === 'expect' || internalHeaders.has(name))
      continue
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

/**
 * A request as php-wasm takes it.
 * @param request `code` instead of `script`: PHP of our own
 */
function phpRequest({ method, url, script, code, headers, client, secure, server }) {
  const pathInfo = url.pathname.startsWith(`${script}/`) ? url.pathname.slice(script.length) : ''
  return {
    ...(code ? { code } : { scriptPath: path.posix.join(wordpressRoot, script) }),
    relativeUri: url.pathname + url.search,
    method,
    headers,
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
      ...server,
    },
  }
}

/**
 * The head of PHP's answer; what is no header of HTTP is left out. Trailers, which a page that may
 * be kept has, follow a body of unknown length only.
 */
function setHead(response, { status, headers }, isPage) {
  const all = new Map()
  for (const [name, value] of Array.isArray(headers) ? headers : []) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      continue
    }
    if (hopByHop.has(name) || name === 'x-powered-by' || internalHeaders.has(name)) continue
    if (isPage && name === 'content-length') continue
    all.set(name, [...(all.get(name) ?? []), value])
  }
  for (const [name, values] of all) response.setHeader(name, values.length > 1 ? values : values[0])
  if (isPage) response.setHeader(pageHeader, '1')
  response.statusCode = Number.isInteger(status) && status >= 200 && status <= 599 ? status : 500
}

function addTrailers(response, trailers) {
  if (typeof trailers !== 'object' || trailers === null) return
  const { statusCode: status } = response
  // An empty body has a length otherwise, and no trailers.
  if (!response.headersSent && status !== 304 && status !== 204)
    response.setHeader('transfer-encoding', 'chunked')
  const known = trailerNames.flatMap((name) =>
    typeof trailers[name] === 'string' && /^[\w\- ]*$/.test(trailers[name])
      ? [[name, trailers[name]]]
      : [],
  )
  response.addTrailers(Object.fromEntries(known))
}

/** Where PHP's answer goes: to the visitor, as fast as he reads. */
function answerTo(response, isPage) {
  const answer = {
    bytes: 0,
    head: (value) => {
      if (!response.headersSent) setHead(response, value, isPage)
    },
    data(piece) {
      answer.bytes += piece.length
      // The client has disconnected: PHP runs to its end, and its output is dropped.
      if (response.destroyed || response.write(piece)) return undefined
      return new Promise((resolve) => {
        const timer = setTimeout(() => response.destroy(), slowReaderMs)
        const goOn = () => {
          clearTimeout(timer)
          response.off('drain', goOn)
          response.off('close', goOn)
          resolve()
        }
        response.once('drain', goOn)
        response.once('close', goOn)
      })
    },
  }
  return answer
}

/**
 * @param {{pool: object, spool: object, clients: object, pageMs: number, siteUrl: URL}} parts
 * @returns `answer` (a visitor's request) and `run` (an internal one, for cron)
 */
export function createPhpAnswers({ pool, spool, clients, pageMs, siteUrl }) {
  /**
   * @param target `{url, homeUrl, secure, script, code, server, limitMs}`; `limitMs`: when it may
   * not take as long as a page may
   * @returns status and bytes for the log; null when nothing was done, for the visitor left
   */
  async function answer(request, response, target) {
    const client = clientOf(request)
    if (pool.waiting >= maxWaiting) return showPage(request, response, 503, { 'retry-after': 2 })
    // A request that only reads is not run for a visitor who has left. A request that may change
    // something is run: programs send such requests and do not wait (WordPress's own background
    // requests among them), and on any other host they would be run.
    const reads = request.method === 'GET' || request.method === 'HEAD'
    // The site calls itself, and every PHP that could respond waits for it: the request is refused
    // at once, before either side times out. A request that is sent without waiting for a response
    // (WordPress's background requests, POST) runs afterwards.
    if (reads && pool.callsItself && !pool.hasSpare && isOwnMachine(client))
      return showPage(request, response, 503, { 'retry-after': 1 })
    const leave = await clients.enter(client, response)
    if (leave === 'left') return null
    if (leave === 'refused') return showPage(request, response, 429, { 'retry-after': 5 })
    let body
    try {
      body = await spool.take(request)
      return await runFor(request, response, { ...target, client, body, reads })
    } catch (error) {
      if (!(error instanceof BodyRefused)) throw error
      return showPage(
        request,
        response,
        error.status,
        error.status === 503 ? { 'retry-after': 10 } : {},
      )
    } finally {
      body?.drop()
      leave()
    }
  }

  async function runFor(request, response, { body, reads, homeUrl, limitMs, ...target }) {
    const isPage = reads && request.headers[pageHeader] !== undefined
    const sent = phpRequest({
      ...target,
      method: request.method,
      // Not the visitor's spelling, nor his port: PHP sees one name for one address.
      headers: { ...phpHeaders(request), host: new URL(homeUrl).host },
      server: { ...target.server, PORTAL_HOME: homeUrl, ...(isPage && { PORTAL_PAGE: '1' }) },
    })
    if (body.file) sent.bodyFile = body.file
    else if (body.bytes) sent.body = body.bytes.toString('base64')
    const to = answerTo(response, isPage)
    const visitor = reads ? response : undefined
    const outcome = await pool.run(sent, to, {
      limitMs: Math.min(pageMs, limitMs ?? pageMs),
      client: clientKey(target.client),
      visitor,
    })
    if (!outcome) return null
    if (outcome.how === 'done') {
      if (isPage && outcome.exitCode === 0) addTrailers(response, outcome.trailers)
      response.end()
      return { status: response.statusCode, bytes: to.bytes }
    }
    if (response.headersSent) {
      // The visitor must see that it broke off, not a short page that looks whole.
      response.destroy()
      return { status: response.statusCode, bytes: to.bytes }
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    return showPage(request, response, outcome.how === 'timeout' ? 504 : 502)
  }

  /** An internal GET, its output thrown away. */
  async function run(target) {
    const url = new URL(target, siteUrl)
    const secure = siteUrl.protocol === 'https:'
    const limitMs = Math.max(pageMs, cronMs)
    const sent = phpRequest({
      method: 'GET',
      url,
      script: url.pathname,
      headers: { host: siteUrl.host },
      client: '127.0.0.1',
      secure,
      server: { PORTAL_SECONDS: String(Math.ceil(limitMs / 1_000)) },
    })
    const nowhere = { head: () => {}, data: () => undefined }
    const outcome = await pool.run(sent, nowhere, { limitMs })
    if (outcome.how === 'timeout') throw new Error('it took longer than it may')
    if (outcome.how === 'ended') throw new Error(outcome.why)
  }

  return { answer, run }
}
