/** Queries of the operator's desk about certificates. */
import type * as z from 'zod/mini'
import type { upkeep } from '../../contract/operator-work.ts'
import type { Queryable } from '../platform/db.ts'

type Shown = z.output<typeof upkeep.result>['certificates'][number]
type Failing = Omit<Shown, 'customer'> & {
  readonly customerId: string | null
}
const shownAtOnce = 50

/** Names whose last try failed, newest first; at most fifty, by a partial index. */
export async function failingNames(db: Queryable): Promise<Failing[]> {
  const rows = await db
    .selectFrom('certificate')
    .select([
      'name',
      'customer_id',
      'problem',
      'problem_detail',
      'attempts',
      'next_at',
      'not_after',
    ])
    .where('problem', 'is not', null)
    .orderBy('id', 'desc')
    .limit(shownAtOnce)
    .execute()
  return rows.map((row) => ({
    name: row.name,
    customerId: row.customer_id,
    problem: row.problem ?? '',
    detail: row.problem_detail ?? '',
    attempts: row.attempts,
    nextAt: row.next_at.toISOString(),
    goodUntil: row.not_after?.toISOString() ?? null,
  }))
}
