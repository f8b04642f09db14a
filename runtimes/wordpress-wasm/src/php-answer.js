// From a visitor's request to PHP and back: the client's limit, the body, the wait, the answer.
import os from 'node:os'
import path from 'node:path'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { BodyRefused } from './body-spool.js'
import { clientKey } from './client-limits.js'
import { internalHeaders, pageHeader, trailerNames } from './page-tags.js'
import { showPage } from './pages.js'
import { wordpressRoot } from './root.js'

/** Most requests that wait for PHP; more are refused with 503 instead of waiting for minutes. */
const maxWaiting = 64
/** A visitor who reads nothing of a ready answer for this long is given up, ms. */
const slowReaderMs = 30_000
/** WordPress's own jobs may take longer than a page, ms. */
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
 * The client's address as the edge saw it. This port is on loopback, so only the edge or the driver
 * connects to it.
 */
export const clientOf = (request) =>
  request.headers['x-forwarded-for']?.split(',').at(-1).trim() ||
  request.socket.remoteAddress ||
  '127.0.0.1'

/** Whether it is an address of this machine: PHP's requests to its own site come from one. */
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
 * A request in php-wasm's form.
 * @param request `code` instead of `script`: our own PHP
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
 * Sets the head of PHP's answer, without invalid headers. Trailers, which a page that may be kept
 * has, are only possible after a body of unknown length.
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
  // Otherwise an empty body would get a length, and no trailers.
  if (!response.headersSent && status !== 304 && status !== 204)
    response.setHeader('transfer-encoding', 'chunked')
  const known = trailerNames.flatMap((name) =>
    typeof trailers[name] === 'string' && /^[\w\- ]*$/.test(trailers[name])
      ? [[name, trailers[name]]]
      : [],
  )
  response.addTrailers(Object.fromEntries(known))
}

/** Writes PHP's answer to the visitor, at the visitor's speed. */
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
    // A reading request is not run for a visitor who has left. A request that may change something
    // is run: programs send such requests without waiting (WordPress's own background requests
    // among them), and other hosts run them too.
    const reads = request.method === 'GET' || request.method === 'HEAD'
    // The site calls itself, and every PHP process that could answer waits for that call. So the
    // request is refused at once, before either side times out. A request that is sent without
    // waiting for the response (WordPress's background requests, POST) runs afterwards.
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
      // Not the visitor's spelling or port, so that PHP sees one name for one address.
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
      // The visitor must see that the answer broke off, instead of a short page that looks
      // complete.
      response.destroy()
      return { status: response.statusCode, bytes: to.bytes }
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    return showPage(request, response, outcome.how === 'timeout' ? 504 : 502)
  }

  /** An internal GET, whose output is discarded. */
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
