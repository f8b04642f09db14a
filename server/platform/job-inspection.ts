/**
 * Jobs as an operator sees them: how many wait, run and gave up, and the reason of each that gave
 * up. The operator can start one again. Reads the tables of pg-boss (its documented schema); the
 * running portal picks up a restarted job within seconds.
 */
import { sql } from 'kysely'
import { isUuid, type Queryable } from './db.ts'

export interface QueueState {
  readonly queue: string
  /** Waiting for their first run. */
  readonly waiting: number
  /** Failed, and tried again later. */
  readonly retrying: number
  readonly running: number
  readonly givenUp: number
  /** When the oldest that is due was to begin; null where none is due. */
  readonly oldestDueAt: Date | null
}

export interface GivenUpJob {
  readonly id: string
  readonly queue: string
  readonly payload: unknown
  /** The error of the last attempt, one line. */
  readonly reason: string
  readonly attempts: number
  readonly givenUpAt: Date
}

/** Which of the jobs that gave up are meant. */
export type JobChoice =
  | { readonly ids: readonly string[] }
  | { readonly queue: string }
  | { readonly all: true }

const longestReason = 300
/** Deleted in one statement, so that none runs into the statement timeout. */
const deletedAtOnce = 5000

export async function queueStates(db: Queryable): Promise<QueueState[]> {
  const { rows } = await sql<{
    queue: string
    waiting: bigint
    retrying: bigint
    running: bigint
    given_up: bigint
    oldest_due_at: Date | null
  }>`
    select q.name as queue,
      count(*) filter (where j.state = 'created') as waiting,
      count(*) filter (where j.state = 'retry') as retrying,
      count(*) filter (where j.state = 'active') as running,
      count(*) filter (where j.state = 'failed') as given_up,
      min(j.start_after) filter (where j.state in ('created', 'retry') and j.start_after <= now())
        as oldest_due_at
    from pgboss.queue q left join pgboss.job j on j.name = q.name and j.state <> 'completed'
    where q.name not like '\\_\\_pgboss\\_\\_%'
    group by q.name order by q.name`.execute(db)
  return rows.map((row) => ({
    queue: row.queue,
    waiting: Number(row.waiting),
    retrying: Number(row.retrying),
    running: Number(row.running),
    givenUp: Number(row.given_up),
    oldestDueAt: row.oldest_due_at,
  }))
}

export interface QueueCounts {
  readonly queue: string
  /** Due later: new ones, and those that failed and are tried again. */
  readonly deferred: number
  /** Due, and waiting for a worker. */
  readonly ready: number
  readonly running: number
}

/** The counts that pg-boss keeps, some seconds old: a query of one row per queue, not per job. */
export async function queueCounts(db: Queryable): Promise<QueueCounts[]> {
  const { rows } = await sql<{
    name: string
    deferred_count: number
    ready_count: number
    active_count: number
  }>`
    select name, deferred_count, ready_count, active_count from pgboss.queue
    where name not like '\\_\\_pgboss\\_\\_%'`.execute(db)
  return rows.map((row) => ({
    queue: row.name,
    deferred: row.deferred_count,
    ready: row.ready_count,
    running: row.active_count,
  }))
}

