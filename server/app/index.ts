/**
 * Composes the modules: opens them in order, passes each its dependencies, and closes them. This is
 * the only folder that imports every module.
 */
import { openBase } from './base.ts'
import { openHttp, serveChecks, serveDocument, servePages } from './http.ts'
import { openNames, type Names } from './names.ts'
import type { AppParts } from './parts.ts'
import { openUpkeep } from './portal-upkeep.ts'
import { openRoutes } from './routes.ts'
import { openSites } from './sites.ts'

export type { AppParts, Timing } from './parts.ts'
export type App = Awaited<ReturnType<typeof openApp>>

/** Migrates and opens everything; nothing listens before `listen`. */
export async function openApp(parts: AppParts) {
  const base = await openBase(parts)
  // A node may answer as soon as it is known, and certificates are opened behind the sites.
  let names: Names | undefined
  const sites = openSites(base, () => names?.tls.onChange())
  names = openNames(base, sites)
  const { dns, tls } = names
  const { idempotency, locks } = openUpkeep(base, sites, names)
  const { http, connections, closure, load } = await openHttp(base, idempotency)
  const { sftp, support } = openRoutes(http, base, sites, names)
  await serveDocument(http, base)
  let ready = false
  const { server } = http
  serveChecks(server, base, sites, () => ready)
  servePages(server, base, sites)

  const { config, db, pool, notices, jobs, messages, ledger, bills, publications, topUps } = base
  const { accounts, realtime, versions, limits, tracing, isWorker } = base
  const { reconciler, resumeServers, siteHealth, watchSiteDisks, mailCollector } = sites
  const { updateRounds, nodes, moves, emptyNodes, mirrors, failover } = sites
  const { directory, coverage, logs, reports } = sites
  return {
    db,
    notices,
    jobs,
    messages,
    ledger,
    bills,
    publications,
    topUps,
    accounts,
    dns,
    tls,
    reconciler,
    resumeServers,
    siteHealth,
    watchSiteDisks,
    mailCollector,
    updateRounds,
    nodes,
    moves,
    emptyNodes,
    mirrors,
    failover,
    server,
    /** Opens the ports. Sites that should be running are started by a job. */
    async listen(): Promise<void> {
      await realtime.start()
      await closure.start()
      await nodes.start()
      failover?.start()
      await directory.start()
      await tls.feed.start()
      await dns.start()
      await jobs.start()
      await tls.begin()
      await coverage.look()
      await server.listen({ port: config.PORT, host: config.HOST })
      await sftp?.start()
      await reports?.start()
      await support.letters?.start()
      ready = true
      if (isWorker) {
        await reconciler.enqueue()
        mailCollector.start()
      }
    },
    /**
     * Another process answers from now on: takes no new call, has browsers open their channels
     * there, and resolves when what came before is answered. `close` is what follows.
     */
    async drain(): Promise<void> {
      directory.stop()
      tls.feed.stop()
      sftp?.stop()
      reports?.stop()
      support.letters?.stop()
      realtime.sockets.close()
      logs.close()
      await connections.begin()
    },
    /** Finishes the requests in progress. Customers' sites keep running. */
    async close(): Promise<void> {
      ready = false
      directory.stop()
      versions?.stop()
      await mailCollector.stop()
      failover?.stop()
      sites.archiveWatch.stop()
      nodes.stop()
      tls.feed.stop()
      realtime.sockets.close()
      logs.close()
      await Promise.all([
        server.close(),
        jobs.stop(),
        sftp?.close(),
        reports?.close(),
        support.letters?.close(),
      ])
      load.stop()
      closure.stop()
      await dns.stop()
      await tls.feed.idle()
      await realtime.stop()
      await limits.close()
      await locks.close()
      await pool.close()
      await tracing.close()
    },
  }
}
