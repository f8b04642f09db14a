/** How many servers there are in which state, and how old their backups are: for an operator. */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

/** Counts servers that are neither failed, waiting for their payment, nor deleted. */
export interface SiteCounts {
  readonly running: number
  readonly provisioning: number
  readonly suspended: number
  /** Running servers whose front page failed twice in a row. */
  readonly down: number
}

/** Reads two partial indexes, `site_live` and `site_down`. */
export async function countSites(db: Queryable): Promise<SiteCounts> {
  const { rows } = await sql<{ state: string; n: bigint }>`
    select status as state, count(*) as n from site
    where status in ('running', 'provisioning', 'suspended') group by status
    union all
    select 'down', count(*) from site where down_since is not null and status = 'running'
  `.execute(db)
  const of = (state: string): number => Number(rows.find((row) => row.state === state)?.n ?? 0)
  return {
    running: of('running'),
    provisioning: of('provisioning'),
    suspended: of('suspended'),
    down: of('down'),
  }
}

export interface BackupCounts {
  /** Running servers whose newest finished backup failed. */
  readonly failed: number
  /**
   * The oldest of the running servers' newest proven backups. A server without one counts from when
   * it first ran. A server that was suspended since has had no night to be backed up in: it counts
   * from when it was resumed. Null where no server runs.
   */
  readonly oldestProvenAt: Date | null
}

/** Costs two lookups in the index `site_backup_of_site` for each running server. */
export async function countBackups(db: Queryable): Promise<BackupCounts> {
  const { rows } = await sql<{ failed: bigint; oldest: Date | null }>`
    select count(*) filter (where newest.state = 'failed') as failed,
      min(coalesce(greatest(proven.proven_at, s.resumed_at), s.running_at, s.created_at))
        as oldest
    from site s
    left join lateral (
      select b.state from site_backup b
      where b.site_id = s.id and b.state in ('proven', 'failed') order by b.seq desc limit 1
    ) newest on true
    left join lateral (
      select b.proven_at from site_backup b
      where b.site_id = s.id and b.state = 'proven' order by b.seq desc limit 1
    ) proven on true
    where s.status = 'running'
  `.execute(db)
  return { failed: Number(rows[0]?.failed ?? 0), oldestProvenAt: rows[0]?.oldest ?? null }
}
