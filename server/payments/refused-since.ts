/**
 * Refunds that a gateway took in, that are done here, and that a bank refused afterwards: the
 * customer has the money neither at the bank nor in the wallet. VNPay and Alepay tell of it only
 * when they are asked.
 */
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { PaymentDriver } from './driver.ts'
import type { Orders } from './orders.ts'
import type { Compared } from './compared.ts'
import { decidedByHand } from './refund-close.ts'

/** A bank may take this long to refuse a refund. */
const askedForMs = days(14)

interface Refused {
  readonly refused: readonly { readonly code: string; readonly found: Compared }[]
  /** Payments about which the gateway could not be asked, and why. */
  readonly unasked: readonly { readonly code: string; readonly why: string }[]
}

/**
 * Those of a span of time, and of the fourteen days before its end; for each payment what was
 * refused in all, or the newest of its refunds where the gateway does not say which it was.
 * `isAsked`: whether the gateway is asked about one that was done then. Throws once the signal is
 * aborted.
 */
export async function refusedRefunds(
  db: Queryable,
  orders: Orders,
  driver: PaymentDriver,
  { from, to }: { readonly from: Date; readonly to: Date },
  isAsked: (code: string, doneAt: Date) => boolean = () => true,
  signal?: AbortSignal,
): Promise<Refused> {
  if (!driver.refusedSince) return { refused: [], unasked: [] }
  const earliest = later(to, -askedForMs)
  const refunds = await db
    .selectFrom('payment_refund as r')
    .innerJoin('payment as p', 'p.id', 'r.payment_id')
    .select(['r.id', 'r.amount', 'r.reason', 'r.settled_at', 'r.payment_id'])
    .where('p.driver', '=', driver.name)
    .where('r.status', '=', 'done')
    .where('r.detail', 'is distinct from', decidedByHand)
    .where('r.settled_at', '>=', from < earliest ? from : earliest)
    .where('r.settled_at', '<', to)
    .orderBy('r.settled_at')
    .execute()
  const refused = new Map<string, Refused['refused'][number]>()
  const unasked: { code: string; why: string }[] = []
  for (const refund of refunds) {
    const payment = await db
      .selectFrom('payment')
      .selectAll()
      .where('id', '=', refund.payment_id)
      .executeTakeFirstOrThrow()
    const { code, currency } = payment
    signal?.throwIfAborted()
    const isRecent = refund.settled_at === null || refund.settled_at >= earliest
    if (!isRecent && !isAsked(code, refund.settled_at ?? to)) continue
    const order = orders.orderOf(payment, await orders.buyerOf(payment.customer_id))
    let answer: boolean | 'some'
    try {
      answer = await driver.refusedSince(order, {
        refundId: refund.id.replaceAll('-', ''),
        amount: refund.amount,
        reason: refund.reason,
        providerTransactionId: payment.provider_transaction_id,
      })
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      unasked.push({ code, why: error.message })
      continue
    }
    if (answer === false) continue
    const before = refused.get(code)?.found
    refused.set(code, {
      code,
      found: {
        kind: 'refund_refused_there',
        here: refund.amount + (answer === 'some' ? 0n : (before?.here ?? 0n)),
        there: 0n,
        currency,
        at: before?.at ?? refund.settled_at ?? to,
      },
    })
  }
  return { refused: [...refused.values()], unasked }
}
