/**
 * Durable jobs on pg-boss. A job is added in the business transaction, may run twice and must act
 * once. A killed worker's jobs come back at the next start, or after the heartbeat limit while
 * another portal lives. Workers in this process are woken at the commit; a process without workers
 * for the queue sends a notice to the others. For jobs that fall due, one query covers all queues
 * (job-wake-up.ts).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { fromKysely, PgBoss } from 'pg-boss'
import { connections } from './connection-budget.ts'
import { connectionConfig } from './database-client.ts'
import { onCommit, type Tx } from './db.ts'
import { watchDueQueues, type DueQueuesWatch } from './job-wake-up.ts'
import type { Log } from './log.ts'
import type { Notices } from './notices.ts'
import { traced } from './spans.ts'
import { createWorkerLease } from './worker-lease.ts'

export interface JobOptions {
  readonly startAfter?: Date
  /** It comes before those of its queue that wait with less; 0 where nothing is said. */
  readonly priority?: number
  /** It takes the place of those with the same payload that have not begun. */
  readonly replaces?: boolean
}

export interface Attempt {
  /** 1 for the first run. */
  readonly number: number
  /** True when no further attempt follows a failure. */
  readonly last: boolean
  /**
   * Aborted when the portal stops, or when the job was taken from this worker: an abort is no
   * failure of the work.
   */
  readonly signal: AbortSignal
}

export interface JobDefinition<P extends object> {
  readonly name: string
  /** How many at a time in this process. */
  readonly concurrency?: number
  /**
   * How often a failed run is tried again; `unlimited` for work that must end well, however long
   * the outside world is away.
   */
  readonly retries?: number | 'unlimited'
  /** Seconds before the first retry; doubled each time. */
  readonly retryDelaySeconds?: number
  /** The longest delay between tries, seconds; the delay doubles up to it. Default: a minute. */
  readonly longestDelaySeconds?: number
  /** Longest run of one attempt, seconds. */
  readonly limitSeconds?: number
  /**
   * Cron expression in UTC. At most one run waits: while a long run is under way, the runs of the
   * passing minutes do not pile up behind it.
   */
  readonly cron?: string
  readonly run: (payload: P, attempt: Attempt) => Promise<void>
}

export interface Jobs {
  /**
   * Adds a job in the caller's transaction. Payloads carry ids only. Throws for a payload of a job
   * with a cron: of those one waits at most, and others are dropped.
   */
  add(tx: Tx, name: string, payload: object, options?: JobOptions): Promise<void>
  define<P extends object>(job: JobDefinition<P>): void
  start(): Promise<void>
  /** Stops taking jobs, tells those in flight and waits for them (at most 10 s). */
  stop(): Promise<void>
  /** Undefined when the worker is healthy; otherwise the reason. */
  health(): Promise<string | undefined>
}

/** Fits PostgreSQL's int4; at one try a minute it lasts almost two thousand years. */
const unlimitedRetries = 1_000_000_000
const defaults = {
  concurrency: 1,
  retries: 8,
  retryDelaySeconds: 1,
  longestDelaySeconds: 60,
  limitSeconds: 300,
}
/**
 * Seconds without a sign of life after which a job is taken from a worker; pg-boss takes no less.
 */
const heartbeatSeconds = 10
/** Interval of the check for dead workers, which makes about six queries. */
const superviseSeconds = 20
/** A worker's own poll matters only if nobody woke it (job-wake-up.ts). */
const pollSeconds = 600
/** The NOTIFY channel of queues to which a process without workers for them added jobs. */
const addedChannel = 'portal_jobs'
/**
 * Time for pg-boss to store a failure and the next try's time, after which the queue is queried,
 * ms.
 */
const failureMs = 300
/** A job that waits longer is forgotten, unless it is tried without a limit. */
export const keptSeconds = 14 * 86_400
/** Fifty years, which pg-boss's int4 holds. */
const keptForeverSeconds = 50 * 365 * 86_400
/** A job that gave up can be listed and started again for this long (job-inspection.ts). */
const givenUpSeconds = 30 * 86_400
const stopMs = 10_000
/** Longest statement of the queue, its upkeep among them. */
const statementMs = 60_000

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'

const differs = (from: object, wanted: object): boolean =>
  Object.entries(wanted).some(([name, value]) => from[name as keyof typeof from] !== value)

