/** Open loans on credit lines, for the operator's desk. */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { CreditDebt, debtAges } from '../../contract/operator-money.ts'
import { days, later } from '../platform/clock.ts'
import type { TimePosition } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import type { Details } from './posting.ts'

type Age = (typeof debtAges)[number]
/**
 * The lower bound of each age, in days since the debt was due; the next age's bound is the upper
 * one.
 */
const from: Readonly<Record<Age, number>> = { current: -Infinity, week: 0, month: 7, older: 30 }
const next: Readonly<Record<Age, Age | null>> = {
  current: 'week',
  week: 'month',
  month: 'older',
  older: null,
}
const keyOf = (invoiceId: string): string => `invoice:${invoiceId}:lent`
const idOf = (key: string): string => key.slice('invoice:'.length, -':lent'.length)

/** Days over are counted from the last second in which it was not overdue; a begun one is whole. */
const daysOver = (dueAt: Date, now: Date): number =>
  Math.max(0, Math.ceil((now.getTime() - dueAt.getTime()) / days(1)))
function ageOf(over: number): Age {
  if (over === 0) return 'current'
  if (over <= from.month) return 'week'
  return over <= from.older ? 'month' : 'older'
}

interface Wanted {
  readonly age: Age | undefined
  readonly now: Date
  readonly limit: number
  readonly after: TimePosition | null
}

/** The query of `creditDebtPage`; one row more than a page shows whether there is a next page. */
export function creditDebtQuery(db: Queryable, { age, now, limit, after }: Wanted) {
  let query = db
    .selectFrom('wallet_debt as d')
    .innerJoin('ledger_transfer as t', 't.key', 'd.key')
    .select([
      'd.key',
      'd.customer_id',
      'd.amount',
      'd.settled',
      'd.currency',
      'd.created_at',
      'd.due_at',
      't.details',
    ])
    // A literal and not a parameter: the partial index needs it.
    .where(sql<boolean>`d.kind = 'lent'`)
    .whereRef('d.settled', '<', 'd.amount')
    .orderBy('d.due_at')
    .orderBy('d.key')
    .limit(limit + 1)
  if (age !== undefined) {
    const older = next[age]
    if (age !== 'current') query = query.where('d.due_at', '<', later(now, -days(from[age])))
    if (older !== null) query = query.where('d.due_at', '>=', later(now, -days(from[older])))
  }
  return after === null
    ? query
    : query.where(sql<boolean>`(d.due_at, d.key) > (${after.at}, ${keyOf(after.id)})`)
}

/**
 * One page, the longest due first, by keyset on due day and key; `after` is the end of the previous
 * page.
 */
export async function creditDebtPage(
  db: Queryable,
  of: Wanted,
): Promise<{
  rows: (Omit<CreditDebt, 'customer'> & { readonly customerId: string })[]
  next: TimePosition | null
}> {
  const { now, limit } = of
  const found = await creditDebtQuery(db, of).execute()
  const rows = found.slice(0, limit).map((row) => {
    const dueAt = row.due_at ?? row.created_at
    const over = daysOver(dueAt, now)
    const { invoice = null, subject = null } = row.details as Details
    return {
      id: idOf(row.key),
      customerId: row.customer_id,
      invoice,
      subject,
      lent: Number(row.amount),
      owed: Number(row.amount - row.settled),
      currency: row.currency as Currency,
      lentAt: row.created_at.toISOString(),
      dueAt: dueAt.toISOString(),
      daysOver: over,
      age: ageOf(over),
    }
  })
  const last = rows.at(-1)
  return {
    rows,
    next: found.length > limit && last ? { at: new Date(last.dueAt), id: last.id } : null,
  }
}
