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
import type { Notice, NoticeOutcome, Source } from './driver.ts'
import type { PaymentRow } from './orders.ts'
import { applyReversal, keepUnmatched } from './reversals.ts'

export interface Settled {
  readonly outcome: NoticeOutcome
  readonly paymentId: string | null
}
export interface Settlement {
  /** Applies one verified word of a gateway. */
  settle(driver: Source, notice: Notice): Promise<Settled>
}

export interface SettlementDeps {
  readonly db: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly announcer: Announcer
  readonly jobs: Jobs
  readonly log: Log
}

/** The ledger's key of a gateway's movement: one movement is posted once, whatever it is posted as. */
const keyOf = (driver: Source, movement: string): string => `${driver.name}:${movement}`

export function createSettlement(deps: SettlementDeps): Settlement {
  const { db, clock, ledger, announcer, jobs, log } = deps

  /** Money came and matches nothing: it waits in suspense, once per movement of the gateway. */
  async function park(tx: Tx, driver: Source, notice: Notice, reason: string): Promise<void> {
    if (notice.status !== 'succeeded' || notice.amount <= 0n) return
    const movement = notice.providerTransactionId ?? notice.eventId
    const parked = await tx
      .insertInto('payment_suspense')
      .values({
        driver: driver.name,
        provider_transaction_id: movement,
        code: notice.reference,
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
      key: `${keyOf(driver, movement)}:suspense`,
      driver: driver.name,
      amount: notice.amount,
      currency: notice.currency,
      details: { provider: driver.displayName, reason, ...(notice.reference !== null && { code: notice.reference }) },
    })
    log.warn({ driver: driver.name, movement, reason }, 'money parked in suspense')
  }

  /** Credits one movement to the payment's customer; what waits for money goes on. False when this movement has been credited to it before. */
  async function credit(tx: Tx, driver: Source, payment: PaymentRow, notice: Notice): Promise<boolean> {
    const currency = payment.currency as Currency
    const movement = notice.providerTransactionId ?? payment.code
    const { outcome } = await ledger.credit(tx, {
      key: keyOf(driver, movement),
      customerId: payment.customer_id,
      driver: driver.name,
      amount: notice.amount,
      currency,
      details: { provider: driver.displayName, code: payment.code },
    })
    if (outcome === 'replayed' && driver.credits === 'received') return false
    // One movement of the gateway pays one order: the same number under another order is not believed.
    if (outcome !== 'posted') throw new Error(`${driver.name}: the movement ${movement} has paid for another order`)
    await tx
      .updateTable('payment')
      .set({
        status: 'succeeded',
        received: payment.received + notice.amount,
        settled_at: clock.now(),
        provider_transaction_id: notice.providerTransactionId ?? payment.provider_transaction_id,
        detail: notice.detail,
      })
      .where('id', '=', payment.id)
      .execute()
    await announcer.announce(tx, payment.customer_id, 'wallet.credited', {
      wallet: { amount: Number(notice.amount), currency, provider: driver.displayName, transactionCode: payment.code },
    })
    await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
    return true
  }

  /** A word about a payment whose money has come. */
  async function afterSuccess(tx: Tx, driver: Source, payment: PaymentRow, notice: Notice): Promise<NoticeOutcome> {
    const { status, providerTransactionId: movement } = notice
    if (status !== 'succeeded' || movement === null || movement === payment.provider_transaction_id) return 'already'
    // A gateway that told of the money first and of its number later has moved it once.
    if (payment.provider_transaction_id === null)
      await tx
        .updateTable('payment')
        .set({ provider_transaction_id: movement, detail: notice.detail })
        .where('id', '=', payment.id)
        .execute()
    // A second movement for a paid order is money all the same.
    else await park(tx, driver, notice, 'paid_twice')
    return 'already'
  }

  async function apply(tx: Tx, driver: Source, notice: Notice): Promise<Settled> {
    const payment =
      notice.reference === null
        ? undefined
        : await tx
            .selectFrom('payment')
            .selectAll()
            .where('reference', '=', notice.reference)
            .where('driver', '=', driver.name)
            .forUpdate()
            .executeTakeFirst()
    if (!payment) {
      await park(tx, driver, notice, 'unknown_order')
      return { outcome: 'unknown_order', paymentId: null }
    }
    const paymentId = payment.id
    const told = (outcome: NoticeOutcome): Settled => ({ outcome, paymentId })

    if (notice.status === 'reversed' || notice.status === 'restored' || (notice.status === 'refunded' && payment.status === 'succeeded'))
      return told(await applyReversal(deps, tx, driver, payment, notice))

    if (notice.currency !== payment.currency || (driver.credits === 'exact' && notice.amount !== payment.amount)) {
      await park(tx, driver, notice, 'wrong_amount')
      return told('wrong_amount')
    }
    if (driver.credits === 'received') {
      if (notice.status !== 'succeeded' || notice.amount <= 0n) return told('already')
      return told((await credit(tx, driver, payment, notice)) ? 'recorded' : 'already')
    }
    if (payment.status === 'succeeded') return told(await afterSuccess(tx, driver, payment, notice))
    if (notice.status === 'succeeded') {
      await credit(tx, driver, payment, notice)
      return told('recorded')
    }
    // Failed or expired may still become succeeded when the money came; nothing else moves them.
    if (payment.status !== 'pending') return told('already')
    await tx
      .updateTable('payment')
      .set({
        ...(notice.status !== 'pending' && { status: 'failed', settled_at: clock.now() }),
        provider_transaction_id: notice.providerTransactionId ?? payment.provider_transaction_id,
        detail: notice.detail,
      })
      .where('id', '=', paymentId)
      .execute()
    return told('recorded')
  }

  return {
    settle: (driver, notice) =>
      transaction(db, async (tx) => {
        const settled = await apply(tx, driver, notice)
        await keepUnmatched(tx, clock, driver, notice, settled.outcome)
        return settled
      }),
  }
}
