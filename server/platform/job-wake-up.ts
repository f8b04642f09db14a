/**
 * One query for all queues of a process, in place of a poll for each worker: it names the queues in
 * which a job is due, and their workers are woken. An idle process makes less than one query a
 * second for it, however many queues it has. A job that falls due waits little over a second.
 */

interface DueQueues {
  /** The queues that this process works on. */
  readonly names: readonly string[]
  query(text: string, values: unknown[]): Promise<{ rows: { name: string }[] }>
  wake(name: string): void
  onTrouble(error: unknown): void
}

const lookMs = 1200

/** An index probe a queue: the backlog of one costs the others nothing. */
const dueQueues = `select name from unnest($1::text[]) as queue (name) where exists (
  select from pgboss.job where job.name = queue.name and job.state < 'active'
    and not job.blocked and job.start_after <= now())`

/** Looks until it is stopped; `stop` waits for the look that is under way. */
export function watchDueQueues({ names, query, wake, onTrouble }: DueQueues): {
  stop(): Promise<void>
} {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> = Promise.resolve()

  async function look(): Promise<void> {
    try {
      const { rows } = await query(dueQueues, [names])
      if (!stopped) for (const { name } of rows) wake(name)
    } catch (error) {
      if (!stopped) onTrouble(error)
    }
    if (!stopped) timer = setTimeout(begin, lookMs)
  }
  function begin(): void {
    underWay = look()
  }
  begin()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
