/** What an operator watches of certificates. */
import type { Queryable } from '../platform/db.ts'
import { sql } from 'kysely'

export interface CertificateCounts {
  readonly issued: number
  readonly pending: number
  readonly failed: number
  /** Valid ones whose renewal failed. */
  readonly notRenewed: number
  /** When the next one ends whose renewal has failed; undefined: there is none. */
  readonly firstEnd: Date | undefined
  /** Those that only the operator can mend: the portal's own, and refused accounts. */
  readonly operators: number
}

export async function countCertificates(db: Queryable, now: Date): Promise<CertificateCounts> {
  const { rows } = await sql<{
    issued: bigint
    pending: bigint
    failed: bigint
    not_renewed: bigint
    first_end: Date | null
    operators: bigint
  }>`
    select count(*) filter (where not_after > ${now}) as issued,
      count(*) filter (where chain is null and problem is null) as pending,
      count(*) filter (where problem is not null and (not_after is null or not_after <= ${now}))
        as failed,
      count(*) filter (where problem is not null and not_after > ${now}) as not_renewed,
      min(not_after) filter (where problem is not null and not_after > ${now}) as first_end,
      count(*) filter (where problem is not null and (site_id is null or problem = 'account'))
        as operators
    from certificate`.execute(db)
  const [row] = rows
  return {
    issued: Number(row?.issued ?? 0),
    pending: Number(row?.pending ?? 0),
    failed: Number(row?.failed ?? 0),
    notRenewed: Number(row?.not_renewed ?? 0),
    firstEnd: row?.first_end ?? undefined,
    operators: Number(row?.operators ?? 0),
  }
}

/** Names whose last try failed, the longest first, for `npm run portal -- certificates`. */
export const failing = (db: Queryable, limit: number) =>
  db
    .selectFrom('certificate')
    .select([
      'name',
      'problem',
      'problem_detail as detail',
      'attempts',
      'next_at as nextAt',
      'not_after as until',
    ])
    .where('problem', 'is not', null)
    .orderBy('attempts', 'desc')
    .orderBy('name')
    .limit(limit)
    .execute()
