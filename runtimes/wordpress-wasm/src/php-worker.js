// The process that runs PHP: one request at a time, in the order in which the container sends them.
// It talks to its container on descriptor 3 (JSON lines, control.js) and writes answers to
// descriptor 4 (frames.js). Only the container talks to it.
import fs from 'node:fs'
import { __private__dont__use as insides } from '@php-wasm/universal'
import { openControl } from './control.js'
import { DiskBudget } from './disk-budget.js'
import { kinds, writeFrame } from './frames.js'
import { installWordpress } from './install.js'
import { attachMail } from './mail-php.js'
import { MailSpool } from './mail-spool.js'
import { createNetworkPolicy, installNetworkGuard, onOwnCalls } from './network-guard.js'
import { watchParent } from './parent-watch.js'
import { bootPhp } from './php.js'
import { PageTags } from './page-tags.js'
import { answerConstantsOnly, refuseNativeCode } from './second-wall.js'

const answerDescriptor = 4
/** How often it reports its disk use and memory, ms. */
const beatMs = 5_000
/** Most log lines of one request. */
const maxLogLines = 500
/** Most pieces of a redirect's body that are held back; a redirect has a line of text at most. */
const mostHeld = 64

const { send, sendLast } = openControl({ onLine: handle, onEnd: () => process.exit(0) })
const fatal = (error) => {
  sendLast({
    ev: 'fatal',
    rejected: error?.rejected === true,
    m: String(error?.stack ?? error).slice(0, 4_000),
  })
  process.exit(1)
}
process.on('uncaughtException', (error) => {
  // The guard or the far end closed a socket that PHP opened: this must not end the site.
  if (['EACCES', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT'].includes(error?.code)) return
  fatal(error)
})
process.on('unhandledRejection', (error) =>
  send({ s: 'php', m: `unhandled: ${String(error?.message ?? error).slice(0, 1_000)}` }),
)
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
// Ignored: the container ends this process.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
watchParent()

let booted = false
let php = null
let budget = null
let mailSpool = null
const pageTags = new PageTags((tags) => writeFrame(answerDescriptor, kinds.wrote, json({ tags })))
/** Where PHP's output goes during a request of the container; otherwise php-wasm collects it. */
let output = null

async function open(order) {
  installNetworkGuard(createNetworkPolicy(order), (target) => send({ s: 'net-denied', m: target }))
  onOwnCalls((count) => send({ ev: 'own-calls', count }))
  budget = new DiskBudget({
    siteDir: order.siteDir,
    internalDir: order.internalDir,
    bodiesDir: order.bodiesDir,
    countDir: order.countDir,
    limits: { ssd: order.ssdBytes, database: order.databaseBytes, internal: order.internalBytes },
    measureMs: order.measureMs,
    report: (full) => send({ s: 'disk-full', ...full }),
  })
  answerConstantsOnly()
  php = await bootPhp(order, budget, (text) => send({ s: 'php', m: text.slice(0, 2_000) }))
  refuseNativeCode()
  divertOutput(php[insides])
  if (order.pageTags) pageTags.attach(php, budget)
  mailSpool = new MailSpool({
    dir: order.mailDir,
    isOn: order.mail,
    log: (text) => send({ s: 'php', m: text }),
    onLetter: () => send({ ev: 'mail' }),
  })
  attachMail(php, mailSpool)
  send({ ev: 'ready', ...figures() })
  setInterval(() => send({ ev: 'beat', ...figures() }), beatMs).unref()
}

const figures = () => ({ rss: process.memoryUsage.rss(), ...budget.told })

/**
 * php-wasm collects PHP's output in streams of this process, without a limit, because PHP blocks
 * the thread that would read them. Here each write goes out before PHP continues.
 */
function divertOutput(module) {
  for (const [event, take] of [
    ['onHeaders', 'headers'],
    ['onStdout', 'data'],
    ['onStderr', 'errors'],
  ]) {
    let collect = null
    Object.defineProperty(module, event, {
      get: () => (output ? (chunk) => output[take](chunk) : collect),
      set: (given) => (collect = given),
    })
  }
}

const json = (value) => Buffer.from(JSON.stringify(value))

/** The head that PHP has set before the first byte: `{status, headers: ['Name: value', …]}`. */
function headOf(chunks) {
  try {
    const { status, headers } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return {
      status,
      headers: headers.flatMap((line) => {
        const at = line.indexOf(': ')
        return at > 0 ? [[line.slice(0, at).toLowerCase(), line.slice(at + 2)]] : []
      }),
    }
  } catch {
    return { status: 200, headers: [] }
  }
}

/**
 * @param trace what the request does (page-tags.js)
 * @param isPage the answer may be kept
 */
function openOutput(trace, isPage) {
  const decoder = new TextDecoder()
  const head = []
  let isHeadSent = false
  let rest = ''
  let lines = 0
  const logLine = (line) => {
    if (!line.trim() || lines > maxLogLines) return
    lines++
    send({ s: 'php', m: lines > maxLogLines ? '(more lines left out)' : line.slice(0, 2_000) })
  }
  /**
   * A redirect's body is held until its end: a browser follows a Location before the answer has
   * ended.
   */
  let held = null
  const sendHead = (exitCode) => {
    if (isHeadSent) return
    isHeadSent = true
    const told = headOf(head)
    // PHP that fails before it has written anything would answer 200.
    if (exitCode !== 0 && told.status < 400) told.status = 500
    pageTags.tell(trace)
    writeFrame(answerDescriptor, kinds.head, json(told))
  }
  const isRedirect = () => {
    const { status } = headOf(head)
    return status >= 300 && status < 400
  }
  const dataOf = (chunk) => {
    sendHead(0)
    writeFrame(answerDescriptor, kinds.data, chunk)
  }
  return {
    headers: (chunk) => head.push(Buffer.from(chunk)),
    data(chunk) {
      if (chunk.length === 0) return
      if (!isHeadSent && held === null && isRedirect()) held = []
      if (held !== null && held.length < mostHeld) held.push(Buffer.from(chunk))
      else {
        for (const piece of held?.splice(0) ?? []) dataOf(piece)
        held = null
        dataOf(chunk)
      }
    },
    errors(chunk) {
      rest += decoder.decode(chunk, { stream: true })
      const parts = rest.split('\n')
      rest = parts.pop().slice(-8_000)
      for (const line of parts) logLine(line)
    },
    end(exitCode) {
      logLine(rest)
      if (exitCode !== 0) pageTags.lost(trace)
      for (const piece of held ?? []) dataOf(piece)
      sendHead(exitCode)
      pageTags.tell(trace)
      const trailers = isPage && exitCode === 0 ? pageTags.trailersOf(trace) : null
      const rss = process.memoryUsage.rss()
      writeFrame(answerDescriptor, kinds.end, json({ exitCode, rss, trailers }))
    },
  }
}

async function run({ bodyFile, body, ...request }) {
  if (bodyFile) request.body = fs.readFileSync(bodyFile)
  else if (body) request.body = Buffer.from(body, 'base64')
  const mine = openOutput(pageTags.begin(), request.$_SERVER.PORTAL_PAGE === '1')
  output = mine
  try {
    const result = await php.runStream(request)
    const exitCode = await result.exitCode
    await result.finished
    output = null
    budget.settle()
    mine.end(exitCode)
  } catch (error) {
    // PHP itself broke, not the page's program: a new process replaces it.
    output = null
    send({ s: 'php', m: `PHP ended: ${String(error?.stack ?? error).slice(0, 1_000)}` })
    mine.end(255)
    fatal(error)
  }
}

function handle(line) {
  if (!booted) {
    booted = true
    open(line).catch(fatal)
  } else if (line.op === 'run') {
    void run(line.request)
  } else if (line.op === 'limits') {
    budget?.resize({ ssd: line.ssdBytes, database: line.databaseBytes })
    if (mailSpool) mailSpool.isOn = line.mail === true
  } else if (line.op === 'install') {
    installWordpress(php, line.admin).then(({ already }) => {
      budget.settle()
      send({ ev: 'installed', already: already === true, ...figures() })
    }, fatal)
  }
}
