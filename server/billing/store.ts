/** SQL of the billing module, and invoices as the API shows them. */
import type { Invoice } from '../../contract/billing.ts'
import type { Language } from '../../contract/errors.ts'
import { currency as currencySchema } from '../../contract/money.ts'
import type * as z from 'zod/mini'
import type { InvoiceStatus } from '../../contract/billing.ts'
import { hashOfToken, type InvoiceLinks } from './links.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import type { Queryable } from '../platform/db.ts'
import { sql, type Selectable } from 'kysely'

export type InvoiceRow = Selectable<DB['invoice']>
type LineRow = Selectable<DB['invoice_line']>

/** The addresses that an invoice shows. */
type ShownLinks = Pick<InvoiceLinks, 'hosted' | 'pdf'>
/** For readers who may learn no address that works without signing in. */
export const noLinks: ShownLinks = { hosted: () => '', pdf: () => '' }

function present(
  row: InvoiceRow,
  lines: readonly LineRow[],
  corrected: ReadonlyMap<string, string | null>,
  links: ShownLinks,
  language: Language,
): Invoice {
  return {
    id: row.id,
    number: row.number,
    amount_due: Number(row.status === 'open' ? row.total - row.amount_paid : 0n),
    amount_paid: Number(row.amount_paid),
    total: Number(row.total),
    currency: currencySchema.parse(row.currency),
    status: row.status as z.output<typeof InvoiceStatus>,
    kind: row.kind as Invoice['kind'],
    corrects:
      row.corrects_id === null
        ? null
        : { id: row.corrects_id, number: corrected.get(row.corrects_id) ?? '' },
    tax:
      row.tax_rate === 0
        ? null
        : {
            name: row.tax_name,
            rate: row.tax_rate,
            amount: Number(lines.reduce((sum, line) => sum + line.tax, 0n)),
          },
    created: Math.floor(row.created_at.getTime() / 1000),
    issuedAt: row.issued_at?.toISOString() ?? null,
    lapsesAt:
      row.status === 'open' || row.status === 'void'
        ? (row.lapses_at?.toISOString() ?? null)
        : null,
    invoice_pdf: links.pdf(row.id, language),
    hosted_invoice_url: links.hosted(row.id),
    lines: lines.map((line) => ({
      description: language === 'vi' ? line.description_vi : line.description_en,
      quantity: Number(line.quantity),
      unit_price: Number(line.unit_price),
      amount: Number(line.amount),
      tax: Number(line.tax),
      period_start: line.period_start?.toISOString() ?? null,
      period_end: line.period_end?.toISOString() ?? null,
      corrects_line: line.corrects_position === null ? null : line.corrects_position + 1,
    })),
  }
}

/** Presents invoices with their lines, in three statements for any number of them. */
export async function presentAll(
  db: Queryable,
  rows: readonly InvoiceRow[],
  links: ShownLinks,
  language: Language,
): Promise<Invoice[]> {
  const ids = rows.map((row) => row.id)
  const lines =
    ids.length === 0
      ? []
      : await db
          .selectFrom('invoice_line')
          .selectAll()
          .where('invoice_id', 'in', ids)
          .orderBy('position')
          .execute()
  const of = Map.groupBy(lines, (line) => line.invoice_id)
  const correctedIds = rows.flatMap((row) => row.corrects_id ?? [])
  const named =
    correctedIds.length === 0
      ? []
      : await db
          .selectFrom('invoice')
          .select(['id', 'number'])
          .where('id', 'in', correctedIds)
          .execute()
  const corrected = new Map(named.map(({ id, number }) => [id, number]))
  return rows.map((row) => present(row, of.get(row.id) ?? [], corrected, links, language))
}

/** Newest first. With a status: only those. */
export function invoicePage(
  db: Queryable,
  of: PageRequest & {
    customerId: string
    status?: z.output<typeof InvoiceStatus> | undefined
  },
): Promise<KeysetPage<InvoiceRow>> {
  const all = db.selectFrom('invoice').selectAll().where('customer_id', '=', of.customerId)
  return newestFirst(of.status === undefined ? all : all.where('status', '=', of.status), 'seq', of)
}

/** All open invoices of a customer, by the partial index. */
export async function unpaidOf(
  db: Queryable,
  customerId: string,
): Promise<{ count: number; due: bigint }> {
  const { count, due } = await db
    .selectFrom('invoice')
    .select((eb) => [
      eb.fn.countAll<bigint>().as('count'),
      sql<string>`coalesce(sum(total - amount_paid), 0)`.as('due'),
    ])
    .where('customer_id', '=', customerId)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow()
  return { count: Number(count), due: BigInt(due) }
}

export const isOwner = async (
  db: Queryable,
  customerId: string,
  subscriptionId: string,
): Promise<boolean> =>
  (await db
    .selectFrom('subscription')
    .select('id')
    .where('id', '=', subscriptionId)
    .where('customer_id', '=', customerId)
    .executeTakeFirst()) !== undefined

export const invoiceById = (db: Queryable, id: string): Promise<InvoiceRow | undefined> =>
  db.selectFrom('invoice').selectAll().where('id', '=', id).executeTakeFirst()
/** The invoice that replaced a voided one as its subscription's present invoice. */
export const reissued = (db: Queryable, old: InvoiceRow): Promise<InvoiceRow | undefined> =>
  db
    .selectFrom('invoice as i')
    .innerJoin('subscription as s', 's.invoice_id', 'i.id')
    .selectAll('i')
    .where('s.id', '=', old.subscription_id)
    .executeTakeFirst()
/** The invoice of a link's token. Undefined: the token is not ours. */
export async function invoiceByToken(
  db: Queryable,
  links: InvoiceLinks,
  token: string,
): Promise<InvoiceRow | undefined> {
  const id = links.idOf(token)
  if (id !== undefined) return await invoiceById(db, id)
  return await db
    .selectFrom('invoice')
    .selectAll()
    .where('old_token_hash', '=', hashOfToken(token))
    .executeTakeFirst()
}

/**
 * The paid invoices `i` of the running period of a subscription `s`: the one that began it, and the
 * later prorations. They are ordered by `seq`, because rows of one transaction may have the same
 * time.
 */
export const paidOfPeriod = (db: Queryable) =>
  db
    .selectFrom('subscription as s')
    .innerJoin('invoice as first', 'first.id', 's.invoice_id')
    .innerJoin('invoice as i', 'i.subscription_id', 's.id')
    .where('i.status', '=', 'paid')
    .where((eb) =>
      eb.or([
        eb('i.id', '=', eb.ref('first.id')),
        eb.and([eb('i.kind', '=', 'proration'), eb('i.seq', '>', eb.ref('first.seq'))]),
      ]),
    )
