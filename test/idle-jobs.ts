import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../server/platform/db.ts'

/**
 * Waits until no job waits or runs, delayed jobs included; without a limit of its own, since each
 * test has one. One query covers all queues, because a job adds the next one before it ends itself.
 */
export async function jobsIdle(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pgboss.job
      where state in ('created', 'retry', 'active') and not starts_with(name, '__pgboss__')
      limit 1`.execute(db)
    if (rows.length === 0) return
    await pause(50)
  }
}
