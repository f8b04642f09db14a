/**
 * Settlement, one way for every gateway: a verified update is matched on reference and currency,
 * and on the amount where the gateway fixes it (`credits: 'exact'`), moves the payment only along
 * allowed transitions, and posts once. A browser never settles a payment.
 */
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
import { createSuspense, movementKey, type CreditDetails } from './suspense-holding.ts'
import type { SuspenseRow } from './suspense-rows.ts'

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

/** What is known of a movement before it is credited. */
interface Known {
  /** The gateway's number of the movement, or the payment's code. */
  readonly movement: string
  /** Its row in suspense, open or resolved. */
  readonly parked: SuspenseRow | undefined
  /** Its posting in the ledger. */
  readonly credited: Awaited<ReturnType<Ledger['posted']>>
}

export function createSettlement(deps: SettlementDeps): Settlement {
  const { db, clock, ledger, letters, jobs, log } = deps
  const suspense = createSuspense(deps)

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
    const movement = update.providerTransactionId ?? payment.code
    const known: Known = {
      movement,
      parked: await suspense.lock(tx, driver, movement),
      credited: await ledger.posted(tx, movementKey(driver, movement)),
    }
    const outcome =
      (driver.credits === 'received'
        ? await holdDoubtful(tx, driver, payment, update, known)
        : await holdOtherOrders(tx, driver, payment, update, known)) ??
      (await holdForClosed(tx, driver, payment, update, known)) ??
      (await holdAssigned(tx, driver, update, known))
    if (outcome !== undefined) return outcome
    const automatic = payment.channel === automaticChannel
    const details = {
      provider: driver.displayName,
      code: payment.code,
      ...(automatic && ({ automatic } as const)),
    }
    if (known.parked && !known.credited)
      await suspense.release(tx, driver, known.parked, payment.customer_id, details)
    const { setOff } = await post(tx, driver, payment, update, { movement, details })
    await letters.toppedUp(tx, {
      customerId: payment.customer_id,
      amount: update.amount,
      currency: payment.currency as Currency,
      provider: driver.displayName,
      transactionCode: payment.code,
      setOff,
      automatic,
    })
    await noteOutcome(deps, tx, driver, payment, { status: 'succeeded', detail: update.detail })
    await jobs.add(tx, jobNames.payOpen, { customerId: payment.customer_id })
    return 'recorded'
  }

  /**
   * Where the customer types amount and reference: a movement that another one's number names, or
   * that is perhaps known from another source, waits for a person. Undefined: it may be credited.
   */
  async function holdDoubtful(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
    { movement, parked, credited }: Known,
  ): Promise<'recorded' | 'already' | undefined> {
    if (credited && credited.code === payment.code && credited.amount === update.amount)
      return 'already'
    if (credited || (parked && parked.amount !== update.amount)) {
      await suspense.holdReused(tx, driver, update)
      return 'recorded'
    }
    const of = { movement, amount: update.amount }
    if (parked?.reason !== maybeTwice && !(await mayBeKnown(tx, ledger, driver, payment, of)))
      return undefined
    await suspense.hold(tx, driver, update, maybeTwice)
    return 'recorded'
  }

  /** One movement pays one order: the same number under another order waits for a person. */
  async function holdOtherOrders(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
    { credited }: Known,
  ): Promise<'already' | undefined> {
    if (!credited || credited.code === payment.code) return undefined
    await suspense.holdReused(tx, driver, update)
    return 'already'
  }

  /** A closed account's customer can no longer use the wallet: a person sends the money back. */
  async function holdForClosed(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
    { credited }: Known,
  ): Promise<'recorded' | 'already' | undefined> {
    if (credited || !(await isClosed(tx, payment.customer_id))) return undefined
    // The gateway reported the return before the receipt: nothing is left to hold.
    if ((await refundedTotal(tx, payment.id)) >= update.amount) return 'already'
    await suspense.hold(tx, driver, update, 'account_closed')
    return 'recorded'
  }

  /** A person has assigned the movement already: only an amount above that waits for a person. */
  async function holdAssigned(
    tx: Tx,
    driver: Source,
    update: PaymentUpdate,
    { movement, parked, credited }: Known,
  ): Promise<'already' | undefined> {
    if (credited || !parked || parked.resolved_at === null) return undefined
    log.warn(
      { driver: driver.name, movement },
      'money was assigned before the gateway told whose it is',
    )
    const of = { reason: 'wrong_amount', decided: parked.amount }
    await suspense.holdRest(tx, driver, update, movement, of)
    return 'already'
  }

  /**
   * Posts the credit and marks the payment as succeeded. Returns what was set off against debts, in
   * minor units.
   */
  async function post(
    tx: Tx,
    driver: Source,
    payment: PaymentRow,
    update: PaymentUpdate,
    { movement, details }: { readonly movement: string; readonly details: CreditDetails },
  ): Promise<{ setOff: bigint }> {
    const { outcome, setOff } = await ledger.credit(tx, {
      key: movementKey(driver, movement),
      customerId: payment.customer_id,
      driver: driver.name,
      amount: update.amount,
      currency: payment.currency as Currency,
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
    return { setOff }
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
    else await suspense.hold(tx, driver, update, 'paid_twice')
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
      await suspense.hold(tx, driver, update, 'unknown_order')
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
      await suspense.hold(tx, driver, update, 'wrong_amount', payment.code)
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
