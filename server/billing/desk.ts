/** What the operator's desk asks of invoices. */
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { currency as currencySchema, formatMoney } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { paidOfPeriod } from './store.ts'

const shownInvoices = 10

/** By its whole number. */
export async function findInvoices(
  db: Queryable,
  text: string,
): Promise<{ readonly customerId: string; readonly text: string }[]> {
  const rows = await db
    .selectFrom('invoice')
    .select(['customer_id', 'number'])
    .where('number', '=', text.toUpperCase())
    .execute()
  return rows.map((row) => ({ customerId: row.customer_id, text: row.number ?? '' }))
}

/** The newest ten. */
export async function invoicesOfCustomer(
  db: Queryable,
  customerId: string,
): Promise<CustomerStory['invoices']> {
  const rows = await db
    .selectFrom('invoice')
    .select(['id', 'number', 'created_at', 'total', 'currency', 'status'])
    .where('customer_id', '=', customerId)
    .orderBy('seq', 'desc')
    .limit(shownInvoices)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    at: row.created_at.toISOString(),
    total: Number(row.total),
    currency: currencySchema.parse(row.currency),
    status: row.status,
  }))
}

/** Of a customer: invoices and orders that are neither paid nor void. */
export async function openInvoices(db: Queryable, customerId: string): Promise<number> {
  const { n } = await db
    .selectFrom('invoice')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(n)
}

/**
 * Until when what a customer paid for something that is another's by now may come back, as it does
 * when the new owner deletes it. Null: nothing may.
 */
export async function paidForAnother(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<Date | null> {
  const row = await paidOfPeriod(db)
    .select((eb) => eb.fn.max('s.period_end').as('until'))
    .where('i.customer_id', '=', customerId)
    .where('s.customer_id', '<>', customerId)
    .where('s.status', '=', 'active')
    .where('s.period_end', '>', clock.now())
    .executeTakeFirst()
  return row?.until ?? null
}

/** What a customer's invoice is called: its number, or what it costs. Undefined: there is none. */
export async function invoiceName(
  db: Queryable,
  customerId: string,
  id: string,
): Promise<string | undefined> {
  const row = isUuid(id)
    ? await db
        .selectFrom('invoice')
        .select(['number', 'total', 'currency'])
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .executeTakeFirst()
    : undefined
  return (
    row && (row.number ?? formatMoney(Number(row.total), currencySchema.parse(row.currency), 'en'))
  )
}
