/**
 * Whether servers that should run answer their visitors. A container may listen while its site is
 * broken (a destroyed database, a plugin that fails, no files), so each front page is asked for:
 * one that fails, or does not come, twice in a row is noted, counted in a gauge, and shown to its
 * owner and to the operator.
 */
import { sql } from 'kysely'
import { later, minutes, type Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { hasUnfinishedCopy } from './backup-store.ts'
import type { WordpressDriver } from './driver.ts'
import type { SiteAddressing } from './store.ts'

const everyMs = minutes(10)
/** After a look that found no answer. */
const recheckAfterFailureMs = minutes(1)
/** One run: at a quarter of a second a page, less than a minute's work. */
const checksAtOnce = 100
const together = 2
const failuresUntilDown = 2
/** Of one that is restarting: some five minutes. */
const failuresUntilDownRestarting = 5

interface HealthDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
}

export interface Health {
  /** Looks at every server that is due, until the signal is aborted. */
  checkDue(signal: AbortSignal): Promise<void>
}

/** A server that should answer and does not. */
export interface DownSite {
  readonly id: string
  readonly name: string
  readonly customerEmail: string
  readonly since: Date
  readonly reason: string
}

/** All of them, those that are down longest first. */
export async function downSites(db: Queryable): Promise<DownSite[]> {
  const rows = await db
    .selectFrom('site as s')
    .innerJoin('customer as c', 'c.id', 's.customer_id')
    .select(['s.id', 's.name', 'c.email', 's.down_since', 's.down_reason'])
    .where('s.status', '=', 'running')
    .where('s.down_since', 'is not', null)
    .orderBy('s.down_since')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    customerEmail: row.email,
    since: row.down_since ?? new Date(0),
    reason: row.down_reason ?? '',
  }))
}

export function defineHealth(deps: HealthDeps): Health {
  const { db, clock, log, driver } = deps

  /** Undefined when it answers. */
  async function failureOf(site: { id: string; name: string }): Promise<string | undefined> {
    try {
      const status = await driver.frontPage(site.id, `${site.name}.${deps.addressing.host}`)
      return status < 500 ? undefined : `the front page answers ${status}`
    } catch (error) {
      return (error as Error).message
    }
  }

  async function checkSite(site: { id: string; name: string }): Promise<void> {
    // What is being put back, or renewed, is on its way.
    if (await hasUnfinishedCopy(db, site.id)) {
      await db
        .updateTable('site')
        .set({ health_checked_at: clock.now() })
        .where('id', '=', site.id)
        .execute()
      return
    }
    const failure = await failureOf(site)
    const now = clock.now()
    const enough = sql<number>`case when generation = settled_generation
      then ${failuresUntilDown}::int else ${failuresUntilDownRestarting}::int end`
    const row = await db
      .updateTable('site')
      .set((eb) => ({
        health_checked_at: now,
        unanswered: failure === undefined ? 0 : eb('unanswered', '+', 1),
        down_reason: failure ?? null,
        down_since:
          failure === undefined
            ? null
            : sql<Date | null>`case when unanswered + 1 >= ${enough} then coalesce(down_since,
              ${now}) end`,
      }))
      .where('id', '=', site.id)
      .where('status', '=', 'running')
      .returning('down_since')
      .executeTakeFirst()
    if (row?.down_since?.getTime() === now.getTime())
      log.error({ site: site.name, why: failure }, 'a site that should answer does not')
  }

  async function checkDue(signal: AbortSignal): Promise<void> {
    const now = clock.now()
    const due = await db
      .selectFrom('site')
      .select(['id', 'name'])
      .where('status', '=', 'running')
      .where((eb) =>
        eb.or([
          eb('health_checked_at', 'is', null),
          eb('health_checked_at', '<=', later(now, -everyMs)),
          eb.and([
            eb('unanswered', '>', 0),
            eb('health_checked_at', '<=', later(now, -recheckAfterFailureMs)),
          ]),
        ]),
      )
      .orderBy('health_checked_at', (by) => by.asc().nullsFirst())
      .limit(checksAtOnce)
      .execute()
    const waiting = due.values()
    const take = async (): Promise<void> => {
      for (const site of waiting) {
        if (signal.aborted) return
        await checkSite(site)
      }
    }
    await Promise.all(Array.from({ length: together }, take))
  }

  deps.jobs.define({
    name: 'check-sites',
    cron: '* * * * *',
    retries: 0,
    limitSeconds: 600,
    run: (_payload, { signal }) => checkDue(signal),
  })
  return { checkDue }
}
