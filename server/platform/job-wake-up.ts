/**
 * One query for all queues of a process, in place of a poll per worker. It names the queues with a
 * due job, whose workers are woken, and the time at which the next job falls due. An idle process
 * runs it every five seconds, independent of the number of queues. Jobs that another process adds
 * are reported by a notice, or found by that query.
 */

interface DueQueues {
  /** The queues that this process works on. */
  readonly names: readonly string[]
  query(text: string, values: unknown[]): Promise<{ rows: Found[] }>
  wake(name: string): void
  onTrouble(error: unknown): void
}
interface Found {
  readonly name: string
  /** Time until the queue's first job falls due, ms; negative if it is due. */
  readonly ms: number
}

export interface DueQueuesWatch {
  /** Schedules a query in `ms`, because a job may fall due then. */
  lookIn(ms: number): void
  /** Waits for the look that is under way. */
  stop(): Promise<void>
}

/**
 * Interval of the query while a job is due: its workers may be busy, or another process may take
 * it.
 */
const lookWhileDueMs = 1200
const lookMs = 5000
/** Jobs that fall due shortly after each other are found together. */
const shortestMs = 50

/** An index probe a queue: the backlog of one costs the others nothing. */
const dueQueues = `select queue.name, extract(epoch from first.start_after - now())::float8 * 1000
    as ms
  from unnest($1::text[]) as queue (name) cross join lateral (
    select start_after from pgboss.job where job.name = queue.name and job.state < 'active'
      and not job.blocked order by job.start_after limit 1) as first`

/** Looks until it is stopped. */
export function watchDueQueues({ names, query, wake, onTrouble }: DueQueues): DueQueuesWatch {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let at = 0
  let underWay: Promise<void> | undefined

  async function look(): Promise<void> {
    let nextMs = lookMs
    try {
      const { rows } = await query(dueQueues, [names])
      for (const { name, ms } of rows) {
        if (ms <= 0 && !stopped) wake(name)
        nextMs = Math.min(nextMs, ms <= 0 ? lookWhileDueMs : ms)
      }
    } catch (error) {
      if (!stopped) onTrouble(error)
      nextMs = lookWhileDueMs
    }
    underWay = undefined
    lookIn(nextMs)
  }
  function begin(): void {
    at = Number.POSITIVE_INFINITY
    underWay = look()
  }
  function lookIn(ms: number): void {
    const then = performance.now() + Math.max(shortestMs, ms)
    if (stopped || (underWay === undefined && then >= at)) return
    // A request during a query is repeated after it.
    if (underWay !== undefined) return void underWay.then(() => lookIn(ms))
    clearTimeout(timer)
    at = then
    timer = setTimeout(begin, then - performance.now())
  }
  begin()
  return {
    lookIn,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
