import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../server/platform/db.ts'

/**
 * Waits until none of the portal's jobs waits or runs. It has no limit of its own, because each
 * test has one. One query covers all jobs, because a job adds the next before it ends itself.
 * Retries and jobs that follow in a moment are waited for. A job for much later, such as the query
 * to a gateway that has already answered, is not.
 */
export async function jobsIdle(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pgboss.job
      where state in ('created', 'retry', 'active') and not starts_with(name, '__pgboss__')
        and start_after < now() + interval '5 seconds'
      limit 1`.execute(db)
    if (rows.length === 0) return
    await pause(50)
  }
}
