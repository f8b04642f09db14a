/**
 * Visits to servers and their use of resources over time: read every five minutes from the machines
 * that run them, and kept ever more coarsely for 90 days (decision 85).
 */
import { sql, type RawBuilder } from 'kysely'
import {
  usageRanges,
  type UsageHistory,
  type UsagePoint,
  type UsageRange,
} from '../../contract/wordpress-usage.ts'
import { timeOfShare } from '../platform/answer-times.ts'
import { dropOld } from '../platform/batches.ts'
import { hours, later, minutes } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { keptMs } from '../platform/retention.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EdgeControl, SpanUsage } from './directory.ts'

/** Rows that are read and written at a time. */
const batch = 2_000
/** How long rows are kept, by the minutes that a row covers. */
const kept = {
  5: keptMs('site_usage', '5'),
  60: keptMs('site_usage', '60'),
  1_440: keptMs('site_usage', '1440'),
} as const
/** Rows of `of` minutes are summed up to rows of `to` minutes. */
const sums = [
  { of: 5, to: 60 },
  { of: 60, to: 1_440 },
] as const
/** Sums are made for one part of the servers at a time, so that no statement takes long. */
const parts = 16

interface UsageDeps {
  readonly db: Database
  readonly jobs: Jobs
  readonly log: Log
  readonly edges: () => readonly {
    readonly node: string
    readonly edge: Pick<EdgeControl, 'usage'>
  }[]
}

/** Stores rows that are new: a past span does not change, and may be reported again. */
async function write(db: Database, rows: readonly SpanUsage[]): Promise<void> {
  const column = (of: (row: SpanUsage) => number): RawBuilder<unknown> =>
    sql`${rows.map((row) => Math.min(2_147_483_647, Math.max(0, Math.round(of(row)))))}::int[]`
  // unnest() flattens arrays of arrays, so each inner array is passed as text.
  const times = rows.map((row) => `{${row.times.map((count) => Math.round(count)).join(',')}}`)
  await sql`
    insert into site_usage (site_id, minutes, at, requests, client_errors, server_errors, cached,
      total_ms, times, memory_mb, cpu_ms, files_mb, database_mb)
    select u.site, 5, to_timestamp(u.at / 1000.0), u.requests, u.client_errors, u.server_errors,
      u.cached, u.total_ms, u.times::int[], u.memory_mb, u.cpu_ms, u.files_mb, u.database_mb
    from unnest(${rows.map(({ site }) => site)}::uuid[],
      ${rows.map(({ at }) => at)}::double precision[], ${column((row) => row.requests)},
      ${column((row) => row.clientErrors)}, ${column((row) => row.serverErrors)},
      ${column((row) => row.cached)}, ${column((row) => row.totalMs)}, ${times}::text[],
      ${column((row) => row.memoryMb)}, ${column((row) => row.cpuMs)},
      ${column((row) => row.filesMb)}, ${column((row) => row.databaseMb)})
      as u (site, at, requests, client_errors, server_errors, cached, total_ms, times, memory_mb,
        cpu_ms, files_mb, database_mb)
    where exists (select from site where site.id = u.site)
    on conflict do nothing`.execute(db)
}

/** The sums of rows of `of` minutes, as rows of `to` minutes. */
const summed = (of: number, to: number, which: RawBuilder<unknown>): RawBuilder<UsageSums> => sql`
  with fine as (
    select date_bin(make_interval(mins => ${to}::int), u.at, 'epoch') as span, u.*
    from site_usage u where u.minutes = ${of} and ${which}
  ), counted as (
    select f.site_id, f.span, t.place, sum(t.count) as count
    from fine f cross join unnest(f.times) with ordinality as t (count, place) group by 1, 2, 3
  ), arrays as (
    select site_id, span, array_agg(count::int order by place) as times from counted group by 1, 2
  )
  select f.site_id, ${to}::smallint as minutes, f.span as at, sum(f.requests)::int as requests,
    sum(f.client_errors)::int as client_errors, sum(f.server_errors)::int as server_errors,
    sum(f.cached)::int as cached, sum(f.total_ms)::bigint as total_ms, a.times,
    max(f.memory_mb) as memory_mb, sum(f.cpu_ms)::bigint as cpu_ms, max(f.files_mb) as files_mb,
    max(f.database_mb) as database_mb
  from fine f join arrays a on a.site_id = f.site_id and a.span = f.span
  group by f.site_id, f.span, a.times`

interface UsageSums {
  readonly at: Date
  readonly requests: number
  readonly client_errors: number
  readonly server_errors: number
  readonly cached: number
  readonly times: number[]
  readonly memory_mb: number
  readonly cpu_ms: bigint
  readonly files_mb: number
  readonly database_mb: number
}

