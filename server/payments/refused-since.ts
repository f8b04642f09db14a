/**
 * Refunds that a gateway took in, that are done here, and that a bank refused afterwards: the
 * customer has the money neither at the bank nor in the wallet. VNPay and Alepay tell of it only
 * when they are asked.
 */
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { PaymentDriver } from './driver.ts'
import type { Orders } from './orders.ts'
import type { Compared } from './reconcile.ts'

/** So long a bank may take to refuse one. */
const askedForMs = days(14)

/**
 * Those of a span of time, and of the fourteen days before its end; for each payment what was
 * refused in all. Throws DriverFailure.
 */
export async function refusedRefunds(
  db: Queryable,
  orders: Orders,
  driver: PaymentDriver,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<{ readonly code: string; readonly found: Compared }[]> {
  if (!driver.refusedSince) return []
  const earliest = later(to, -askedForMs)
  const refunds = await db
    .selectFrom('payment_refund as r')
    .innerJoin('payment as p', 'p.id', 'r.payment_id')
    .select(['r.id', 'r.amount', 'r.reason', 'r.settled_at', 'r.payment_id'])
    .where('p.driver', '=', driver.name)
    .where('r.status', '=', 'done')
    .where('r.settled_at', '>=', from < earliest ? from : earliest)
    .where('r.settled_at', '<', to)
    .orderBy('r.settled_at')
    .execute()
  const refused = new Map<string, { readonly code: string; readonly found: Compared }>()
  for (const refund of refunds) {
    const payment = await db
      .selectFrom('payment')
      .selectAll()
      .where('id', '=', refund.payment_id)
      .executeTakeFirstOrThrow()
    const order = orders.orderOf(payment, await orders.buyerOf(payment.customer_id))
    const isRefused = await driver.refusedSince(order, {
      refundId: refund.id.replaceAll('-', ''),
      amount: refund.amount,
      reason: refund.reason,
      providerTransactionId: payment.provider_transaction_id,
    })
    if (!isRefused) continue
    const before = refused.get(payment.code)?.found
    refused.set(payment.code, {
      code: payment.code,
      found: {
        kind: 'refund_refused_there',
        here: refund.amount + (before?.here ?? 0n),
        there: 0n,
        currency: payment.currency,
        at: before?.at ?? refund.settled_at ?? to,
      },
    })
  }
  return [...refused.values()]
}
