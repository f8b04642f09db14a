/**
 * Restarts work that no job has any more. Every state that a job must end (a server that is set up,
 * deleted or restarted, a backup that is made, a restore) is compared with the jobs that wait or
 * run; a missing job is added. The jobs read the row's state, so a superfluous job does no harm.
 */
import { sql } from 'kysely'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { WordpressDriver } from './driver.ts'
import { waitingWork } from './waiting-work.ts'

interface ResumeDeps {
  readonly db: Database
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
}

/** A row that waits for a job: the job's name and payload. */
interface Waiting {
  readonly job: string
  readonly payload: Record<string, string>
}

const atOnce = 500

/**
 * Rows in a state that only a job ends, without such a job waiting, running or due for a retry.
 * Each state has an index that finds its rows.
 */
async function withoutJob(tx: Tx, heldByRuntime: readonly string[]): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select waiting.job, jsonb_build_object(waiting.key, waiting.id) as payload
    from (${waitingWork(heldByRuntime)}) as waiting
    where not exists (
      select 1 from pgboss.job j where j.name = waiting.job
        and j.state in ('created', 'retry', 'active') and j.data ->> waiting.key = waiting.id)
    limit ${atOnce}`.execute(tx)
  return rows
}

/** Defines the sweep, every ten minutes; answers its function for callers that want it now. */
export function defineResuming({ db, log, jobs, driver }: ResumeDeps): () => Promise<void> {
  async function resume(): Promise<void> {
    const held = await driver.list()
    await transaction(db, async (tx) => {
      for (const { job, payload } of await withoutJob(tx, held)) {
        log.warn({ job, ...payload }, 'work that nobody had in hand is taken up')
        await jobs.add(tx, job, payload)
      }
    })
  }
  jobs.define({ name: 'resume-servers', cron: '*/10 * * * *', retries: 0, run: resume })
  return resume
}
