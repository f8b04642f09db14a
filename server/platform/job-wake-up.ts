/**
 * One query for all queues of a process, in place of a poll for each worker: it names the queues in
 * which a job is due, whose workers are woken, and the moment at which the next one falls due. An
 * idle process makes a query every five seconds for it, however many queues it has. What another
 * process adds is told by a notice, or found by that query.
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
  /** Until the first job of the queue falls due, ms; below 0 it is. */
  readonly ms: number
}

export interface DueQueuesWatch {
  /** A job may fall due so much later, ms: it is looked for then. */
  lookIn(ms: number): void
  /** Waits for the look that is under way. */
  stop(): Promise<void>
}

/** Where a job is due, its workers may be busy or another process may be quicker. */
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
    // What is asked for during a look is asked for again after it.
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