/** A queue's settings, in pg-boss's own names. */
function queueSettings(job: JobDefinition<object>) {
  const unlimited = job.retries === 'unlimited'
  return {
    retryLimit: job.retries === 'unlimited' ? unlimitedRetries : (job.retries ?? defaults.retries),
    retryDelay: job.retryDelaySeconds ?? defaults.retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: job.longestDelaySeconds ?? defaults.longestDelaySeconds,
    expireInSeconds: job.limitSeconds ?? defaults.limitSeconds,
    heartbeatSeconds,
    retentionSeconds: unlimited ? keptForeverSeconds : keptSeconds,
    deleteAfterSeconds: givenUpSeconds,
  }
}

/**
 * `send`: this process only adds jobs, which a portal that runs now or later works on. `notices`:
 * not started yet.
 */
export function createJobs(
  url: string,
  log: Log,
  mode: 'work' | 'send' = 'work',
  notices?: Notices,
): Jobs {
  const boss = new PgBoss({
    ...(mode === 'send' && { supervise: false, schedule: false }),
    ...connectionConfig(url, {
      application_name: 'portal-jobs',
      statement_timeout: statementMs,
      query_timeout: statementMs + 5_000,
    }),
    max: connections.jobs,
    monitorIntervalSeconds: superviseSeconds,
    superviseIntervalSeconds: superviseSeconds,
    cronWorkerIntervalSeconds: 15,
    cronMonitorIntervalSeconds: 30,
    // No job of ours depends on another job.
    flowIntervalSeconds: 3600,
    queueCacheIntervalSeconds: 600,
    reindex: false,
    monitorVacuum: false,
  })
  const definitions: JobDefinition<object>[] = []
  const workers = new Map<string, string[]>()
  const stopping = new AbortController()
  let wakeUp: DueQueuesWatch | undefined
  const lease = createWorkerLease(url, log)
  let running = false
  let troubled = false
  boss.on('error', (error) => {
    troubled = true
    log.error({ err: error }, 'job queue')
  })

  const wake = (name: string): void => {
    if (running) for (const worker of workers.get(name) ?? []) boss.notifyWorker(worker)
  }
  notices?.on(addedChannel, {
    onNotice: (names) => names.split(' ').forEach(wake),
    onConnect: () => wakeUp?.lookIn(0),
  })

  /**
   * Requeues the jobs of killed workers: those that are marked as running while no other process
   * has a worker lease. They run again at once, and the kill does not count as an attempt. (pg-boss
   * alone would notice after the heartbeat limit and wait longer after each kill.)
   */
  async function requeueOrphanedJobs(session: pg.Client): Promise<void> {
    const { rowCount } = await session.query(
      `update pgboss.job set state = 'retry', started_on = null, start_after = now(),
        heartbeat_on = null where state = 'active'`,
    )
    if (rowCount) log.warn({ jobs: rowCount }, 'requeued the orphaned jobs of a killed worker')
  }

  /**
   * Creates the queues and schedules of this release that are missing. Existing ones are left
   * alone, so that a start costs three queries and not some four per queue.
   */
  async function prepareQueues(): Promise<void> {
    const database = boss.getDb()
    const present = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
    const missing: { name: string; options: object }[] = []
    for (const job of definitions) {
      const settings = queueSettings(job)
      const policy = job.cron === undefined ? 'standard' : 'short'
      const queue = present.get(job.name)
      if (!queue) missing.push({ name: job.name, options: { ...settings, policy } })
      else if (differs(queue, { ...settings, policy })) {
        // pg-boss changes no policy of a queue that is there; the next line has it read anew.
        await database.executeSql('update pgboss.queue set policy = $1 where name = $2', [
          policy,
          job.name,
        ])
        await boss.updateQueue(job.name, settings)
      }
    }
    // One call for all queues, in place of one `boss.createQueue` each.
    if (missing.length > 0)
      await database.executeSql(
        `select pgboss.create_queue(name, options)
          from jsonb_to_recordset($1::jsonb) as missing (name text, options jsonb)`,
        [JSON.stringify(missing)],
      )
    const scheduled = new Map((await boss.getSchedules()).map((one) => [one.name, one]))
    for (const { name, cron } of definitions) {
      const one = scheduled.get(name)
      if (cron !== undefined && (one?.cron !== cron || one.timezone !== 'UTC'))
        await boss.schedule(name, cron, {}, { tz: 'UTC' })
    }
  }

  return {
    async add(tx, name, payload, options = {}) {
      if (options.replaces)
        await sql`delete from pgboss.job where name = ${name} and state = 'created'
          and data = ${JSON.stringify(payload)}::jsonb`.execute(tx)
      const runsByItself = definitions.some((job) => job.name === name && job.cron !== undefined)
      if (runsByItself && Object.values(payload).some((value) => value !== undefined))
        throw new Error(`job ${name} runs by itself: one that waits would swallow a payload`)
      await boss.send(name, payload, {
        db: fromKysely(tx),
        ...(options.priority !== undefined && { priority: options.priority }),
        ...(options.startAfter && { startAfter: options.startAfter }),
      })
      const { startAfter } = options
      onCommit(tx, () => {
        if (startAfter) wakeUp?.lookIn(startAfter.getTime() - Date.now())
        else if (workers.has(name)) wake(name)
        else notices?.tell(addedChannel, name)
      })
    },
    define(job) {
      definitions.push(job as unknown as JobDefinition<object>)
    },
    async start() {
      await boss.start()
      if (mode === 'work') await lease.acquireWorkerLease(requeueOrphanedJobs)
      running = true
      // A process that only adds jobs prepares them too: it may be the first on this database.
      await prepareQueues()
      if (mode === 'send') return
      for (const job of definitions) {
        const { retryLimit: retries } = queueSettings(job)
        const ids: string[] = []
        workers.set(job.name, ids)
        for (let place = 0; place < (job.concurrency ?? defaults.concurrency); place++) {
          const id = await boss.work<object>(
            job.name,
            { batchSize: 1, pollingIntervalSeconds: pollSeconds, includeMetadata: true },
            async ([task]) => {
              if (!task) return
              const attempt = {
                number: task.retryCount + 1,
                last: task.retryCount >= retries,
                signal: AbortSignal.any([task.signal, stopping.signal]),
              }
              const named = { job: job.name, id: task.id, attempt: attempt.number }
              const began = performance.now()
              try {
                await traced({ name: `job ${job.name}`, kind: 'consumer', attributes: named }, () =>
                  job.run(task.data, attempt),
                )
                troubled = false
                log.debug({ ...named, ms: Math.round(performance.now() - began) }, 'job done')
              } catch (error) {
                // Work interrupted by the stop has not failed by itself.
                if (stopping.signal.aborted && isAbort(error))
                  log.info(named, 'job interrupted by the stop')
                else log[attempt.last ? 'error' : 'warn']({ err: error, ...named }, 'job failed')
                wakeUp?.lookIn(failureMs)
                throw error
              } finally {
                // The queue may hold more jobs: without this a worker sleeps after each one.
                // Scheduled queues are left out, because they rarely have more than one waiting
                // job.
                const own = ids[place]
                if (running && own !== undefined && job.cron === undefined) boss.notifyWorker(own)
              }
            },
          )
          ids.push(id)
        }
      }
      wakeUp = watchDueQueues({
        names: definitions.map(({ name }) => name),
        query: (text, values) => boss.getDb().executeSql(text, values),
        wake,
        onTrouble(error) {
          if (!troubled) log.error({ err: error }, 'job queue')
          troubled = true
        },
      })
    },
    async stop() {
      if (!running) return
      running = false
      stopping.abort()
      await wakeUp?.stop()
      // pg-boss itself looks for the end of its jobs twice a second, and so takes half a second to
      // stop when none is in progress.
      const began = Date.now()
      const stopped = Promise.all([...workers.keys()].map((name) => boss.offWork(name)))
      const limit = new AbortController()
      await Promise.race([stopped, pause(stopMs, undefined, { signal: limit.signal })])
      limit.abort()
      const leftMs = stopMs - (Date.now() - began)
      await boss.stop({ graceful: true, timeout: Math.max(leftMs, 0), close: true })
      await lease.release()
    },
    async health() {
      if (!running) return 'the job worker is not running'
      if (mode === 'work' && !lease.isHeld()) return 'the job worker has no lease'
      // Trouble is remembered until something succeeds. A queue may have nothing to do for hours;
      // then a successful query clears it.
      if (troubled && (await boss.schemaVersion().catch(() => null)) !== null) troubled = false
      return troubled ? 'the job queue has trouble with the database' : undefined
    },
  }
}
