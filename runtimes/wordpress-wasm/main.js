// One container of one WordPress site. How to speak to it: README.md.
import fs from 'node:fs'
import readline from 'node:readline'
import { Worker } from 'node:worker_threads'
import { DiskBudget } from './src/disk-budget.js'
import { createSiteServer } from './src/http.js'
import { installWordpress } from './src/install.js'
import { allowListening, createReach, installNetworkGuard } from './src/network-guard.js'
import { bootPhp } from './src/php.js'

const started = performance.now()
const elapsed = () => Math.round(performance.now() - started)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const fatal = (error) => {
  // Straight to the descriptor: the pipe may still be full when the process ends.
  try {
    fs.writeSync(
      1,
      `${JSON.stringify({ ev: 'fatal', rejected: error?.rejected === true, m: String(error?.stack ?? error).slice(0, 4_000) })}\n`,
    )
  } catch {
    // The parent is gone: nobody to tell.
  }
  process.exit(1)
}
process.on('uncaughtException', (error) => {
  // A socket that PHP opened and the guard or the far end cut: not a reason to end the site.
  if (['EACCES', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT'].includes(error?.code)) return
  fatal(error)
})
process.on('unhandledRejection', (error) => say({ s: 'php', m: `unhandled: ${String(error?.message ?? error).slice(0, 1_000)}` }))
process.stdout.on('error', () => process.exit(1))

new Worker(new URL('./src/parent-watch.js', import.meta.url), {
  workerData: { parent: process.ppid },
  resourceLimits: { maxOldGenerationSizeMb: 8 },
}).unref()

let site = null
let budget = null
let ending = false

async function end() {
  if (ending) return
  ending = true
  setTimeout(() => process.exit(0), 10_000).unref()
  if (site) {
    site.server.close()
    site.server.closeIdleConnections()
    await site.settle()
  }
  process.exit(0)
}

async function boot(order) {
  installNetworkGuard(createReach(order), (target) => say({ s: 'net-denied', m: target }))
  order.siteDir = fs.realpathSync(order.siteDir)
  fs.mkdirSync(order.internalDir, { recursive: true })
  order.internalDir = fs.realpathSync(order.internalDir)
  budget = new DiskBudget({
    siteDir: order.siteDir,
    internalDir: order.internalDir,
    limits: { ssd: order.ssdBytes, database: order.databaseBytes, internal: order.internalBytes },
    report: (full) => say({ s: 'disk-full', ...full }),
  })
  const php = await bootPhp(order, budget)
  if (order.install) {
    const { already } = await installWordpress(php, order.install)
    order.install = null
    say({ ev: 'installed', already: already === true, ms: elapsed() })
  }
  site = createSiteServer({ php, order, log: say, onStuck: (why) => fatal(new Error(why)) })
  allowListening(false, () =>
    site.server.listen(0, '127.0.0.1', () => say({ ev: 'listening', port: site.server.address().port, ms: elapsed() })),
  )
  setInterval(() => say({ ev: 'beat', rss: process.memoryUsage.rss() }), 5_000).unref()
}

const lines = readline.createInterface({ input: process.stdin })
let booted = false
lines.on('line', (line) => {
  let order
  try {
    order = JSON.parse(line)
  } catch {
    return
  }
  if (!booted) {
    booted = true
    boot(order).catch(fatal)
  } else if (order.op === 'limits') {
    budget?.resize({ ssd: order.ssdBytes, database: order.databaseBytes })
    say({ ev: 'limits', ssdBytes: order.ssdBytes, databaseBytes: order.databaseBytes })
  } else if (order.op === 'hosts') {
    site?.setHosts(order.hosts)
  } else if (order.op === 'cron') {
    site
      ?.run('/wp-cron.php?doing_wp_cron')
      .catch((error) => say({ s: 'php', m: `wp-cron: ${String(error?.message ?? error).slice(0, 500)}` }))
  }
})
// The parent died or let go.
lines.on('close', () => process.exit(0))
process.on('SIGTERM', () => void end())
// Ctrl-C reaches the whole terminal group; the parent decides what ends when.
process.on('SIGINT', () => {})
