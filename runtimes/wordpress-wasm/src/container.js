// One container of one site: it handles the orders that the portal sends on the control channel.
// README.md describes the protocol.
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { BodySpool } from './body-spool.js'
import { openControl } from './control.js'
import { createSiteServer } from './http.js'
import { PageWrites } from './page-writes.js'
import { watchParent } from './parent-watch.js'
import { PhpPool } from './php-pool.js'

/** How long a page may take, where the boot order does not say, ms. */
const defaultPageMs = 60_000
const defaultUploadMb = 64
const defaultSpoolBytes = 256 * 1_048_576
/** Memory of a PHP process while it makes a large page, and of the container itself, MB. */
const processMb = 400
const ownMb = 60
/** Processor time of this process, ms. */
const ownCpuMs = () => {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000)
}
/** Extra processes beyond those for the plan's processors, because some pages only wait. */
const maxSpare = 4

/** How many pages may compute at once, and how many processes may exist for that. */
export function sizeOf({ cpu = 1, memoryMb }) {
  const byMemory = Math.max(1, Math.floor((memoryMb - ownMb) / processMb))
  const atOnce = Math.max(1, Math.min(Math.floor(cpu), byMemory))
  return { atOnce, most: Math.min(byMemory, atOnce + Math.min(atOnce, maxSpare)) }
}

/**
 * Limits that may change while the container runs; the plan's size only where the engine changes it
 * too.
 */
const limitsOf = ({ ssdBytes, databaseBytes, mail, memoryMb, phpMemoryMb, cpu }) => ({
  ssdBytes,
  databaseBytes,
  mail: mail === true,
  ...(memoryMb !== undefined && { memoryMb }),
  ...(phpMemoryMb !== undefined && { phpMemoryMb }),
  ...(cpu !== undefined && { cpu }),
})

/**
 * Reads the boot order, starts PHP, and listens.
 * @param {(order: object, say: (line: object) => void) => {start: (first: boolean) => object,
 * most?: number, isCheap?: boolean, resize?: (limits: object) => number, ownCalls?: string}} boot
 * `start` starts a process that runs PHP (php-process.js); `isCheap`: a further process costs
 * nothing; `resize` gets a plan's new size, and returns how many processes may exist; `ownCalls`: a
 * socket by which the site requests its own pages
 */
export function runContainer(boot) {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  let booted = false
  const { send, sendLast } = openControl({
    onLine: handleOrder,
    // The parent died or closed the channel.
    onEnd: () => {
      pool?.close()
      process.exit(0)
    },
  })
  const fatal = (error) => {
    sendLast({
      ev: 'fatal',
      rejected: error?.rejected === true,
      m: String(error?.stack ?? error).slice(0, 4_000),
    })
    pool?.close()
    process.exit(1)
  }
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  // Ignored: nobody may be reading the log text any more.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})

  watchParent()

  let site = null
  let pool = null
  let limits = null
  let writes = null
  let ending = false
  let resizePhp

  async function end() {
    if (ending) return
    ending = true
    setTimeout(() => {
      pool?.close()
      process.exit(0)
    }, 10_000).unref()
    if (site) {
      site.hold.end()
      site.server.close()
      site.server.closeIdleConnections()
      await site.settle()
    }
    pool?.close()
    process.exit(0)
  }

  async function open(order) {
    order.siteDir = fs.realpathSync(order.siteDir)
    fs.mkdirSync(order.internalDir, { recursive: true })
    order.internalDir = fs.realpathSync(order.internalDir)
    order.bodiesDir = path.join(order.internalDir, 'bodies')
    order.pageMs ??= defaultPageMs
    limits = limitsOf(order)
    const spool = new BodySpool({
      dir: order.bodiesDir,
      budgetBytes: order.spoolBytes ?? defaultSpoolBytes,
      mostBytes: (order.uploadMb ?? defaultUploadMb) * 1_048_576,
    })
    const { install, ...without } = order
    order.install = null
    writes = new PageWrites(order.pageTags ? send : null)
    const { start, most, isCheap, resize, ownCalls } = boot({ ...without, install: null }, send)
    resizePhp = resize
    const size = sizeOf(order)
    pool = new PhpPool({
      start: (first) => start({ first, ...limits }),
      atOnce: size.atOnce,
      most: most ?? size.most,
      isCheap,
      memoryBytes: order.memoryMb * 1_048_576,
      log: send,
      onLost: (why) => fatal(new Error(why)),
      onWrite: (tags) => writes.tell(tags),
      onEnd: () => writes.doubt(),
    })
    const php = await pool.open()
    if (install) {
      const { already } = await php.install(install)
      send({ ev: 'installed', already, ms: elapsed() })
    }
    site = createSiteServer({ pool, spool, order, log: send })
    if (ownCalls !== undefined)
      net.createServer((socket) => site.server.emit('connection', socket)).listen(ownCalls)
    site.server.listen(0, '127.0.0.1', () =>
      send({ ev: 'listening', port: site.server.address().port, ms: elapsed(), ...pool.told }),
    )
    setInterval(
      () =>
        send({
          ev: 'beat',
          rss: process.memoryUsage.rss() + pool.rss(),
          cpu: ownCpuMs() + pool.cpuMs(),
          ...pool.told,
        }),
      5_000,
    ).unref()
  }

  function handleOrder(order) {
    if (!booted) {
      booted = true
      open(order).catch(fatal)
    } else if (order.op === 'limits') {
      limits = limitsOf(order)
      pool?.resize(limits, resizePhp?.(limits))
      send({ ev: 'limits', ...limits })
    } else if (order.op === 'hosts') {
      site?.setHosts(order.hosts)
    } else if (order.op === 'hold') {
      site?.hold.set(Math.max(0, Number(order.ms) || 0))
    } else if (order.op === 'dropped') {
      writes?.dropped(order.n)
    } else if (order.op === 'cron') {
      site
        ?.run('/wp-cron.php?doing_wp_cron')
        .catch((error) =>
          send({ s: 'php', m: `wp-cron: ${String(error?.message ?? error).slice(0, 500)}` }),
        )
    }
  }
  process.on('SIGTERM', () => void end())
  // Ctrl-C reaches the whole terminal group; the parent decides what ends when.
  process.on('SIGINT', () => {})
}
