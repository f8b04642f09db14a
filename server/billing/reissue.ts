/**
 * The renewal of a suspended service, paid when its month is already over. Its invoice is issued
 * and stands, so it is made void, and another one is issued for the month that begins with the
 * payment.
 */
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { draftEvent } from './events.ts'
import type { Party } from './invoice-pdf.ts'
import { numberDrafts, writeInvoices } from './issue.ts'
import { secondsBetween } from './period.ts'
import type { InvoiceRow } from './store.ts'
import { basisOf, offerFromJson, subjectOf, type Starts } from './product.ts'

/** Answers the new invoice, open. Throws if the customer does not exist. */
export async function renewAnew(
  context: BillingContext,
  tx: Tx,
  old: InvoiceRow,
  { period_start: start, period_end: end }: { period_start: Date; period_end: Date },
): Promise<InvoiceRow> {
  const customer = (await context.customers(tx, [old.customer_id])).get(old.customer_id)
  if (!customer) throw new Error(`no customer ${old.customer_id}`)
  const now = context.clock.now()
  const lines = await tx
    .selectFrom('invoice_line')
    .selectAll()
    .where('invoice_id', '=', old.id)
    .orderBy('position')
    .execute()
  const seconds = secondsBetween(start, end)
  const [invoice] = await numberDrafts(
    tx,
    context.catalog,
    [
      {
        kind: 'renewal',
        customer: { ...customer, regionCode: old.region_code as RegionCode },
        buyer: old.buyer as Party,
        currency: old.currency as Currency,
        product: old.product,
        subject: subjectOf(old.subject),
        subscriptionId: old.subscription_id,
        period: { start, end },
        starts: old.starts as Starts | null,
        sets: offerFromJson(old.sets),
        lines: lines.map((line) => ({
          description: { en: line.description_en, vi: line.description_vi },
          quantity: line.quantity,
          unitPrice: line.unit_price,
          period: { start, end },
          ...(line.basis !== null && {
            basis: { ...basisOf(line.basis), seconds, of_seconds: seconds },
          }),
        })),
      },
    ],
    now,
  )
  if (!invoice) throw new Error('a renewal got no number')
  await tx.updateTable('invoice').set({ status: 'void' }).where('id', '=', old.id).execute()
  await writeInvoices(tx, context.catalog, [{ ...invoice, paid: false }], now)
  await context.outbox.publishEvents(tx, [draftEvent(context, 'invoice.create', invoice, 0n)])
  return await tx
    .selectFrom('invoice')
    .selectAll()
    .where('id', '=', invoice.id)
    .executeTakeFirstOrThrow()
}
