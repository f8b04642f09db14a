/**
 * Settlement, one way for every gateway: a verified word is matched on reference, amount and
 * currency, moves the payment only along allowed transitions, and posts once. A browser never gets
 * here.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Notice, NoticeOutcome, Source } from './driver.ts'
import type { PaymentRow } from './orders.ts'
import type { Letters } from './letters.ts'
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
  readonly letters: Letters
  readonly jobs: Jobs
  readonly log: Log
}

/**
 * The ledger's key of a gateway's movement: one movement is posted once, whatever it is posted as.
 */
const keyOf = (driver: Source, movement: string): string => `${driver.name}:${movement}`

export function createSettlement(deps: SettlementDeps): Settlement {
  const { db, clock, ledger, letters, jobs, log } = deps

  /**
   * Nobody else posts or parks this movement until the transaction ends; answers what waits of it
   * in suspense, or has waited.
   */
  async function hold(tx: Tx, driver: Source, movement: string) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`movement ${keyOf(driver, movement)}`}, 0))`.execute(
      tx,
    )
    return await tx
      .selectFrom('payment_suspense')
      .selectAll()
      .where('driver', '=', driver.name)
      .where('provider_transaction_id', '=', movement)
      .forUpdate()
      .executeTakeFirst()
  }

  /** Money came and matches nothing: it waits in suspense, once per movement of the gateway. */
  async function park(tx: Tx, driver: Source, notice: Notice, reason: string): Promise<void> {
    if (notice.status !== 'succeeded' || notice.amount <= 0n) return
    const movement = notice.providerTransactionId ?? notice.eventId
    const parked = await hold(tx, driver, movement)
    const before = parked ?? (await ledger.posted(tx, keyOf(driver, movement)))
    if (before === undefined) return await suspend(tx, driver, notice, movement, reason)
    // The customer types what the bank tells, and each transfer has a number of its own: another
    // amount is another transfer.
    if (driver.credits === 'received' && before.amount !== notice.amount)
      return await parkReused(tx, driver, notice)
    // What a gateway holds under one number may grow: the rest waits too.
    if (
      parked &&
      parked.resolved_at === null &&
      driver.credits === 'exact' &&
      parked.amount < notice.amount
    )
      await suspend(tx, driver, notice, movement, reason, parked.amount)
  }

  /** The number stands for another movement already: this one waits under the word's own. */
  async function parkReused(tx: Tx, driver: Source, notice: Notice): Promise<void> {
    if (!(await hold(tx, driver, notice.eventId)))
      await suspend(tx, driver, notice, notice.eventId, 'reference_reused')
  }

  /** `before`: minor units of this movement that are parked already. */
  async function suspend(
    tx: Tx,
    driver: Source,
    notice: Notice,
    movement: string,
    reason: string,
    before = 0n,
  ): Promise<void> {
    const { amount, currency, reference: code } = notice
    await tx
      .insertInto('payment_suspense')
      .values({
        driver: driver.name,
        provider_transaction_id: movement,
        code,
        amount,
        currency,
        reason,
        created_at: clock.now(),
      })
      .onConflict((conflict) =>
        conflict.columns(['driver', 'provider_transaction_id']).doUpdateSet({ amount }),
      )
      .execute()
    await ledger.park(tx, {
      key: `${keyOf(driver, movement)}:suspense${before === 0n ? '' : `:${amount}`}`,
      driver: driver.name,
      amount: amount - before,
      currency,
      details: { provider: driver.displayName, reason, ...(code !== null && { code }) },
    })
    log.warn({ driver: driver.name, movement, reason }, 'money parked in suspense')
  }

  /**
   * Credits one movement to the payment's customer; what waits for money goes on. It happens once,
   * and never to what somebody has assigned.
   */
  async function credit(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    notice: Notice,
  ): Promise<'recorded' | 'already'> {
    const currency = payment.currency as Currency
    const movement = notice.providerTransactionId ?? payment.code
    const key = keyOf(driver, movement)
    const details = { provider: driver.displayName, code: payment.code }
    const parked = await hold(tx, driver, movement)
    const before = await ledger.posted(tx, key)
    if (driver.credits === 'received') {
      if (before && before.code === payment.code && before.amount === notice.amount)
        return 'already'
      if (before || (parked && parked.amount !== notice.amount)) {
        await parkReused(tx, driver, notice)
        return 'recorded'
      }
    }
    // One movement of the gateway pays one order: the same number under another order waits for a
    // person.
    if (driver.credits === 'exact' && before && before.code !== payment.code) {
      await parkReused(tx, driver, notice)
      return 'already'
    }
    if (parked && !before) {
      if (parked.resolved_at !== null) {
        log.warn(
          { driver: driver.name, movement },
          'money was assigned before the gateway told whose it is',
        )
        return 'already'
      }
      const { amount, currency: held } = parked
      const of = {
        key: `${key}:unparked`,
        customerId: payment.customer_id,
        driver: driver.name,
        amount,
        currency: held as Currency,
        details,
      }
      await ledger.unpark(tx, of)
      await tx
        .updateTable('payment_suspense')
        .set({ resolved_at: clock.now() })
        .where('id', '=', parked.id)
        .execute()
    }
    const { outcome, setOff } = await ledger.credit(tx, {
      key,
      customerId: payment.customer_id,
      driver: driver.name,
      amount: notice.amount,
      currency,
      details,
    })
    if (outcome !== 'posted')
      throw new Error(`${driver.name}: the movement ${movement} has paid for another order`)
    await tx
      .updateTable('payment')
      .set({
        status: 'succeeded',
        received: payment.received + notice.amount,
        set_off: payment.set_off + setOff,
        settled_at: clock.now(),
        provider_transaction_id: notice.providerTransactionId ?? payment.provider_transaction_id,
        detail: notice.detail,
      })
      .where('id', '=', payment.id)
      .execute()
    await letters.toppedUp(tx, {
      customerId: payment.customer_id,
      amount: notice.amount,
      currency,
      provider: driver.displayName,
      transactionCode: payment.code,
      setOff,
    })
    await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
    return 'recorded'
  }

  /** A word about a payment whose money has come. */
  async function afterSuccess(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    notice: Notice,
  ): Promise<NoticeOutcome> {
    const { status, providerTransactionId: movement } = notice
    if (status !== 'succeeded' || movement === null || movement === payment.provider_transaction_id)
      return 'already'
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

    if (
      notice.status === 'reversed' ||
      notice.status === 'restored' ||
      (notice.status === 'refunded' && payment.status === 'succeeded')
    )
      return told(await applyReversal(deps, tx, driver, payment, notice))
    if (
      notice.status === 'refunded' &&
      driver.credits === 'exact' &&
      notice.currency === payment.currency &&
      notice.amount > 0n &&
      notice.amount <= payment.amount
    ) {
      // The word that it came was missed, and may still be told: both stand in the books now, so
      // that it is not credited alone then.
      await credit(tx, driver, payment, {
        ...notice,
        status: 'succeeded',
        amount: payment.amount,
        providerTransactionId: null,
      })
      const credited = await tx
        .selectFrom('payment')
        .selectAll()
        .where('id', '=', paymentId)
        .executeTakeFirstOrThrow()
      return told(await applyReversal(deps, tx, driver, credited, notice))
    }

    if (
      notice.currency !== payment.currency ||
      (driver.credits === 'exact' && notice.amount !== payment.amount)
    ) {
      await park(tx, driver, notice, 'wrong_amount')
      return told('wrong_amount')
    }
    if (driver.credits === 'received') {
      if (notice.status !== 'succeeded' || notice.amount <= 0n) return told('already')
      return told(await credit(tx, driver, payment, notice))
    }
    if (payment.status === 'succeeded') return told(await afterSuccess(tx, driver, payment, notice))
    if (notice.status === 'succeeded') return told(await credit(tx, driver, payment, notice))
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
