/** What an operator watches of certificates. */
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { sql } from 'kysely'

/** One that has ended is told of for so long: afterwards its owner does not mean to mend it. */
const toldAfterEndMs = days(7)

export interface CertificateCounts {
  readonly issued: number
  readonly pending: number
  /** There is none, or it has ended and the name leads elsewhere by now. */
  readonly failed: number
  /** It has ended, and visitors of the name still come here. */
  readonly expired: number
  /** Valid ones whose renewal failed. */
  readonly notRenewed: number
  /**
   * When the first one ends whose renewal has failed, or ended within the last days; undefined:
   * there is none. A customer's name that leads elsewhere is none: it has left, or its owner has it
   * led back.
   */
  readonly firstEnd: Date | undefined
  /** Those that only the operator can mend: the portal's own, and refused accounts. */
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