/** How long the oldest job that is due has waited, seconds; 0 where none is. */
export async function oldestDueSeconds(db: Queryable): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(extract(epoch from now() - min(start_after)), 0)::float8 as seconds
    from pgboss.job
    where state < 'active' and not blocked and start_after <= now()`.execute(db)
  return rows[0]?.seconds ?? 0
}

/**
 * How many jobs of each queue gave up. A failed run of a scheduled queue counts only until a later
 * run succeeds, because that run did its work.
 */
export async function givenUpByQueue(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await sql<{ queue: string; n: bigint }>`
    select f.name as queue, count(*) as n from pgboss.job f
    where f.state = 'failed' and not (
      exists (select 1 from pgboss.schedule s where s.name = f.name)
      and exists (
        select 1 from pgboss.job c
        where c.name = f.name and c.state = 'completed' and c.completed_on > f.completed_on))
    group by f.name`.execute(db)
  return new Map(rows.map(({ queue, n }) => [queue, Number(n)]))
}

/** Jobs that gave up, newest first, at most `limit`. */
export async function givenUpJobs(
  db: Queryable,
  of: { readonly queue?: string | undefined; readonly limit: number },
): Promise<GivenUpJob[]> {
  const { rows } = await sql<{
    id: string
    queue: string
    payload: unknown
    reason: string | null
    retry_count: number
    completed_on: Date
  }>`
    select id, name as queue, data as payload,
      coalesce(output ->> 'message', output #>> '{value,message}', output::text) as reason,
      retry_count, completed_on
    from pgboss.job
    where state = 'failed' and (${of.queue ?? null}::text is null
    or name = ${of.queue ?? null}::text)
    order by completed_on desc limit ${of.limit}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    queue: row.queue,
    payload: row.payload,
    reason: (row.reason ?? 'unknown').split('\n')[0]?.slice(0, longestReason) ?? '',
    attempts: row.retry_count + 1,
    givenUpAt: row.completed_on,
  }))
}

/** Starts jobs that gave up again, with one more attempt each; answers how many there were. */
export async function startAgain(db: Queryable, choice: JobChoice): Promise<number> {
  const ids = 'ids' in choice ? choice.ids.filter(isUuid) : null
  const queue = 'queue' in choice ? choice.queue : null
  const { numAffectedRows } = await sql`
    update pgboss.job set state = 'retry', retry_limit = retry_limit + 1, completed_on = null,
      start_after = now(), keep_until = greatest(keep_until, now() + interval '14 days')
    where state = 'failed'
      and (${ids === null ? null : [...ids]}::uuid[] is null
      or id = any(${ids === null ? null : [...ids]}::uuid[]))
      and (${queue}::text is null or name = ${queue}::text)`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/**
 * Jobs of a queue that wait or run, by one field of what they are handed: how often each failed,
 * and with what. Reads the jobs of the queue that are not done.
 */
export async function waitingJobs(
  db: Queryable,
  queue: string,
  key: string,
  values: readonly string[],
): Promise<ReadonlyMap<string, { readonly attempts: number; readonly reason: string | null }>> {
  if (values.length === 0) return new Map()
  const { rows } = await sql<{ value: string; retry_count: number; reason: string | null }>`
    select data ->> ${key}::text as value,
      -- pg-boss counts a try when it begins, so one that failed and waits is not counted yet.
      retry_count + (state = 'retry')::int as retry_count,
      coalesce(output ->> 'message', output #>> '{value,message}', output::text) as reason
    from pgboss.job
    where name = ${queue} and state in ('created', 'retry', 'active')
      and data ->> ${key}::text = any(${[...values]}::text[])
    order by created_on desc`.execute(db)
  return new Map(
    rows.map(({ value, retry_count: attempts, reason }) => [
      value,
      { attempts, reason: reason?.split('\n')[0]?.slice(0, longestReason) ?? null },
    ]),
  )
}

/**
 * Makes a waiting job due now; it is found by one field of its payload. `none`: no such job waits
 * or runs.
 */
export async function startNow(
  db: Queryable,
  queue: string,
  { key, value }: { readonly key: string; readonly value: string },
): Promise<'started' | 'running' | 'none'> {
  const { rows } = await sql<{ state: string }>`
    update pgboss.job set start_after = case when state = 'active' then start_after else now() end
    where name = ${queue} and state in ('created', 'retry', 'active')
      and data ->> ${key}::text = ${value}
    returning state`.execute(db)
  if (rows.some(({ state }) => state !== 'active')) return 'started'
  return rows.length > 0 ? 'running' : 'none'
}

/** Forgets what ended well more than a day ago; pg-boss itself keeps both kinds equally long. */
export async function forgetCompletedJobs(db: Queryable): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from pgboss.job where id in (
        select id from pgboss.job
        where state in ('completed', 'cancelled') and completed_on < now() - interval '1 day'
        limit ${deletedAtOnce})`.execute(db)
    if ((numAffectedRows ?? 0n) < deletedAtOnce) return
  }
}
