/** SQL of the billing room, and invoices as the API shows them. */
import type { Invoice } from '../../contract/billing.ts'
import type { Language } from '../../contract/errors.ts'
import { currency as currencySchema } from '../../contract/money.ts'
import type * as z from 'zod/mini'
import type { InvoiceStatus } from '../../contract/billing.ts'
import type { DB } from '../platform/db-types.ts'
import type { Queryable } from '../platform/db.ts'
import { sql, type Selectable } from 'kysely'

export type InvoiceRow = Selectable<DB['invoice']>
type LineRow = Selectable<DB['invoice_line']>

/** Addresses of an invoice: unguessable, good without signing in. */
export const hostedUrl = (portalUrl: string, token: string): string => `${portalUrl}/invoice/hosted/${token}`
const pdfUrl = (portalUrl: string, token: string, language: Language): string => `${portalUrl}/api/invoices/${token}/pdf?lang=${language}`

function present(row: InvoiceRow, lines: readonly LineRow[], portalUrl: string, language: Language): Invoice {
  return {
    id: row.id,
    number: row.number,
    amount_due: Number(row.status === 'open' ? row.total - row.amount_paid : 0n),
    amount_paid: Number(row.amount_paid),
    total: Number(row.total),
    currency: currencySchema.parse(row.currency),
    status: row.status as z.output<typeof InvoiceStatus>,
    kind: row.kind as Invoice['kind'],
    tax:
      row.tax_rate === 0
        ? null
        : { name: row.tax_name, rate: row.tax_rate, amount: Number(lines.reduce((sum, line) => sum + line.tax, 0n)) },
    created: Math.floor(row.created_at.getTime() / 1000),
    invoice_pdf: pdfUrl(portalUrl, row.token, language),
    hosted_invoice_url: hostedUrl(portalUrl, row.token),
    lines: lines.map((line) => ({
      description: language === 'vi' ? line.description_vi : line.description_en,
      quantity: Number(line.quantity),
      unit_price: Number(line.unit_price),
      amount: Number(line.amount),
      tax: Number(line.tax),
      period_start: line.period_start?.toISOString() ?? null,
      period_end: line.period_end?.toISOString() ?? null,
    })),
  }
}

/** With their lines, in two statements whatever their number. */
export async function presentAll(db: Queryable, rows: readonly InvoiceRow[], portalUrl: string, language: Language): Promise<Invoice[]> {
  const ids = rows.map((row) => row.id)
  const lines =
    ids.length === 0 ? [] : await db.selectFrom('invoice_line').selectAll().where('invoice_id', 'in', ids).orderBy('position').execute()
  const of = Map.groupBy(lines, (line) => line.invoice_id)
  return rows.map((row) => present(row, of.get(row.id) ?? [], portalUrl, language))
}

/** Newest first. */
export async function invoicePage(
  db: Queryable,
  of: { customerId: string; limit: number; before: bigint | null },
): Promise<{ rows: InvoiceRow[]; next: bigint | null }> {
  let query = db
    .selectFrom('invoice')
    .selectAll()
    .where('customer_id', '=', of.customerId)
    .orderBy('seq', 'desc')
    .limit(of.limit + 1)
  if (of.before !== null) query = query.where('seq', '<', of.before)
  const rows = await query.execute()
  const page = rows.slice(0, of.limit)
  return { rows: page, next: rows.length > of.limit ? (page.at(-1)?.seq ?? null) : null }
}

/** All that are open, counted by the index that holds nothing else. */
export async function unpaidOf(db: Queryable, customerId: string): Promise<{ count: number; due: bigint }> {
  const { count, due } = await db
    .selectFrom('invoice')
    .select((eb) => [eb.fn.countAll<bigint>().as('count'), sql<string>`coalesce(sum(total - amount_paid), 0)`.as('due')])
    .where('customer_id', '=', customerId)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return { count: Number(count), due: BigInt(due) }
}

export const isOwner = async (db: Queryable, customerId: string, subscriptionId: string): Promise<boolean> =>
  (await db
    .selectFrom('subscription')
    .select('id')
    .where('id', '=', subscriptionId)
    .where('customer_id', '=', customerId)
    .executeTakeFirst()) !== undefined

export const invoiceById = (db: Queryable, id: string): Promise<InvoiceRow | undefined> =>
  db.selectFrom('invoice').selectAll().where('id', '=', id).executeTakeFirst()
/** What is no token of ours is no invoice; a NUL byte would be refused by the database itself. */
export const invoiceByToken = async (db: Queryable, token: string): Promise<InvoiceRow | undefined> =>
  /^[\w-]{1,64}$/.test(token) ? await db.selectFrom('invoice').selectAll().where('token', '=', token).executeTakeFirst() : undefined
