/**
 * The end of a refund to the source, reported by the gateway's answer, by its webhook, or by a
 * person who looked there.
 */
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Letters } from './letters.ts'

/**
 * The `detail` of a refund that a person decided: the gateway's later reports about it are known.
 */
export const decidedByHand = 'decided by hand'

export interface RefundEnd {
  readonly wanted: 'done' | 'refused' | 'unclear'
  /** The gateway's own words. */
  readonly detail: string
  readonly providerRefundId: string | null
  /**
   * The number of the attempt that reported the end. Its refusal decides only if no other attempt
   * was begun after it; otherwise the refund is unclear.
   */
  readonly sole?: number
}

/**
 * Closes an open refund; a closed one stays as it is. If the gateway made a refund after we had
 * given the money back to the wallet, it becomes an unmatched reversal for a person to explain.
 * `provider` is the gateway's name for customers.
 */
export async function closeRefund(
  deps: {
    readonly clock: Clock
    readonly ledger: Ledger
    readonly letters: Letters
    readonly jobs: Pick<Jobs, 'add'>
    readonly log: Log
  },
  tx: Tx,
  id: string,
  provider: string,
  { wanted, detail, providerRefundId, sole }: RefundEnd,
): Promise<void> {
  const { clock, ledger, letters, jobs, log } = deps
  const refund = await tx
    .selectFrom('payment_refund')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (refund.status === 'done' || (refund.status === 'refused' && wanted !== 'done')) return
  const payment = await tx
    .selectFrom('payment')
    .selectAll()
    .where('id', '=', refund.payment_id)
    .executeTakeFirstOrThrow()
  const { amount } = refund
  const currency = payment.currency as Currency
  if (refund.status === 'refused') {
    const movement = providerRefundId ?? id
    const booked = await tx
      .selectFrom('payment_reversal')
      .select('id')
      .where('payment_id', '=', payment.id)
      .where('movement', '=', movement)
      .executeTakeFirst()
    if (booked) return
    log.error({ refund: id, driver: payment.driver }, 'a refund was made after it was given back')
    await tx
      .insertInto('payment_reversal_unmatched')
      .values({
        driver: payment.driver,
        movement,
        kind: 'refunded',
        reference: payment.reference,
        amount,
        currency,
        outcome: 'wrong_amount',
        created_at: clock.now(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return
  }
  const held = {
    customerId: payment.customer_id,
    driver: payment.driver,
    amount,
    currency,
    details: { provider, code: payment.code, reason: refund.reason },
  }
  const moved = { ...held, provider, transactionCode: payment.code }
  const isOvertaken = sole !== undefined && refund.attempts !== sole
  const status = wanted === 'refused' && isOvertaken ? 'unclear' : wanted
  if (status === 'done') {
    await ledger.payOut(tx, { ...held, key: `refund:${id}:paid` })
    await letters.refunded(tx, moved)
  }
  if (status === 'refused') {
    await ledger.release(tx, {
      ...held,
      key: `refund:${id}:released`,
      withheldAt: refund.created_at,
    })
    await letters.refundFailed(tx, moved)
    await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
  }
  await tx
    .updateTable('payment_refund')
    .set({
      status,
      detail,
      provider_refund_id: providerRefundId,
      settled_at: status === 'unclear' ? null : clock.now(),
    })
    .where('id', '=', id)
    .execute()
}
