/** Counts of certificates for an operator. */
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { sql } from 'kysely'

/**
 * For this long after its end a certificate is reported; afterwards its owner evidently does not
 * want it.
 */
const toldAfterEndMs = days(7)

export interface CertificateCounts {
  readonly issued: number
  readonly pending: number
  /** There is no certificate, or it has expired and the name leads elsewhere now. */
  readonly failed: number
  /** The certificate has expired, and visitors of the name still come here. */
  readonly expired: number
  /** Valid certificates whose renewal failed. */
  readonly notRenewed: number
  /**
   * The earliest end of a certificate whose renewal has failed, or that expired within the last
   * days. Undefined: none. A customer's name that leads elsewhere does not count: its owner has
   * moved it away.
   */
  readonly firstEnd: Date | undefined
  /**
   * Certificates that only the operator can fix: the portal's own, and those whose account is
   * refused.
   */
  readonly operators: number
}

export async function countCertificates(db: Queryable, now: Date): Promise<CertificateCounts> {
  const since = later(now, -toldAfterEndMs)
  const { rows } = await sql<{
    issued: bigint
    pending: bigint
    failed: bigint
    expired: bigint
    not_renewed: bigint
    first_end: Date | null
    operators: bigint
  }>`
    select count(*) filter (where not_after > ${now}) as issued,
      count(*) filter (where chain is null and problem is null) as pending,
      count(*) filter (where problem is not null and (not_after is null
        or not_after <= ${now} and has_left)) as failed,
      count(*) filter (where not_after <= ${now} and not has_left) as expired,
      count(*) filter (where problem is not null and not_after > ${now}) as not_renewed,
      min(not_after) filter (where not has_left and not_after > ${since}
        and (problem is not null or not_after <= ${now})) as first_end,
      count(*) filter (where problem is not null and (site_id is null or problem = 'account'))
        as operators
    from (
      -- The portal's own names lead elsewhere by a mistake.
      select *, site_id is not null and coalesce(problem, '') = 'not_pointed' as has_left
      from certificate) c`.execute(db)
  const [row] = rows
  return {
    issued: Number(row?.issued ?? 0),
    pending: Number(row?.pending ?? 0),
    failed: Number(row?.failed ?? 0),
    expired: Number(row?.expired ?? 0),
    notRenewed: Number(row?.not_renewed ?? 0),
    firstEnd: row?.first_end ?? undefined,
    operators: Number(row?.operators ?? 0),
  }
}

/** Names whose last try failed, the longest failing first, for `npm run portal -- certificates`. */
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
