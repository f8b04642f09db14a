import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../server/platform/db.ts'

/**
 * Waits until no job of the portal's waits or runs; without a limit of its own, since each test has
 * one. In one look at all of them: a job adds the next before it is over itself. A retry and a job
 * that follows in a moment are waited for; one for much later, such as the question to a gateway
 * that has answered already, is not.
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
