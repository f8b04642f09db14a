/**
 * Credit lines (decision 127): how much a customer may owe and how long, what is owed, and whether
 * more may be lent. Amounts are minor units. Lending itself is in charges.ts.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { days, later, seconds } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'

/** Why nothing more is lent. */
export type LendsNothing = 'overdue' | 'chargeback' | 'blocked'

export interface CreditLine {
  readonly currency: Currency
  /** 0: the line has ended, but a debt remains. */
  readonly limit: bigint
  readonly termDays: number | null
  readonly owed: bigint
  /** The last second in which the oldest loan is not overdue; null: nothing is owed. */
  readonly dueAt: Date | null
  readonly stopped: LendsNothing | null
  /** The amount that may be lent now. */
  readonly available: bigint
}

interface Row {
  customer_id: string
  currency: Currency
  credit_limit: bigint | null
  term_days: number | null
  owed: bigint
  due_at: Date | null
  taken_back: boolean
  blocked: boolean
}

function lineOf(row: Row, now: Date): CreditLine {
  const overdue = row.due_at !== null && row.due_at < now
  const stops = [
    overdue && ('overdue' as const),
    row.taken_back && ('chargeback' as const),
    row.blocked && ('blocked' as const),
  ]
  const stopped = stops.find((reason) => reason !== false) ?? null
  const limit = row.credit_limit ?? 0n
  return {
    currency: row.currency,
    limit,
    termDays: row.term_days,
    owed: row.owed,
    dueAt: row.due_at,
    stopped,
    available: stopped === null && limit > row.owed ? limit - row.owed : 0n,
  }
}

/** Lines of customers who have one, or who still owe a loan. */
export async function creditLinesOf(
  db: Queryable,
  customerIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, CreditLine>> {
  const { rows } = await sql<Row>`
    select c.id as customer_id, coalesce(l.currency, d.currency) as currency, l.credit_limit,
      l.term_days, d.owed, d.due_at, d.taken_back, c.blocked_at is not null as blocked
    from customer c
    left join credit_line l on l.customer_id = c.id
    cross join lateral (
      select coalesce(sum(amount - settled) filter (where kind = 'lent'), 0)::bigint as owed,
        min(due_at) as due_at, coalesce(bool_or(kind <> 'lent'), false) as taken_back,
        min(currency) as currency
      from wallet_debt where customer_id = c.id and settled < amount
    ) d
    where c.id = any (${[...customerIds]}::uuid[])
      and (l.customer_id is not null or d.owed > 0)`.execute(db)
  return new Map(rows.map((row) => [row.customer_id, lineOf(row, now)]))
}

/** A line as the contract shows it. */
export const shownLine = (line: CreditLine) => ({
  limit: Number(line.limit),
  termDays: line.termDays,
  owed: Number(line.owed),
  available: Number(line.available),
  dueAt: line.dueAt?.toISOString() ?? null,
  stopped: line.stopped,
})

/** Which of these have a line that lends. */
export async function haveCreditLines(
  tx: Tx,
  customerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select customer_id as id from credit_line
    where customer_id = any (${[...new Set(customerIds)]}::uuid[])`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Gives a customer a line, changes it, or ends it with a limit of 0. Existing debts stay until
 * their due day.
 */
export async function setCreditLine(
  tx: Tx,
  now: Date,
  of: {
    readonly customerId: string
    readonly currency: Currency
    readonly limit: bigint
    readonly termDays: number
  },
): Promise<void> {
  const { customerId, currency, limit, termDays } = of
  // A loan locks the wallet first: one that is under way uses the line as it was.
  await sql`select from ledger_account where customer_id = ${customerId} for update`.execute(tx)
  if (limit === 0n) return await endCreditLine(tx, customerId)
  const row = { currency, credit_limit: limit, term_days: termDays, changed_at: now }
  await tx
    .insertInto('credit_line')
    .values({ customer_id: customerId, ...row })
    .onConflict((conflict) => conflict.column('customer_id').doUpdateSet(row))
    .execute()
}

export async function endCreditLine(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('credit_line').where('customer_id', '=', customerId).execute()
}

/** Days before the due day at which a reminder is sent. */
const remindDays = 3
/** Debts due within this many days after the first are in the same letter. */
const remindTogetherDays = 7
/** When the first letter about a loan is due. */
export const firstLetterAt = (lentAt: Date, dueAt: Date): Date => {
  const reminder = later(dueAt, -days(remindDays))
  return reminder > lentAt ? reminder : later(dueAt, seconds(1))
}

/** Whom a letter about what was lent is due, at most `limit`. */
export async function awaitingCreditLetters(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('wallet_debt')
    .select('customer_id')
    .where('write_at', '<=', now)
    .whereRef('settled', '<', 'amount')
    .orderBy('write_at')
    .limit(limit)
    .execute()
  return [...new Set(rows.map(({ customer_id }) => customer_id))]
}

/**
 * The letter that a customer gets now, if any; it is marked as written. A customer with several
 * debts gets one letter for those that are due about the same time, and one when the first is
 * overdue.
 */
export async function takeCreditLetter(
  tx: Tx,
  customerId: string,
  now: Date,
): Promise<'due' | 'overdue' | null> {
  const open = await tx
    .selectFrom('wallet_debt')
    .select(['key', 'due_at', 'write_at'])
    .where('customer_id', '=', customerId)
    .where('kind', '=', 'lent')
    .whereRef('settled', '<', 'amount')
    // In the order in which incoming money settles them, so that there is no deadlock.
    .orderBy('created_at')
    .orderBy('key')
    .forUpdate()
    .execute()
  const isOverdue = ({ due_at: at }: { due_at: Date | null }): boolean => at !== null && at < now
  const isDue = ({ write_at: at }: { write_at: Date | null }): boolean => at !== null && at <= now
  if (!open.some(isDue)) return null
  const wasToldOverdue = open.some((debt) => isOverdue(debt) && debt.write_at === null)
  const newlyOverdue = open.some((debt) => isOverdue(debt) && isDue(debt))
  const until = later(now, days(remindTogetherDays))
  await sql`
    update wallet_debt
    set write_at = case when due_at < ${now} then null else due_at + interval '1 second' end
    where key = any (${open.map(({ key }) => key)}) and write_at is not null
      and (write_at <= ${now} or due_at <= ${until})`.execute(tx)
  if (newlyOverdue) return wasToldOverdue ? null : 'overdue'
  return wasToldOverdue ? null : 'due'
}
