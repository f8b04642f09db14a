/** The figures of updates that an operator watches. */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

export interface UpdateCounts {
  /** Updates that are under way. */
  readonly underWay: number
  /** Updates that ended within the last day, by how they ended. */
  readonly ended: Readonly<Record<string, number>>
  /** Waves that stopped by themselves and wait for the operator. */
  readonly stoppedWaves: number
  /** When the directory last named a release, seconds since 1970; 0: never. */
  readonly directoryAt: number
}

/** How each update may end. */
export const updateEnds = ['done', 'rolled_back', 'failed', 'skipped'] as const

export async function countUpdates(db: Queryable, now: Date): Promise<UpdateCounts> {
  const { rows: ended } = await sql<{ state: string; n: bigint }>`
    select state, count(*) as n from site_update
    where ended_at > ${now}::timestamptz - interval '1 day' group by state`.execute(db)
  const { rows } = await sql<{ under: bigint; stopped: bigint; seen: number | null }>`
    select (select count(*) from site_update
        where ended_at is null and state <> 'planned') as under,
      (select count(*) from update_wave where state = 'stopped') as stopped,
      (select extract(epoch from max(seen_at))::float8 from software_release) as seen`.execute(db)
  return {
    underWay: Number(rows[0]?.under ?? 0),
    ended: Object.fromEntries(ended.map(({ state, n }) => [state, Number(n)])),
    stoppedWaves: Number(rows[0]?.stopped ?? 0),
    directoryAt: rows[0]?.seen ?? 0,
  }
}
