/**
 * One automatic charge at the gateway: made, made again under its code after a crash, or asked
 * about where its answer is lost.
 */
import { hours, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import { noteOutcome, switchOffIf } from './auto-top-up-outcome.ts'
import { UnknownCard, UnknownCustomer, type CardDriver } from './driver.ts'
import type { Letters } from './letters.ts'
import type { Orders, PaymentRow } from './orders.ts'
import type { Settlement } from './settle.ts'

/** A gateway's search may not find a payment at once: sooner, “there is none” is not believed. */
const unknownAfterMs = hours(1)

/** A charge that is to be made, made again under its code, or asked about. */
export interface Task {
  readonly act: 'charge' | 'charge_again' | 'ask'
  readonly payment: PaymentRow
  readonly cardId: string
}

const lockPayment = (tx: Tx, id: string): Promise<PaymentRow> =>
  tx.selectFrom('payment').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()

export function createAutomaticCharges(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly letters: Letters
  readonly orders: Orders
  readonly settlement: Settlement
  readonly log: Log
}): (driver: CardDriver, task: Task) => Promise<void> {
  const { db, clock, orders, settlement, log } = deps

  /** The charge did not happen, and why: the gateway's own words. */
  const fails = (
    driver: CardDriver,
    { id }: PaymentRow,
    detail: string,
    how: 'declined' | 'not_charged',
  ): Promise<void> =>
    transaction(db, async (tx) => {
      const payment = await lockPayment(tx, id)
      if (payment.status === 'succeeded') return
      await orders.refuse(id, detail, tx)
      if (how === 'declined')
        return await noteOutcome(deps, tx, driver, payment, { status: 'failed', detail })
      await tx
        .updateTable('auto_top_up_charge')
        .set({ state: how, decided_at: clock.now(), detail })
        .where('payment_id', '=', id)
        .where('state', '=', 'under_way')
        .execute()
    })

  /** Queries the gateway about the charge. Answers whether its outcome is final. */
  async function ask(driver: CardDriver, { act, payment }: Task): Promise<boolean> {
    const update = await driver.lookUp(
      orders.orderOf(payment, await orders.buyerOf(payment.customer_id)),
    )
    if (update?.status === 'pending') return true
    if (update) {
      await settlement.settle(driver, update)
      // A payment that is settled already, by an older release or because it expired, is not again.
      if (update.status === 'failed') await fails(driver, payment, update.detail, 'declined')
      else
        await transaction(db, async (tx) => {
          const of = { status: 'succeeded', detail: update.detail } as const
          await noteOutcome(deps, tx, driver, await lockPayment(tx, payment.id), of)
        })
      return true
    }
    const isBelieved = clock.now() > later(payment.created_at, unknownAfterMs)
    if (act === 'ask' && isBelieved) await fails(driver, payment, 'never charged', 'not_charged')
    return act === 'ask'
  }

  async function charge(driver: CardDriver, task: Task): Promise<void> {
    const { payment, cardId } = task
    const customerId = payment.customer_id
    const known = await db
      .selectFrom('card_customer')
      .select('reference')
      .where('customer_id', '=', customerId)
      .where('driver', '=', driver.name)
      .executeTakeFirst()
    try {
      if (!known) throw new UnknownCustomer('no card was ever linked')
      const update = await driver.chargeOffSession(
        orders.orderOf(payment, await orders.buyerOf(customerId)),
        { customerRef: known.reference, cardId },
      )
      // A refund or a dispute will name the payment as the provider does.
      await orders.keepRef(payment.id, update.paymentRef ?? null)
      await settlement.settle(driver, update)
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      if (error.kind !== 'rejected') {
        // The card may have been charged. A webhook or a query decides.
        log.warn({ err: error, code: payment.code }, 'an automatic charge whose answer is lost')
        return
      }
      const isGone = error instanceof UnknownCard || error instanceof UnknownCustomer
      if (isGone)
        await transaction(db, (tx) =>
          switchOffIf(deps, tx, customerId, 'card_gone', (rule) => rule.card_id === cardId),
        )
      // The first call may have charged the card before it was unlinked, so the gateway is queried.
      if (!isGone || task.act === 'charge')
        await fails(driver, payment, error.message, isGone ? 'not_charged' : 'declined')
    }
  }

  return async (driver, task) => {
    try {
      if (task.act !== 'charge' && (await ask(driver, task))) return
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, code: task.payment.code }, 'an automatic charge is still unknown')
      return
    }
    await charge(driver, task)
  }
}
