/** Jobs and figures that are about the portal itself. */
import { defineGauges } from '../gauges/index.ts'
import { definePortalBackups } from '../portal-backup/index.ts'
import { createSessionLocks } from '../platform/session-locks.ts'
import { defineUpkeep } from '../upkeep.ts'
import * as wordpress from '../wordpress/index.ts'
import type { Base } from './base.ts'
import type { Names } from './names.ts'
import type { Sites } from './sites.ts'

export function openUpkeep(base: Base, sites: Sites, names: Names) {
  const { config, db, pool, clock, log, jobs, limits, accounts, messages, metrics, bills } = base
  const { realtime, drivers, secrets } = base
  const { nodes, otherNodes, reconciler, archives } = sites
  const { tls, dns } = names
  const locks = createSessionLocks(base.databaseUrl)
  const idempotency = { db, secrets, clock, locks, underWay: new Set<bigint>() }
  defineUpkeep({
    db,
    clock,
    log,
    jobs,
    limits,
    idempotency,
    accounts,
    messages,
    certificates: tls,
    dnsChallenges: dns.challenges,
    outbox: realtime,
    dataDir: config.DATA_DIR,
  })
  definePortalBackups({ ...base, archives, db, jobs, metrics, driver: nodes.driver })
  defineGauges({
    db,
    pool: pool.pool,
    poolSize: config.DATABASE_CONNECTION_POOL_MAX,
    clock,
    metrics,
    waitingSubscriptions: bills.waiting,
    connections: () => realtime.connections(),
    orphans: reconciler.orphans,
    unremovedSites: () => nodes.driver.unremoved(),
    room: () => nodes.driver.room(),
    mirrors: sites.mirrors.counts,
    missingArchives: sites.archiveWatch.missing,
    nodes: async () =>
      (await wordpress.listNodes(db)).map((node) => ({ ...node, free: wordpress.freeOn(node) })),
    waitingMessages: messages.waiting,
    processes: drivers.processes,
    ownNode: config.NODE_NAME,
    otherNodes: () => new Map([...otherNodes].map(([id, { figures }]) => [id, figures])),
    gateways: [...drivers.payments.keys()],
    dataDir: config.DATA_DIR,
  })
  return { idempotency, locks }
}
