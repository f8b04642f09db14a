/** The failed backups that the operator's desk lists. */
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type { upkeep } from '../../contract/operator-work.ts'
import type { Queryable } from '../platform/db.ts'

type Failed = Omit<z.output<typeof upkeep.result>['backups'][number], 'customer'> & {
  readonly customerId: string
}
const shownAtOnce = 50

/**
 * The newest fifty failed backups of servers that still exist, by a partial index of failed ones,
 * each with the moment of the server's next good backup.
 */
export async function failedBackups(db: Queryable): Promise<Failed[]> {
  const { rows } = await sql<{
    id: string
    server: string
    server_id: string
    customer_id: string
    created_at: Date
    reason: string | null
    proven_since: Date | null
  }>`
    select b.id, s.name as server, s.id as server_id, s.customer_id, b.created_at, b.reason,
      (select p.proven_at from site_backup p
        where p.site_id = b.site_id and p.seq > b.seq and p.state = 'proven'
        order by p.seq desc limit 1) as proven_since
    from (select * from site_backup where state = 'failed' order by seq desc
      limit ${shownAtOnce}) b
    join site s on s.id = b.site_id
    where s.deleted_at is null
    order by b.seq desc`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    server: row.server,
    serverId: row.server_id,
    customerId: row.customer_id,
    at: row.created_at.toISOString(),
    why: row.reason,
    provenSince: row.proven_since?.toISOString() ?? null,
  }))
}
