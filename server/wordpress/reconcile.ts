/**
 * Reconciles the database with the nodes every minute, at the start of the portal and when a node
 * comes back. A server that should run is started, one that should not is stopped, and an unknown
 * site is reported and, after a grace period, removed. A node that cannot be reached is left alone.
 */
import { sql } from 'kysely'
import { days, later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { hasUnfinishedCopy } from './backup-store.ts'
import type { WordpressDriver } from './driver.ts'
import { copiesHeldBy } from './move-store.ts'
import { within } from './within.ts'
import { firstNode, siteById, specOf, type SiteAddressing, type SiteRow } from './store.ts'

/**
 * Between the first sight of an orphan and its removal: time to notice a portal that was started on
 * another database.
 */
const graceMs = days(7)
/**
 * Rows of one query: at a hundred bytes each, 100,000 servers are 20 queries of half a megabyte.
 */
const comparedAtOnce = 5000
/** Repairs in parallel, so that a site that takes a minute to start keeps no other waiting. */
const repairedTogether = 4

export interface ReconcileDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  /** The nodes that can be reached now. */
  readonly nodes: () => readonly { readonly node: string; readonly driver: WordpressDriver }[]
  readonly addressing: SiteAddressing
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
}

export interface Reconciler {
  /** Does one round. */
  run(signal: AbortSignal): Promise<void>
  /** Has a round begin soon, in whichever process, because this one starts or a node came back. */
  enqueue(): Promise<void>
  /** How many sites the runtime holds that the database does not know. */
  orphans(): Promise<number>
}

/** The wanted state of a site's containers. In every other state of the server a job decides. */
type Wanted = 'running' | 'stopped'
const wantedOf = (status: string): Wanted | undefined => {
  if (status === 'running') return 'running'
  if (status === 'suspended') return 'stopped'
  return undefined
}

/** A boot may wait for others and takes up to three minutes. */
const repairMs = minutes(5)
const jobName = 'reconcile-sites'

