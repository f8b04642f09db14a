/**
 * Settlement, one way for every gateway: a verified update is matched on reference and currency,
 * and on the amount where the gateway fixes it (`credits: 'exact'`), moves the payment only along
 * allowed transitions, and posts once. A browser never settles a payment.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { jobNames } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import { noteOutcome, switchOffIf } from './auto-top-up-outcome.ts'
import { automaticChannel, type PaymentUpdate, type UpdateOutcome, type Source } from './driver.ts'
import { maybeTwice, mayBeKnown } from './maybe-twice.ts'
import { isClosed, type PaymentRow } from './orders.ts'
import type { Letters } from './letters.ts'
import { applyReversal, keepUnmatched, refundedTotal, returnToClosed } from './reversals.ts'
import { heldOf, keepSuspense, resolveSuspense } from './suspense-rows.ts'

export interface Settled {
  readonly outcome: UpdateOutcome
  readonly paymentId: string | null
}
export interface Settlement {
  /** Applies one verified update of a gateway. */
  settle(driver: Source, update: PaymentUpdate): Promise<Settled>
}

export interface SettlementDeps {
  readonly db: Database
  readonly clock: Clock
  readonly ledger: Ledger
  readonly letters: Letters
  readonly outbox: OperatorOutbox
  readonly jobs: Jobs
  readonly log: Log
}

/** The ledger's key of a gateway's movement: it is posted once, as whatever kind. */
const keyOf = (driver: Source, movement: string): string => `${driver.name}:${movement}`

