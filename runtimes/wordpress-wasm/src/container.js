// One container of one site: it handles the orders that the portal sends on the control channel.
// README.md describes the protocol.
import fs from 'node:fs'
import { Worker } from 'node:worker_threads'
import { openControl } from './control.js'
import { createSiteServer } from './http.js'
import { allowListening, createNetworkPolicy, installNetworkGuard } from './network-guard.js'

/**
 * Reads the boot order, has `boot` make what answers the site's pages, and listens.
 * @param {(order: object, say: (line: object) => void) => Promise<{php: object, budget: object,
 *   install: (order: object) => Promise<{already?: true}>}>} boot
 */
export function runContainer(boot) {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  let booted = false
  const { send, sendLast } = openControl({
    onLine: handleOrder,
    // The parent died or let go.
    onEnd: () => process.exit(0),
  })
  const fatal = (error) => {
    sendLast({
      ev: 'fatal',
      rejected: error?.rejected === true,
      m: String(error?.stack ?? error).slice(0, 4_000),
    })
    process.exit(1)
  }
  process.on('uncaughtException', (error) => {
    // A socket that PHP opened and the guard or the far end cut: not a reason to end the site.
    if (['EACCES', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ETIMEDOUT'].includes(error?.code)) return
    fatal(error)
  })
  process.on('unhandledRejection', (error) =>
    send({ s: 'php', m: `unhandled: ${String(error?.message ?? error).slice(0, 1_000)}` }),
  )
  // Log text; the reader may be gone.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})

  // Where the system does not end this process with its parent (README): PHP can hold the main
  // thread.
  if (process.argv.includes('--watch-parent'))
    new Worker(new URL('./parent-watch.js', import.meta.url), {
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

  async function open(order) {
    installNetworkGuard(createNetworkPolicy(order), (target) =>
      send({ s: 'net-denied', m: target }),
    )
    order.siteDir = fs.realpathSync(order.siteDir)
    fs.mkdirSync(order.internalDir, { recursive: true })
    order.internalDir = fs.realpathSync(order.internalDir)
    const made = await boot(order, send)
    budget = made.budget
    if (order.install) {
      const { already } = await made.install(order.install)
      order.install = null
      send({ ev: 'installed', already: already === true, ms: elapsed() })
    }
    site = createSiteServer({
      php: made.php,
      order,
      log: send,
      onStuck: (why) => fatal(new Error(why)),
    })
    allowListening(false, () =>
      site.server.listen(0, '127.0.0.1', () =>
        send({ ev: 'listening', port: site.server.address().port, ms: elapsed(), ...budget.told }),
      ),
    )
    setInterval(
      () => send({ ev: 'beat', rss: process.memoryUsage.rss(), ...budget.told }),
      5_000,
    ).unref()
  }

  function handleOrder(order) {
    if (!booted) {
      booted = true
      open(order).catch(fatal)
    } else if (order.op === 'limits') {
      budget?.resize({ ssd: order.ssdBytes, database: order.databaseBytes })
      send({ ev: 'limits', ssdBytes: order.ssdBytes, databaseBytes: order.databaseBytes })
    } else if (order.op === 'hosts') {
      site?.setHosts(order.hosts)
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
