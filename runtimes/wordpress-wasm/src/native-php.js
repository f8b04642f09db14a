/**
 * One slot for a request in the container's PHP, with the interface of a PHP process
 * (php-process.js). PHP-FPM itself decides which of its processes handles it.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { askFastcgi } from './fastcgi.js'
import { installWordpress } from './install.js'
import { codeFile, phpValues } from './native-files.js'
import { PageTags } from './page-tags.js'

/** Most log lines of one request. */
const maxLogLines = 500
/** Most pieces of a redirect's body that are held back until its end. */
const mostHeld = 64
/** Longest head of an answer, bytes. */
const longestHead = 262_144
const tagsMark = 'portal-page-tags'
const mailMark = 'portal-mail'

/** PHP's output before the empty line, and the rest; undefined until that line has arrived. */
function splitHead(bytes) {
  for (const mark of ['\r\n\r\n', '\n\n']) {
    const at = bytes.indexOf(mark)
    if (at >= 0) return [bytes.toString('latin1', 0, at), bytes.subarray(at + mark.length)]
  }
  return undefined
}

function headOf(text) {
  let status = 200
  const headers = []
  for (const line of text.split(/\r?\n/)) {
    const at = line.indexOf(':')
    if (at <= 0) continue
    const [name, value] = [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    if (name === 'status') status = Number.parseInt(value, 10) || 500
    else headers.push([name, value])
  }
  return { status, headers }
}

/** Acts that change no files. */
const readingActs = new Set(['list-software', 'database'])
/** Administration pages that change files merely by being opened. */
const changingPages =
  /^\/wp-admin\/(?:network\/)?(?:update|update-core|plugins|themes|theme-editor)\.php\?/

/**
 * Whether a request may have changed files that pages show. PHP's file writes cannot be observed
 * here, so this is decided by the kind of request and its sender. Its SQL statements are reported
 * separately.
 */
function mayChangeFiles({ method, headers, code, $_SERVER }) {
  if (code) return $_SERVER.PORTAL_ACT !== undefined && !readingActs.has($_SERVER.PORTAL_ACT)
  const target = $_SERVER.REQUEST_URI
  if (target.startsWith('/wp-cron.php')) return true
  const isSignedIn = /\bwordpress_logged_in_/.test(headers.cookie ?? '')
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
    return isSignedIn && changingPages.test(target)
  return isSignedIn || /^multipart\//i.test(headers['content-type'] ?? '')
}

/** The FastCGI variables of a request from php-answer.js. */
function paramsOf(request, { order, talkName, bytes, script, limitMs }) {
  const { host = 'localhost' } = request.headers
  const [name, port] = host.split(':')
  const secure = request.protocol === 'https'
  const params = {
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_PROTOCOL: 'HTTP/1.1',
    SERVER_NAME: name,
    SERVER_PORT: port ?? (secure ? '443' : '80'),
    REQUEST_METHOD: request.method,
    CONTENT_LENGTH: bytes > 0 ? String(bytes) : '',
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    REDIRECT_STATUS: '200',
    ...request.$_SERVER,
    SCRIPT_FILENAME: script,
    PORTAL_TALK: talkName,
    PORTAL_DEBUG: order.debug ? '1' : '',
    PHP_ADMIN_VALUE: phpValues(order, limitMs),
  }
  if (params.HTTPS === '') delete params.HTTPS
  for (const [header, value] of Object.entries(request.headers)) {
    if (header === 'content-type' || header === 'content-length') continue
    params[`HTTP_${header.toUpperCase().replaceAll('-', '_')}`] = value
  }
  return params
}

export class NativePhp {
  ready = Promise.resolve()
  ended
  /** Always 0: PHP cannot reach the site's address, because the container has no network. */
  ownCalls = 0
  told = null
  pid = undefined
  #end
  #running = false
  #parts

  /**
   * @param {{socketPath: string, talk: object, mail: object, order: object, log: (line: object) =>
   * void}} parts `order` is the container's, and changes with it
   */
  constructor(parts) {
    this.#parts = parts
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get idle() {
    return !this.#running
  }
  /** Unknown here: the kernel distributes CPU time by the container's limits. */
  processor() {
    return null
  }
  rss() {
    return 0
  }
  yieldTo() {}
  resize({ mail }) {
    this.#parts.mail.isOn = mail === true
  }

  kill(why) {
    this.#end(why)
  }

  /** @returns {Promise<{already: boolean}>} */
  async install(admin) {
    const { already } = await installWordpress({ run: (given) => this.#collect(given) }, admin)
    return { already: already === true }
  }

  /** Runs our own PHP and collects its output. */
  async #collect({ code, env }) {
    const pieces = []
    const log = []
    const request = {
      code,
      method: 'GET',
      headers: { host: new URL(this.#parts.order.url).host },
      protocol: 'http',
      $_SERVER: {
        ...env,
        REQUEST_URI: '/',
        SCRIPT_NAME: '/index.php',
        DOCUMENT_ROOT: '/wordpress',
      },
    }
    const answer = { head: () => {}, data: (piece) => void pieces.push(Buffer.from(piece)) }
    const outcome = await this.run(request, answer, {
      limitMs: 180_000,
      onWrite: () => Promise.resolve(),
      onLog: (line) => log.push(line),
    })
    if (outcome.how === 'ended') log.push(outcome.why)
    return { text: Buffer.concat(pieces).toString('utf8'), errors: log.join('\n') }
  }

  #body({ body, bodyFile }) {
    if (bodyFile) return createReadStream(bodyFile)
    return body ? [Buffer.from(body, 'base64')] : []
  }

  /** The same as PhpProcess.run. */
  async run(request, answer, { limitMs, onWrite, onLog }) {
    this.#running = true
    try {
      return await this.#run(request, answer, { limitMs, onWrite, onLog })
    } finally {
      this.#running = false
    }
  }

  #run(request, answer, { limitMs, onWrite, onLog }) {
    const { socketPath, talk, mail, order, log } = this.#parts
    const talkName = randomBytes(18).toString('base64url')
    const isPage = request.$_SERVER.PORTAL_PAGE === '1'
    let told = []
    const tags = new PageTags((all) => told.push(all))
    tags.attach({ onMessage: (hear) => (tags.hear = hear) }, {})
    const trace = tags.begin()
    const tell = async () => {
      tags.tell(trace)
      for (const one of told.splice(0)) await onWrite(one)
    }
    talk.begin(talkName, async (text) => {
      if (text.startsWith(tagsMark)) {
        tags.hear(text)
        if (told.length > 0) await tell()
        return undefined
      }
      if (text === 'portal-head') {
        await tell()
        return 'told'
      }
      if (text.startsWith(mailMark)) {
        try {
          return mail.take(JSON.parse(text.slice(mailMark.length))) ? 'taken' : 'refused'
        } catch {
          // The disk is full, or the message is no letter: mail() returns false.
          return 'refused'
        }
      }
      return undefined
    })

    return new Promise((resolve) => {
      let lines = 0
      let rest = ''
      const logLine = (line) => {
        if (!line.trim() || lines > maxLogLines) return
        lines++
        const said = line.replace(/^PHP message: /, '').slice(0, 2_000)
        if (onLog) onLog(said)
        else log({ s: 'php', m: lines > maxLogLines ? '(more lines left out)' : said })
      }
      let head = Buffer.alloc(0)
      let isHeadSent = false
      let held = null
      let work = Promise.resolve()
      let leftMs = limitMs
      let since = performance.now()
      let timer
      let asked
      let waiting = 0
      const startClock = () => {
        since = performance.now()
        timer = setTimeout(() => {
          timer = undefined
          finish({ how: 'timeout' })
          asked.destroy()
        }, leftMs)
      }
      const stopClock = () => {
        clearTimeout(timer)
        leftMs = Math.max(0, leftMs - (performance.now() - since))
      }
      let isDone = false
      const finish = (outcome) => {
        if (isDone) return
        isDone = true
        clearTimeout(timer)
        logLine(rest)
        talk.end(talkName)
        resolve(outcome)
      }
      /**
       * Runs steps in the order in which PHP sent them. The clock stops while the visitor is slow
       * to read.
       */
      const then = (act) => {
        if (waiting++ === 0) asked?.pause()
        work = work.then(async () => {
          const slow = act()
          if (slow) {
            stopClock()
            await slow
            if (!isDone) startClock()
          }
          if (--waiting === 0) asked?.resume()
        })
      }
      const give = (piece) => {
        if (isDone) return undefined
        if (held !== null && held.length < mostHeld) {
          held.push(Buffer.from(piece))
          return undefined
        }
        const pieces = [...(held?.splice(0) ?? []), piece]
        held = null
        return pieces
          .map((one) => () => answer.data(one))
          .reduce((before, next) => (before ? before.then(next) : next()), undefined)
      }
      const takeHead = (text) => {
        isHeadSent = true
        const value = headOf(text)
        if (value.status >= 300 && value.status < 400) held = []
        answer.head(value)
      }
      asked = askFastcgi(
        socketPath,
        paramsOf(request, {
          order,
          talkName,
          limitMs,
          bytes: this.#bytesOf(request),
          script: request.code ? codeFile(order.internalDir, request.code) : request.scriptPath,
        }),
        this.#body(request),
        {
          stdout: (piece) => {
            if (isHeadSent) return then(() => give(piece))
            head = Buffer.concat([head, piece])
            const parts = splitHead(head)
            if (!parts) return head.length > longestHead ? asked.destroy() : undefined
            takeHead(parts[0])
            if (parts[1].length > 0) then(() => give(parts[1]))
          },
          stderr: (piece) => {
            rest += piece.toString('utf8')
            const parts = rest.split('\n')
            rest = parts.pop().slice(-8_000)
            for (const line of parts) logLine(line)
          },
          end: (appStatus) => {
            work = work
              .then(() => talk.settled(talkName))
              .then(async () => {
                if (isDone) return
                if (appStatus !== 0 || mayChangeFiles(request)) tags.lost(trace)
                await tell()
                for (const piece of held?.splice(0) ?? []) await answer.data(piece)
                const trailers = isPage && appStatus === 0 ? tags.trailersOf(trace) : null
                finish({ how: 'done', exitCode: appStatus, trailers })
              })
          },
          lost: (why) => finish({ how: 'ended', why }),
        },
      )
      startClock()
    })
  }

  #bytesOf({ body, bodyFile }) {
    if (bodyFile) return statSync(bodyFile).size
    return body ? Buffer.from(body, 'base64').length : 0
  }
}