export function createSettlement(deps: SettlementDeps): Settlement {
  const { db, clock, ledger, letters, outbox, jobs, log } = deps

  /**
   * Locks the movement until the transaction ends, so that no other transaction posts it. Returns
   * its row in suspense, open or resolved, if there is one.
   */
  async function lockMovement(tx: Tx, driver: Source, movement: string) {
    await sql`select
      pg_advisory_xact_lock(hashtextextended(${`movement ${keyOf(driver, movement)}`}, 0))`.execute(
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

  /**
   * Puts money that matches no payment into suspense, once per movement of the gateway. `code`: the
   * payment that the money names.
   */
  async function holdInSuspense(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    reason: string,
    code?: string,
  ): Promise<void> {
    if (update.status !== 'succeeded' || update.amount <= 0n) return
    const movement = update.providerTransactionId ?? update.eventId
    const parked = await lockMovement(tx, driver, movement)
    const credited = await ledger.posted(tx, keyOf(driver, movement))
    const before = parked ?? credited
    if (before === undefined) return await writeSuspense(tx, driver, update, movement, reason)
    // The customer types the reference, and each transfer has a number of its own: another amount
    // is another transfer.
    if (driver.credits === 'received' && before.amount !== update.amount)
      return await holdReusedInSuspense(tx, driver, update)
    if (driver.credits !== 'exact') return
    // The amount under one number may grow: the rest waits in suspense too. If the movement was
    // credited to another payment, nothing is held here.
    const decided = credited ?? (parked?.resolved_at === null ? undefined : parked)
    if (decided) {
      if (credited && credited.code !== code) return
      await holdRestInSuspense(tx, driver, update, movement, { reason, decided: decided.amount })
    } else if (before.amount < update.amount)
      await writeSuspense(tx, driver, update, movement, reason, before.amount)
  }

  /** A part of the movement is already credited or decided: puts the rest into a row of its own. */
  async function holdRestInSuspense(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    movement: string,
    { reason, decided }: { readonly reason: string; readonly decided: bigint },
  ): Promise<void> {
    const rest = update.amount - (await heldOf(tx, driver.name, movement, decided))
    if (rest > 0n)
      await writeSuspense(
        tx,
        driver,
        { ...update, amount: rest },
        `${movement}:${update.amount}`,
        reason,
      )
  }

  /** The number belongs to another movement already: this one waits under its event's id. */
  async function holdReusedInSuspense(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
  ): Promise<void> {
    if (!(await lockMovement(tx, driver, update.eventId)))
      await writeSuspense(tx, driver, update, update.eventId, 'reference_reused')
  }

  /** `before`: minor units of this movement that are in suspense already. */
  async function writeSuspense(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    movement: string,
    reason: string,
    before = 0n,
  ): Promise<void> {
    const { amount, currency, reference: code } = update
    const row = { driver: driver.name, movement, code, amount, currency, reason }
    await keepSuspense(tx, { clock, outbox }, row)
    await ledger.holdInSuspense(tx, {
      key: `${keyOf(driver, movement)}:suspense${before === 0n ? '' : `:${amount}`}`,
      driver: driver.name,
      amount: amount - before,
      currency,
      details: { provider: driver.displayName, reason, ...(code !== null && { code }) },
    })
    log.warn({ driver: driver.name, movement, reason }, 'money held in suspense')
  }

  /**
   * Credits one movement to the payment's customer, and resumes what waits for money. It happens
   * once, and never for a movement that a person has assigned.
   */
  async function credit(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
  ): Promise<'recorded' | 'already'> {
    const currency = payment.currency as Currency
    const movement = update.providerTransactionId ?? payment.code
    const key = keyOf(driver, movement)
    const automatic = payment.channel === automaticChannel
    const details = {
      provider: driver.displayName,
      code: payment.code,
      ...(automatic && ({ automatic } as const)),
    }
    const parked = await lockMovement(tx, driver, movement)
    const before = await ledger.posted(tx, key)
    if (driver.credits === 'received') {
      if (before && before.code === payment.code && before.amount === update.amount)
        return 'already'
      if (before || (parked && parked.amount !== update.amount)) {
        await holdReusedInSuspense(tx, driver, update)
        return 'recorded'
      }
      if (
        parked?.reason === maybeTwice ||
        (await mayBeKnown(tx, ledger, driver, payment, { movement, amount: update.amount }))
      ) {
        await holdInSuspense(tx, driver, update, maybeTwice)
        return 'recorded'
      }
    }
    // One movement pays one order: the same number under another order waits for a person.
    if (driver.credits === 'exact' && before && before.code !== payment.code) {
      await holdReusedInSuspense(tx, driver, update)
      return 'already'
    }
    // The customer can no longer use that wallet: a person sends the money back.
    if (!before && (await isClosed(tx, payment.customer_id))) {
      // The gateway reported the return before the receipt: nothing is left to hold.
      if ((await refundedTotal(tx, payment.id)) >= update.amount) return 'already'
      await holdInSuspense(tx, driver, update, 'account_closed')
      return 'recorded'
    }
    if (parked && !before) {
      if (parked.resolved_at !== null) {
        log.warn(
          { driver: driver.name, movement },
          'money was assigned before the gateway told whose it is',
        )
        const of = { reason: 'wrong_amount', decided: parked.amount }
        await holdRestInSuspense(tx, driver, update, movement, of)
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
      await ledger.releaseFromSuspense(tx, of)
      await resolveSuspense(tx, clock, parked.id)
    }
    const { outcome, setOff } = await ledger.credit(tx, {
      key,
      customerId: payment.customer_id,
      driver: driver.name,
      amount: update.amount,
      currency,
      details,
    })
    if (outcome !== 'posted')
      throw new Error(`${driver.name}: the movement ${movement} has paid for another order`)
    await tx
      .updateTable('payment')
      .set({
        status: 'succeeded',
        received: payment.received + update.amount,
        set_off: payment.set_off + setOff,
        settled_at: clock.now(),
        provider_transaction_id: update.providerTransactionId ?? payment.provider_transaction_id,
        detail: update.detail,
      })
      .where('id', '=', payment.id)
      .execute()
    await letters.toppedUp(tx, {
      customerId: payment.customer_id,
      amount: update.amount,
      currency,
      provider: driver.displayName,
      transactionCode: payment.code,
      setOff,
      automatic,
    })
    await noteOutcome(deps, tx, driver, payment, { status: 'succeeded', detail: update.detail })
    await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
    return 'recorded'
  }

  /** Handles an update about a payment that has succeeded. */
  async function afterSuccess(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
  ): Promise<UpdateOutcome> {
    const { status, providerTransactionId: movement } = update
    if (status !== 'succeeded' || movement === null || movement === payment.provider_transaction_id)
      return 'already'
    // A gateway that reported the success first and the movement's id later has moved it once.
    if (payment.provider_transaction_id === null)
      await tx
        .updateTable('payment')
        .set({ provider_transaction_id: movement, detail: update.detail })
        .where('id', '=', payment.id)
        .execute()
    // A second movement for a paid order is still money: it waits in suspense.
    else await holdInSuspense(tx, driver, update, 'paid_twice')
    return 'already'
  }

  /**
   * Posts a reversal. After a chargeback, at any gateway, automatic top-up charges no card any
   * more.
   */
  async function reverse(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
  ): Promise<UpdateOutcome> {
    const outcome = await applyReversal(deps, tx, driver, payment, update)
    if (update.status === 'reversed' && outcome === 'recorded')
      await switchOffIf(deps, tx, payment.customer_id, 'disputed')
    return outcome
  }

  async function apply(tx: Tx, driver: Source, update: PaymentUpdate): Promise<Settled> {
    const payment =
      update.reference === null
        ? undefined
        : await tx
            .selectFrom('payment')
            .selectAll()
            .where('reference', '=', update.reference)
            .where('driver', '=', driver.name)
            .forUpdate()
            .executeTakeFirst()
    if (!payment) {
      await holdInSuspense(tx, driver, update, 'unknown_order')
      return { outcome: 'unknown_order', paymentId: null }
    }
    const paymentId = payment.id
    const settled = (outcome: UpdateOutcome): Settled => ({ outcome, paymentId })

    if (
      update.status === 'reversed' ||
      update.status === 'restored' ||
      (update.status === 'refunded' && payment.status === 'succeeded')
    )
      return settled(await reverse(tx, driver, payment, update))
    if (
      update.status === 'refunded' &&
      driver.credits === 'exact' &&
      update.currency === payment.currency &&
      update.amount > 0n &&
      update.amount <= payment.amount
    ) {
      if (await isClosed(tx, payment.customer_id))
        return settled(await returnToClosed(deps, tx, driver, payment, update))
      // The webhook about the success was missed and may still arrive: both are posted now, so that
      // the late webhook does not credit it alone.
      await credit(tx, driver, payment, {
        ...update,
        status: 'succeeded',
        amount: payment.amount,
        providerTransactionId: null,
      })
      const credited = await tx
        .selectFrom('payment')
        .selectAll()
        .where('id', '=', paymentId)
        .executeTakeFirstOrThrow()
      return settled(await applyReversal(deps, tx, driver, credited, update))
    }

    if (
      update.currency !== payment.currency ||
      (driver.credits === 'exact' && update.amount !== payment.amount)
    ) {
      await holdInSuspense(tx, driver, update, 'wrong_amount', payment.code)
      return settled('wrong_amount')
    }
    if (driver.credits === 'received') {
      if (update.status !== 'succeeded' || update.amount <= 0n) return settled('already')
      return settled(await credit(tx, driver, payment, update))
    }
    if (payment.status === 'succeeded')
      return settled(await afterSuccess(tx, driver, payment, update))
    if (update.status === 'succeeded') return settled(await credit(tx, driver, payment, update))
    // Failed or expired may still become succeeded when the money came; nothing else moves them.
    if (payment.status !== 'pending') return settled('already')
    await tx
      .updateTable('payment')
      .set({
        ...(update.status !== 'pending' && { status: 'failed', settled_at: clock.now() }),
        provider_transaction_id: update.providerTransactionId ?? payment.provider_transaction_id,
        detail: update.detail,
      })
      .where('id', '=', paymentId)
      .execute()
    if (update.status !== 'pending')
      await noteOutcome(deps, tx, driver, payment, { status: 'failed', detail: update.detail })
    return settled('recorded')
  }

  return {
    settle: (driver, update) =>
      transaction(db, async (tx) => {
        const settled = await apply(tx, driver, update)
        await keepUnmatched(tx, clock, driver, update, settled.outcome)
        return settled
      }),
  }
}
