/**
 * Reconciles the database with the runtime every minute. A server that should run is started, one
 * that should not is stopped, and an unknown site is reported and, after a grace period, removed.
 */
import { sql } from 'kysely'
import { days, later, type Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { hasUnfinishedCopy } from './backup-store.ts'
import type { WordpressDriver } from './driver.ts'
import { siteById, specOf, type SiteAddressing } from './store.ts'

/**
 * Between the first sight of an orphan and its removal: time to notice a portal that was started on
 * another database.
 */
const graceMs = days(7)
/**
 * Rows of one query: a hundred bytes each, so that 100,000 servers are 20 queries of half a
 * megabyte.
 */
const comparedAtOnce = 5000
/** A site that takes a minute to start keeps no other waiting. */
const repairedTogether = 4

export interface ReconcileDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
}

export interface Reconciler {
  /** One round. */
  run(signal: AbortSignal): Promise<void>
  /** Sites of the runtime that the database does not know. */
  orphans(): Promise<number>
}

/** Where a site's containers should be: those of every other state are in the hands of a job. */
type Wanted = 'running' | 'stopped'
const wantedOf = (status: string): Wanted | undefined => {
  if (status === 'running') return 'running'
  if (status === 'suspended') return 'stopped'
  return undefined
}

export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { db, clock, log, driver } = deps

  /** True when something was done. */
  async function repair(siteId: string): Promise<boolean> {
    const site = await siteById(db, siteId)
    if (!site) return false
    const answering = (await driver.addresses(siteId)).length
    const wanted = wantedOf(site.status)
    if (wanted === 'stopped' && answering > 0) {
      // One that was resumed since it was read runs rightly.
      if ((await siteById(db, siteId))?.status !== site.status) return false
      log.warn({ site: site.name }, 'a suspended site was running')
      await driver.stop(siteId)
      const now = await siteById(db, siteId)
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
    if (answering === 0) log.warn({ site: site.name }, 'a site that should run did not')
    const now = await siteById(db, siteId)
    if (now?.status === 'suspended') await driver.stop(siteId)
    return answering === 0
  }

  /**
   * Servers that answer with fewer containers than they should have, or although they should not.
   * The runtime is asked once for all: a question for each of 100,000 would take longer than the
   * minute until the next round.
   */
  async function differing(signal: AbortSignal): Promise<{ id: string; name: string }[]> {
    const answering = new Map(Object.entries(await driver.answering()))
    const found: { id: string; name: string }[] = []
    for (let after = 0n; ;) {
      signal.throwIfAborted()
      const rows = await db
        .selectFrom('site')
        .select(['id', 'name', 'status', 'containers', 'seq'])
        .where('status', 'in', ['running', 'suspended'])
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

  /** One that does not come is no reason to leave the others. */
  async function repairAll(signal: AbortSignal): Promise<void> {
    const waiting = (await differing(signal)).values()
    const take = async (): Promise<void> => {
      for (const { id, name } of waiting) {
        signal.throwIfAborted()
        try {
          if (await repair(id)) deps.onChange()
        } catch (error) {
          log.error({ err: error, site: name }, 'a site could not be brought to what it should be')
        }
      }
    }
    await Promise.all(Array.from({ length: repairedTogether }, take))
  }

  async function clearOrphans(): Promise<void> {
    const held = await driver.list()
    // Text against text: what lies in the runtime may have any name.
    const { rows: known } = await sql<{ id: string }>`
      select id::text from site where id::text = any(${held}) and deleted_at is null`.execute(db)
    const ours = new Set(known.map(({ id }) => id))
    const orphans = held.filter((id) => !ours.has(id))
    const now = clock.now()
    await sql`delete from site_orphan where not id = any(${orphans})`.execute(db)
    for (const id of orphans) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('site_orphan')
        .values({ id, seen_at: now })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (numInsertedOrUpdatedRows === 1n)
        log.warn(
          { id, removedAt: later(now, graceMs) },
          'the runtime holds a site that nobody knows',
        )
    }
    const due = await db
      .selectFrom('site_orphan')
      .select('id')
      .where('seen_at', '<=', later(now, -graceMs))
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
    await repairAll(signal)
    await clearOrphans()
  }

  deps.jobs.define({
    name: 'reconcile-sites',
    cron: '* * * * *',
    retries: 0,
    limitSeconds: 1800,
    run: (_payload, { signal }) => run(signal),
  })

  return {
    run,
    async orphans() {
      const { n } = await db
        .selectFrom('site_orphan')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .executeTakeFirstOrThrow()
      return Number(n)
    },
  }
}
