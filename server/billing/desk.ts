/** Queries of the operator's desk about invoices. */
import type { InvoiceRow } from '../../contract/operator-customer-lists.ts'
import { currency as currencySchema, formatMoney } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { paidOfPeriod } from './store.ts'

/** Finds an invoice by its exact number. */
export async function findInvoices(
  db: Queryable,
  text: string,
): Promise<{ readonly customerId: string; readonly text: string; readonly invoice: string }[]> {
  const rows = await db
    .selectFrom('invoice')
    .select(['id', 'customer_id', 'number'])
    .where('number', '=', text.toUpperCase())
    .execute()
  return rows.map((row) => ({
    customerId: row.customer_id,
    text: row.number ?? '',
    invoice: row.id,
  }))
}

/** One page of a customer's invoices, newest first. */
export async function invoicesOfCustomer(
  db: Queryable,
  customerId: string,
  page: PageRequest,
): Promise<KeysetPage<InvoiceRow>> {
  const query = db
    .selectFrom('invoice')
    .select(['id', 'seq', 'number', 'created_at', 'total', 'currency', 'status'])
    .where('customer_id', '=', customerId)
  const { rows, next } = await newestFirst(query, 'seq', page)
  return {
    rows: rows.map((row) => ({
      id: row.id,
      number: row.number,
      at: row.created_at.toISOString(),
      total: Number(row.total),
      currency: currencySchema.parse(row.currency),
      status: row.status,
    })),
    next,
  }
}

/** A customer's invoices and orders that are neither paid nor void. */
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
 * A customer may have paid the running period of something that now belongs to another customer; if
 * the new owner deletes it, the unused part is credited to them. Answers the end of the last such
 * period. Null: there is none.
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

/** The name of a customer's invoice: its number, or its amount. Undefined: no such invoice. */
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