export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { db, clock, log } = deps

  /**
   * The server's row, if it is on the node now: the list of a round may be half an hour old, and
   * leftovers of a moved server must not start beside it.
   */
  async function here(node: string, siteId: string): Promise<SiteRow | undefined> {
    const site = await siteById(db, siteId)
    return site && (site.node_id ?? firstNode) === node ? site : undefined
  }

  /** Repairs one server; true when something was done. */
  async function repair(node: string, driver: WordpressDriver, siteId: string): Promise<boolean> {
    const site = await here(node, siteId)
    if (!site) return false
    const answering = (await driver.addresses(siteId)).length
    const wanted = wantedOf(site.status)
    if (wanted === 'stopped' && answering > 0) {
      // A server that was resumed since the read runs rightly.
      if ((await here(node, siteId))?.status !== site.status) return false
      log.warn({ site: site.name }, 'a suspended site was running')
      await driver.stop(siteId)
      const now = await here(node, siteId)
      if (now && wantedOf(now.status) === 'running')
        await driver.start(await specOf(db, deps.addressing, now))
      return true
    }
    if (
      wanted !== 'running' ||
      answering >= site.containers ||
      (await hasUnfinishedCopy(db, siteId))
    )
      return false
    // A temporary lack of containers is the driver's concern; it reports nothing while containers
    // are starting.
    await driver.start(await specOf(db, deps.addressing, site))
    if (answering === 0) log.info({ site: site.name }, 'a site that should run did not')
    const now = await here(node, siteId)
    // A server that was moved away meanwhile takes no visitor here any more.
    const isAway = !now && !(await hasUnfinishedCopy(db, siteId))
    if (isAway || now?.status === 'suspended') await driver.stop(siteId)
    return answering === 0
  }

  /**
   * Servers of a node that answer with fewer containers than they should have, or although they
   * should not. The node is asked once for all: a question for each of 100,000 would take longer
   * than the minute until the next round.
   */
  async function differing(
    node: string,
    driver: WordpressDriver,
    signal: AbortSignal,
  ): Promise<{ id: string; name: string }[]> {
    const answering = new Map(Object.entries(await driver.answering()))
    const found: { id: string; name: string }[] = []
    for (let after = 0n; ;) {
      signal.throwIfAborted()
      const rows = await db
        .selectFrom('site')
        .select(['id', 'name', 'status', 'containers', 'seq'])
        .where('status', 'in', ['running', 'suspended'])
        .where(sql`coalesce(node_id, ${firstNode}::text)`, '=', node)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(comparedAtOnce)
        .execute()
      for (const { id, name, status, containers } of rows) {
        const count = answering.get(id) ?? 0
        if (wantedOf(status) === 'running' ? count < containers : count > 0)
          found.push({ id, name })
      }
      const last = rows.at(-1)
      if (!last || rows.length < comparedAtOnce) return found
      after = last.seq
    }
  }

  /** Repairs all differing servers; a failure does not stop the others. */
  async function repairAll(
    node: string,
    driver: WordpressDriver,
    signal: AbortSignal,
  ): Promise<void> {
    const waiting = (await differing(node, driver, signal)).values()
    const take = async (): Promise<void> => {
      for (const { id, name } of waiting) {
        signal.throwIfAborted()
        try {
          if (await within(repairMs, 'a repair took too long', repair(node, driver, id), signal))
            deps.onChange()
        } catch (error) {
          signal.throwIfAborted()
          log.error({ err: error, site: name }, 'a site could not be brought to what it should be')
        }
      }
    }
    await Promise.all(Array.from({ length: repairedTogether }, take))
  }

  async function clearOrphans(node: string, driver: WordpressDriver): Promise<void> {
    const held = await driver.list()
    const ofNode = sql<boolean>`coalesce(node_id, ${firstNode}::text) = ${node}`
    // Both sides as text, because entries in the runtime may have any name. A server that was moved
    // to another node is an orphan here.
    const { rows: known } = await sql<{ id: string }>`
      select id::text from site
      where id::text = any(${held}) and deleted_at is null and ${ofNode}`.execute(db)
    const ours = new Set([...known.map(({ id }) => id), ...(await copiesHeldBy(db, node))])
    const orphans = held.filter((id) => !ours.has(id))
    const now = clock.now()
    await sql`delete from site_orphan where ${ofNode} and not id = any(${orphans})`.execute(db)
    for (const id of orphans) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('site_orphan')
        .values({ id, seen_at: now, node_id: node })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (numInsertedOrUpdatedRows === 1n)
        log.warn(
          { id, node, removedAt: later(now, graceMs) },
          'the runtime holds a site that nobody knows',
        )
    }
    const due = await db
      .selectFrom('site_orphan')
      .select('id')
      .where('seen_at', '<=', later(now, -graceMs))
      .where(ofNode)
      .execute()
    // More unknown sites than known ones: this is more likely the wrong database than that many
    // leftovers.
    if (due.length > 0 && orphans.length > ours.size) {
      log.error(
        { orphans: orphans.length, known: ours.size },
        'more sites are unknown than known: none is removed',
      )
      return
    }
    for (const { id } of due) {
      log.warn({ id }, 'removing a site that nobody knows')
      await driver.remove(id)
      await db.deleteFrom('site_orphan').where('id', '=', id).execute()
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    for (const { node, driver } of deps.nodes())
      try {
        await repairAll(node, driver, signal)
        await clearOrphans(node, driver)
      } catch (error) {
        signal.throwIfAborted()
        // The other nodes may be all right.
        log.error({ err: error, node }, 'a node could not be compared with the database')
      }
  }

  deps.jobs.define({
    name: jobName,
    cron: '* * * * *',
    retries: 0,
    limitSeconds: 1800,
    run: (_payload, { signal }) => run(signal),
  })

  return {
    run,
    enqueue: () => transaction(db, (tx) => deps.jobs.add(tx, jobName, {})),
    async orphans() {
      const { n } = await db
        .selectFrom('site_orphan')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow()
      return Number(n)
    },
  }
}
