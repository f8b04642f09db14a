/**
 * Settlement, one way for every gateway: a verified word is matched on reference, amount and currency, moves the payment only along allowed
 * transitions, and posts once. A browser never gets here.
 */
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Announcer } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Notice, NoticeOutcome } from './driver.ts'

export interface Settlement {
  /** Applies one verified word of a gateway. */
  settle(driver: string, notice: Notice): Promise<{ outcome: NoticeOutcome; paymentId: string | null }>
}

/** How a gateway is called in the transaction log. */
export const displayNames: Record<string, string> = { vnpay: 'VNPay' }

export function createSettlement(deps: {
  db: Database
  clock: Clock
  ledger: Ledger
  announcer: Announcer
  jobs: Jobs
  log: Log
}): Settlement {
  const { db, clock, ledger, announcer, jobs, log } = deps

  /** Money came and matches nothing: it waits in suspense, once per movement of the gateway. */
  async function park(tx: Tx, driver: string, notice: Notice, reason: string): Promise<void> {
    if (notice.status !== 'succeeded' || notice.amount <= 0n) return
    const movement = notice.providerTransactionId ?? notice.eventId
    const parked = await tx
      .insertInto('payment_suspense')
      .values({
        driver,
        provider_transaction_id: movement,
        code: notice.code,
        amount: notice.amount,
        currency: notice.currency,
        reason,
        created_at: clock.now(),
      })
      .onConflict((conflict) => conflict.columns(['driver', 'provider_transaction_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!parked) return
    await ledger.park(tx, {
      key: `${driver}:${movement}:suspense`,
      driver,
      amount: notice.amount,
      currency: notice.currency,
      details: { provider: displayNames[driver] ?? driver, reason, ...(notice.code !== null && { code: notice.code }) },
    })
    log.warn({ driver, movement, reason }, 'money parked in suspense')
  }

  async function apply(tx: Tx, driver: string, notice: Notice): Promise<{ outcome: NoticeOutcome; paymentId: string | null }> {
    const payment =
      notice.code === null
        ? undefined
        : await tx
            .selectFrom('payment')
            .selectAll()
            .where('code', '=', notice.code)
            .where('driver', '=', driver)
            .forUpdate()
            .executeTakeFirst()
    if (!payment) {
      await park(tx, driver, notice, 'unknown_order')
      return { outcome: 'unknown_order', paymentId: null }
    }
    const paymentId = payment.id
    if (notice.amount !== payment.amount || notice.currency !== payment.currency) {
      await park(tx, driver, notice, 'wrong_amount')
      return { outcome: 'wrong_amount', paymentId }
    }
    const change = (values: { status?: string; settled_at?: Date }) =>
      tx
        .updateTable('payment')
        .set({ ...values, provider_transaction_id: notice.providerTransactionId ?? payment.provider_transaction_id, detail: notice.detail })
        .where('id', '=', paymentId)
        .execute()

    if (payment.status === 'succeeded') {
      // The gateway gave the money back after it had reached the wallet: nothing moves by itself, somebody must look.
      if (notice.status === 'refunded')
        log.error({ driver, code: payment.code, detail: notice.detail }, 'a credited payment was refunded at the gateway')
      // A second movement for a paid order is money all the same.
      if (
        notice.status === 'succeeded' &&
        notice.providerTransactionId !== null &&
        notice.providerTransactionId !== payment.provider_transaction_id
      ) {
        // A gateway that told of the money first and of its number later has moved it once.
        if (payment.provider_transaction_id === null) await change({})
        else await park(tx, driver, notice, 'paid_twice')
      }
      return { outcome: 'already', paymentId }
    }
    if (notice.status === 'succeeded') {
      const currency = payment.currency as Currency
      const provider = displayNames[driver] ?? driver
      const { outcome } = await ledger.credit(tx, {
        key: `${driver}:${notice.providerTransactionId ?? payment.code}`,
        customerId: payment.customer_id,
        driver,
        amount: payment.amount,
        currency,
        details: { provider, code: payment.code },
      })
      // One movement of the gateway pays one order: the same number under another order is not believed.
      if (outcome !== 'posted') throw new Error(`${driver}: the movement ${notice.providerTransactionId ?? ''} has paid for another order`)
      await change({ status: 'succeeded', settled_at: clock.now() })
      await announcer.announce(tx, payment.customer_id, 'wallet.credited', {
        wallet: { amount: Number(payment.amount), currency, provider, transactionCode: payment.code },
      })
      await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
      return { outcome: 'recorded', paymentId }
    }
    // Failed or expired may still become succeeded when the money came; nothing else moves them.
    if (payment.status !== 'pending') return { outcome: 'already', paymentId }
    if (notice.status === 'failed') await change({ status: 'failed', settled_at: clock.now() })
    else await change({})
    return { outcome: 'recorded', paymentId }
  }

  return { settle: (driver, notice) => transaction(db, (tx) => apply(tx, driver, notice)) }
}
