/**
 * What an invoice was computed from, and its sum done again from the frozen lines: what a charge's
 * explanation shows.
 */
import type { Language } from '../../contract/errors.ts'
import { explainPrice } from '../../contract/pricing.ts'
import { Basis, type ExplainedInvoice } from '../../contract/wallet-proof.ts'
import type { Queryable } from '../platform/db.ts'
import type { InvoiceLinks } from './links.ts'

/** Null when the customer has no invoice of that number. */
export async function explainInvoice(
  db: Queryable,
  of: { customerId: string; number: string; links: InvoiceLinks; language: Language },
): Promise<ExplainedInvoice | null> {
  const invoice = await db
    .selectFrom('invoice')
    .selectAll()
    .where('number', '=', of.number)
    .where('customer_id', '=', of.customerId)
    .executeTakeFirst()
  if (!invoice) return null
  const rows = await db
    .selectFrom('invoice_line')
    .selectAll()
    .where('invoice_id', '=', invoice.id)
    .orderBy('position')
    .execute()
  const lines = rows.map((row) => {
    const basis = row.basis === null ? null : Basis.parse(row.basis)
    const price = basis && explainPrice(basis)
    return {
      description: of.language === 'vi' ? row.description_vi : row.description_en,
      quantity: Number(row.quantity),
      unit_price: Number(row.unit_price),
      amount: Number(row.amount),
      period_start: row.period_start?.toISOString() ?? null,
      period_end: row.period_end?.toISOString() ?? null,
      basis,
      steps: price?.steps ?? [],
      recomputed: Number(row.quantity * (price ? BigInt(price.amount) : row.unit_price)),
    }
  })
  return {
    id: invoice.id,
    number: of.number,
    status: invoice.status,
    hosted_invoice_url: of.links.hosted(invoice.id),
    total: Number(invoice.total),
    lines,
    recomputed: lines.reduce((sum, line) => sum + line.recomputed, 0),
  }
}
