/**
 * Beginning a top-up on another page, the gateway's or our own with transfer instructions; and what
 * a customer may know of a payment.
 */
import type { Language } from '../../contract/errors.ts'
import type { Currency } from '../../contract/money.ts'
import type {
  DeclineReason,
  PaymentStatus,
  Transfer,
  WaitingTransfer,
} from '../../contract/payments.ts'
import type { Catalog } from '../catalog/index.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import { automaticChannel, type PaymentDriver } from './driver.ts'
import type { Orders, PaymentRow, PaymentInput } from './orders.ts'
import { available, routeOf, type Route } from './routing.ts'

interface Shown {
  transactionCode: string
  description: string
  amount: number
  currency: Currency
  status: PaymentStatus
  createdAt: string
  /** Why it failed, where the gateway said so. */
  reason: DeclineReason | null
  held: { amount: number; currency: Currency } | null
  setOff: { amount: number; currency: Currency } | null
}

export interface Checkout {
  begin(
    input: PaymentInput & { type: 1 | 2; method: Route['method'] },
  ): Promise<{ checkoutUrl: string; transactionCode: string }>
  find(db: Queryable, customerId: string, code: string, language: Language): Promise<Shown>
  /**
   * How to make the transfer of a payment that is made at the customer's bank; any other payment is
   * unknown here.
   */
  transfer(db: Queryable, customerId: string, code: string, language: Language): Promise<Transfer>
  /**
   * Transfers begun within the last day that brought no money yet, newest first, so that a customer
   * who left the page finds the way back.
   */
  waitingTransfers(db: Queryable, customerId: string): Promise<WaitingTransfer[]>
}

const mostTransfers = 5

export function createCheckout(deps: {
  db: Database
  clock: Clock
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  orders: Orders
}): Checkout {
  const { clock, catalog, drivers, orders } = deps
  const byTransfer = [...drivers.values()]
    .filter((driver) => driver.kind === 'hosted' && driver.instructions)
    .map(({ name }) => name)

  async function held(from: Queryable, payment: PaymentRow): Promise<Shown['held']> {
    const parked = await from
      .selectFrom('payment_suspense')
      .select(['amount', 'currency'])
      .where('driver', '=', payment.driver)
      .where('code', '=', payment.reference)
      .where('resolved_at', 'is', null)
      .orderBy('id', 'desc')
      .executeTakeFirst()
    return parked ? { amount: Number(parked.amount), currency: parked.currency as Currency } : null
  }

  async function shown(from: Queryable, payment: PaymentRow, language: Language): Promise<Shown> {
    const provider = drivers.get(payment.driver)?.displayName ?? payment.driver
    const topUp =
      payment.channel === automaticChannel
        ? { en: 'Automatic top-up', vi: 'Tự động nạp ví' }
        : { en: 'Top-up', vi: 'Nạp ví' }
    // After a credit, show the credited amount: the customer chooses the amount of a transfer.
    const amount = payment.status === 'succeeded' ? payment.received : payment.amount
    return {
      transactionCode: payment.code,
      description:
        language === 'vi' ? `${topUp.vi} qua ${provider}` : `${topUp.en} via ${provider}`,
      amount: Number(amount),
      currency: payment.currency as Currency,
      status: payment.status as PaymentStatus,
      createdAt: payment.created_at.toISOString(),
      reason:
        (payment.status === 'failed' &&
          drivers.get(payment.driver)?.declineReason?.(payment.detail ?? '')) ||
        null,
      held: await held(from, payment),
      setOff:
        payment.set_off === 0n
          ? null
          : { amount: Number(payment.set_off), currency: payment.currency as Currency },
    }
  }

  return {
    async begin(input) {
      const routes = available(catalog, drivers, input.buyer.regionCode)
      const route = routeOf(routes, input.type, input.method)
      const driver = route && drivers.get(route.gateway)
      if (!route || driver?.kind !== 'hosted') throw new Refusal('method_unavailable')
      const payment = await orders.open(input, driver, route.channel)
      // The payment is stored before the gateway is called: a webhook that arrives at once finds
      // it.
      const { checkoutUrl, providerRef } = await driver
        .begin(orders.orderOf(payment, input.buyer))
        .catch(async (error: unknown) => {
          // A rejection is permanent: another try would fail the same way.
          if (!(error instanceof DriverFailure) || error.kind !== 'rejected') throw error
          await orders.refuse(payment.id, error.message)
          throw new Refusal('payment_refused')
        })
      await orders.keepRef(payment.id, providerRef)
      return { checkoutUrl, transactionCode: payment.code }
    },

    find: async (db, customerId, code, language) =>
      await shown(db, await orders.own(db, customerId, code), language),

    async transfer(db, customerId, code, language) {
      const payment = await orders.own(db, customerId, code)
      const driver = drivers.get(payment.driver)
      if (driver?.kind !== 'hosted' || !driver.instructions) throw new Refusal('not_found')
      const instructions = driver.instructions(
        orders.orderOf(payment, await orders.buyerOf(customerId)),
      )
      return {
        ...(await shown(db, payment, language)),
        // The amount to transfer, independent of the payment's state.
        amount: Number(payment.amount),
        received: Number(payment.received),
        expiresAt: payment.expires_at.toISOString(),
        ...instructions,
      }
    },

    async waitingTransfers(db, customerId) {
      if (byTransfer.length === 0) return []
      const rows = await db
        .selectFrom('payment')
        .select(['code', 'amount', 'currency', 'expires_at'])
        .where('customer_id', '=', customerId)
        .where('driver', 'in', byTransfer)
        // An expired payment is still credited when its money arrives.
        .where('status', 'in', ['pending', 'expired'])
        .where('created_at', '>', later(clock.now(), -days(1)))
        .orderBy('created_at', 'desc')
        .limit(mostTransfers)
        .execute()
      return rows.map(({ code, amount, currency, expires_at: expiresAt }) => ({
        transactionCode: code,
        amount: Number(amount),
        currency: currency as Currency,
        expiresAt: expiresAt.toISOString(),
      }))
    },
  }
}
