/**
 * Rows in a state that only a job ends: a server that is set up, changed, deleted or cleaned away,
 * a backup that is made, a restore. `resume.ts` adds a job where one is missing; `stuckWork` lists
 * work that does not come to an end.
 */
import { sql, type RawBuilder } from 'kysely'
import { isUuid, type Queryable } from '../platform/db.ts'
import { makeJob } from './backup-store.ts'
import { restoreJob } from './backup-store.ts'
import { ensureJob } from './change.ts'
import { buildJob, switchJob } from './import-store.ts'
import { rescueJob } from './lost-store.ts'
import { moveJob } from './move-store.ts'
import { provisionJob } from './order.ts'
import { rewriteJob } from './primary.ts'
import { sendMailJob } from './mail/store.ts'
import { alignJobs } from './product.ts'
import { updateJob } from './update-store.ts'

/**
 * A query of all such rows: job, the key of its payload and that key's value, the server, and the
 * kind of work. Each part has an index that finds its rows.
 *
 * @param heldByRuntime servers of which a node holds something
 */
export const waitingWork = (heldByRuntime: readonly string[]): RawBuilder<unknown> => sql`
  select ${provisionJob}::text as job, 'siteId'::text as key, id::text, id as site_id,
    'set_up' as work from site where status = 'provisioning'
  union all
  select ${provisionJob}, 'siteId', id::text, id, 'clean_up' from site
    where status = 'failed' and id = any(${heldByRuntime.filter(isUuid)}::uuid[])
  union all
  select ${ensureJob}, 'siteId', id::text, id, 'change' from site
    where status = 'running' and generation > settled_generation
  union all
  select ${alignJobs.remove}, 'subscriptionId', subscription_id::text, id, 'delete' from site
    where status = 'deleting' and deleted_at is null and subscription_id is not null
  union all
  -- Held, and shown all the same; or neither held nor unpaid, and not shown.
  select ${alignJobs.suspend}, 'subscriptionId', subscription_id::text, id, 'change' from site
    where status = 'running' and held_at is not null and subscription_id is not null
  union all
  select ${alignJobs.resume}, 'subscriptionId', u.id::text, s.id, 'change' from site s
    join subscription u on u.id = s.subscription_id
    where s.status = 'suspended' and s.held_at is null and u.status in ('active', 'past_due')
  union all
  select ${makeJob}, 'backupId', id::text, site_id, 'back_up' from site_backup
    where state = 'making'
  union all
  select ${restoreJob}, 'restoreId', id::text, site_id, 'restore' from site_restore
    where state = 'restoring'
  union all
  select ${buildJob}, 'importId', id::text, site_id, 'move_in' from site_import
    where state = 'building'
  union all
  select ${switchJob}, 'importId', id::text, site_id, 'switch_over' from site_import
    where state = 'switching'
  union all
  select ${moveJob}, 'moveId', id::text, site_id, 'move' from site_move
    where (state in ('copying', 'switching') and backup_id is null) or state = 'undoing'
      or (state in ('moved', 'undone') and not arrived)
  union all
  select ${rescueJob}, 'moveId', id::text, site_id, 'move' from site_move
    where state = 'switching' and backup_id is not null
  union all
  select ${rewriteJob}, 'rewriteId', id::text, site_id, 'rewrite_addresses' from site_rewrite
    where state = 'running'
  union all
  select ${sendMailJob}, 'siteId', s.id::text, s.id, 'send_mail' from site s
    where s.status = 'running' and not s.mail_suspended
      and s.id in (select site_id from site_mail where state = 'waiting')
  union all
  select ${updateJob}, 'updateId', u.id::text, u.site_id, 'update' from site_update u
    where u.state in ('waiting', 'saving', 'updating', 'checking', 'rolling_back')
      -- One that waits for its backup or restore is called by that.
      and not exists (select from site_backup b
        where b.id = u.backup_id and u.state = 'saving' and b.state = 'making')
      and not exists (select from site_restore r
        where r.id = u.restore_id and u.state = 'rolling_back' and r.state = 'restoring')`

/** Time within which each kind of work normally ends, minutes. */
const honestMinutes = {
  set_up: 15,
  clean_up: 60,
  change: 15,
  delete: 60,
  back_up: 180,
  restore: 180,
  rewrite_addresses: 60,
  // Letters are tried for two days.
  send_mail: 3 * 24 * 60,
  update: 120,
  move_in: 240,
  switch_over: 240,
  move: 240,
}
export type Work = keyof typeof honestMinutes
export const works = Object.keys(honestMinutes) as readonly Work[]

/** Work on a server that does not come to an end. */
export interface StuckWork {
  readonly siteId: string
  readonly name: string
  readonly customerEmail: string
  readonly node: string
  readonly work: Work
  /** When its job was added; null where it has none (one is added within ten minutes). */
  readonly since: Date | null
  readonly attempts: number
  /** The error of the newest attempt; null where none has failed. */
  readonly reason: string | null
}

/** All stuck work, the longest waiting first. Reads the rows that are worked on, and their jobs. */
export async function stuckWork(db: Queryable): Promise<StuckWork[]> {
  const { rows } = await sql<StuckWork>`
    select waiting.site_id as "siteId", s.name, c.email as "customerEmail",
      coalesce(s.node_id, 'main') as node, waiting.work, j.created_on as since,
      coalesce(j.retry_count, 0) as attempts,
      coalesce(j.output ->> 'message', j.output #>> '{value,message}', j.output::text) as reason
    from (${waitingWork([])}) as waiting
    join site s on s.id = waiting.site_id
    join customer c on c.id = s.customer_id
    left join lateral (
      select created_on, retry_count, output from pgboss.job
      where job.name = waiting.job and job.data ->> waiting.key = waiting.id
        and job.state in ('created', 'retry', 'active')
      order by created_on limit 1
    ) j on true
    where j.created_on is null or j.created_on < now() - make_interval(mins =>
      (${JSON.stringify(honestMinutes)}::jsonb ->> waiting.work)::int)
    order by j.created_on nulls first, s.name`.execute(db)
  return rows
}
