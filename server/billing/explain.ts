/**
 * The explanation of a charge: what an invoice was computed from, and its sum recomputed from the
 * frozen lines.
 */
import type { Language } from '../../contract/errors.ts'
import type { ExplainedInvoice } from '../../contract/wallet-proof.ts'
import type { Queryable } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { basisOf } from './product.ts'

/** Null when the customer has no invoice of that number. */
export async function explainInvoice(
  context: BillingContext,
  db: Queryable,
  of: { customerId: string; number: string; language: Language },
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
  const pricing = context.products.get(invoice.product)?.pricing
  const lines = rows.map((row) => {
    const basis = basisOf(row.basis)
    const price = basis && pricing?.explain(basis)
    return {
      description: of.language === 'vi' ? row.description_vi : row.description_en,
      quantity: Number(row.quantity),
      unit_price: Number(row.unit_price),
      amount: Number(row.amount),
      period_start: row.period_start?.toISOString() ?? null,
      period_end: row.period_end?.toISOString() ?? null,
      basis: price?.basis ?? null,
      steps: price?.steps ?? [],
      recomputed: Number(row.quantity * (price ? BigInt(price.amount) : row.unit_price)),
    }
  })
  return {
    id: invoice.id,
    number: of.number,
    status: invoice.status,
    hosted_invoice_url: context.links.hosted(invoice.id),
    total: Number(invoice.total),
    lines,
    recomputed: lines.reduce((sum, line) => sum + line.recomputed, 0),
  }
}
