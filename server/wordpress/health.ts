/**
 * Checks whether running servers answer their visitors. A container may listen while its site is
 * broken (a destroyed database, a plugin that fails, no files), so each front page is fetched. One
 * that fails, or does not come, twice in a row is noted, counted in a gauge, and shown to its owner
 * and to the operator.
 */
import { sql, type RawBuilder } from 'kysely'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { workOnClaims } from '../platform/claims.ts'
import type { Database, Queryable } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { WordpressDriver } from './driver.ts'
import type { SiteAddressing } from './store.ts'

const everyMs = minutes(10)
/** How soon a server is checked again after a failure. */
const recheckAfterFailureMs = minutes(1)
/** Servers that a worker claims at a time. */
const takenAtOnce = 200
/**
 * Pages that are fetched in parallel: twice as many as check every server within its ten minutes,
 * at a quarter of a second a page. Where there are many servers, there are many machines.
 */
const [fewestTogether, mostTogether] = [2, 64]
const pageMs = 250
const failuresUntilDown = 2
/** For a server that is restarting: about five minutes. */
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
  /** Checks every server that is due, until the signal is aborted. */
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

interface Due {
  readonly id: string
  readonly name: string
  readonly unanswered: number
  readonly down_since: Date | null
  /** A backup is being made or restored. */
  readonly busy: boolean
}

/** All servers that are down, the longest first. */
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

  /** The failure of the front page; undefined when it answers. */
  async function failureOf(site: { id: string; name: string }): Promise<string | undefined> {
    try {
      const status = await driver.frontPage(site.id, `${site.name}.${deps.addressing.host}`)
      return status < 500 ? undefined : `the front page answers ${status}`
    } catch (error) {
      return (error as Error).message
    }
  }

  async function checkSite(site: Due): Promise<void> {
    // A server whose backup is made or restored, or that is renewed, may be briefly away.
    if (site.busy) return
    const failure = await failureOf(site)
    if (failure === undefined && site.unanswered === 0 && site.down_since === null) return
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

  /**
   * Claims servers that are due, by storing that they were checked now: no other worker takes them.
   * If this worker ends, they are due again ten minutes later.
   */
  async function claim(condition: RawBuilder<unknown>): Promise<Due[]> {
    const { rows } = await sql<Due>`
      update site set health_checked_at = ${clock.now()}
      where id = any (array(
        select id from site where status = 'running' and ${condition}
        order by health_checked_at nulls first limit ${takenAtOnce} for update skip locked))
      returning id, name, unanswered, down_since,
        exists (select from site_backup b where b.site_id = site.id and b.state = 'making')
        or exists (select from site_restore r where r.site_id = site.id
          and r.state = 'restoring') as busy`.execute(db)
    return rows
  }
  /** Each condition has an index that finds its rows. */
  async function claimDue(): Promise<Due[]> {
    const now = clock.now()
    for (const condition of [
      sql`health_checked_at is null`,
      sql`health_checked_at <= ${later(now, -everyMs)}`,
      sql`unanswered > 0 and health_checked_at <= ${later(now, -recheckAfterFailureMs)}`,
    ]) {
      const due = await claim(condition)
      if (due.length > 0) return due
    }
    return []
  }

  async function countRunning(): Promise<number> {
    const { n } = await db
      .selectFrom('site')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow()
    return Number(n)
  }

  async function checkDue(signal: AbortSignal): Promise<void> {
    const needed = Math.ceil(((await countRunning()) * pageMs * 2) / everyMs)
    const together = Math.min(mostTogether, Math.max(fewestTogether, needed))
    await workOnClaims({ claim: claimDue, act: checkSite, together, signal })
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