/** The end of the newest row of `of` minutes; null: there is none. */
async function summedUntil(db: Queryable, of: number): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select max(at) as at from site_usage where minutes = ${of}`.execute(db)
  const at = rows[0]?.at
  return at ? later(at, minutes(of)) : null
}

/** The beginning of the span of `of` minutes that `now` lies in. */
const beginOf = (now: Date, of: number): Date =>
  new Date(Math.floor(now.getTime() / minutes(of)) * minutes(of))

/**
 * The newest spans are summed up again, this many: an interrupted run or a late machine left rows
 * out.
 */
const spansAgain = 2

/**
 * The moment from which on rows are summed up. Of the spans before `since` only those count of
 * which every row is still kept: a sum of the remaining rows would be too small.
 */
function sumsFrom(since: Date, now: Date, { of, to }: (typeof sums)[number]): Date {
  const again = later(since, -spansAgain * minutes(to))
  const whole = beginOf(later(now, minutes(to) - kept[of]), to)
  return new Date(Math.min(since.getTime(), Math.max(again.getTime(), whole.getTime())))
}

/**
 * Sums up past hours, then past days, and deletes old rows. Machines keep half an hour
 * (site-usage.ts), so late rows belong to a span that is summed up again. `now`: by the system
 * clock, as the rows are, and not by the clock that tests turn.
 */
export async function sumUpUsage(db: Database, now = new Date()): Promise<void> {
  for (const sum of sums) {
    const { of, to } = sum
    const since = (await summedUntil(db, to)) ?? later(now, -kept[of])
    const from = sumsFrom(since, now, sum)
    const until = beginOf(now, to)
    for (let part = 0; part < parts && from < until; part++) {
      const first = `${part.toString(16)}0000000-0000-0000-0000-000000000000`
      const last = `${part.toString(16)}fffffff-ffff-ffff-ffff-ffffffffffff`
      await sql`
        insert into site_usage (site_id, minutes, at, requests, client_errors, server_errors,
          cached, total_ms, times, memory_mb, cpu_ms, files_mb, database_mb)
        ${summed(
          of,
          to,
          sql`u.at >= ${from} and u.at < ${until}
            and u.site_id between ${first}::uuid and ${last}::uuid`,
        )}
        on conflict (site_id, minutes, at) do update set requests = excluded.requests,
          client_errors = excluded.client_errors, server_errors = excluded.server_errors,
          cached = excluded.cached, total_ms = excluded.total_ms, times = excluded.times,
          memory_mb = excluded.memory_mb, cpu_ms = excluded.cpu_ms,
          files_mb = excluded.files_mb, database_mb = excluded.database_mb
        where (site_usage.requests, site_usage.cpu_ms, site_usage.memory_mb, site_usage.files_mb,
          site_usage.database_mb) is distinct from (excluded.requests, excluded.cpu_ms,
          excluded.memory_mb, excluded.files_mb, excluded.database_mb)`.execute(db)
    }
  }
  await dropOld(db, { now: () => now }, 'site_usage')
}

/** Defines the reading and the summing; answers the reading for callers that want it now. */
export function defineUsage({ db, jobs, log, edges }: UsageDeps): () => Promise<void> {
  /**
   * The last row that this process read from a node; another process reads what the node still has.
   */
  const lastOf = new Map<string, { at: number; site: string }>()

  async function read(node: string, edge: Pick<EdgeControl, 'usage'>): Promise<void> {
    let rows: readonly SpanUsage[]
    do {
      rows = await edge.usage(lastOf.get(node) ?? null, batch)
      if (rows.length > 0) await write(db, rows)
      const last = rows.at(-1)
      if (last) lastOf.set(node, { at: last.at, site: last.site })
    } while (rows.length === batch)
  }
  async function readAll(): Promise<void> {
    for (const { node, edge } of edges())
      try {
        await read(node, edge)
      } catch (error) {
        log.warn({ err: error, node }, 'reading what sites were visited')
      }
  }
  jobs.define({ name: 'read-usage', cron: '1-59/5 * * * *', retries: 0, run: readAll })
  jobs.define({
    name: 'sum-usage',
    cron: '8 * * * *',
    retries: 1,
    limitSeconds: 1_800,
    run: () => sumUpUsage(db),
  })
  return readAll
}

function pointOf(row: UsageSums, of: number): UsagePoint {
  return {
    at: row.at.toISOString(),
    requests: row.requests,
    clientErrors: row.client_errors,
    serverErrors: row.server_errors,
    cached: row.cached,
    medianMs: timeOfShare(row.times, 0.5),
    p95Ms: timeOfShare(row.times, 0.95),
    memory: row.memory_mb,
    cpu: Math.round((Number(row.cpu_ms) / minutes(of)) * 1_000) / 10,
    disk: row.files_mb,
    mariadb_disk_size: row.database_mb,
  }
}

/** The usage of a server; an hour or day that is not over is included as far as it is known. */
export async function usageOf(
  db: Queryable,
  siteId: string,
  range: UsageRange,
  now = new Date(),
): Promise<UsageHistory> {
  const { hours: shown, minutes: of } = usageRanges[range]
  const from = beginOf(later(now, -hours(shown)), of)
  const { rows: stored } = await sql<UsageSums>`
    select * from site_usage
    where site_id = ${siteId} and minutes = ${of} and at >= ${from} order by at`.execute(db)
  const last = stored.at(-1)
  const open = last ? later(last.at, minutes(of)) : from
  const fresh =
    of === 5
      ? []
      : (await summed(5, of, sql`u.site_id = ${siteId} and u.at >= ${open}`).execute(db)).rows
  const all = [...stored, ...fresh.toSorted((one, other) => one.at.getTime() - other.at.getTime())]
  return {
    from: from.toISOString(),
    to: now.toISOString(),
    minutes: of,
    points: all.map((row) => pointOf(row, of)),
  }
}
