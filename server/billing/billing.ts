/** The module's interface: invoices, subscriptions, and their jobs. */
import { later, minutes } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Runway } from '../../contract/billing.ts'
import type { Language } from '../../contract/errors.ts'
import type { ExplainedInvoice } from '../../contract/wallet-proof.ts'
import { announcePrices } from './announcements.ts'
import { jobNames, type BillingDeps, type BillingContext } from './context.ts'
import { deskSubscriptionsOf, type DeskSubscriptions } from './desk-subscriptions.ts'
import { changeCreditLine, writeCreditLetters, type ChangeCreditLine } from './credit-lines.ts'
import { quoteCoupon, takeCoupon, type Couponed, type Lowered, type UseCoupon } from './coupons.ts'
import { draftEvent } from './events.ts'
import { explainInvoice } from './explain.ts'
import { prepare, writeInvoices, type Bill } from './issue.ts'
import { lapseOf, refuseMoreUnpaid } from './orders.ts'
import { pay, type PayOutcome } from './payment.ts'
import { subjectToRow, type Product, type Subject } from './product.ts'
import { fundsOf, type Funds } from './funds.ts'
import { sweep } from './renewals.ts'
import { runway, watchRunways } from './runway.ts'
import { subscriptionOf, type Subscription } from './subscription-view.ts'
import {
  cancel,
  changePrice,
  resume,
  subscribe,
  undo,
  type NewSubscription,
  type PriceChange,
} from './subscriptions.ts'

export interface Billing {
  /** Registers a product; must be called before it is sold or falls due. */
  offer(product: Product): void
  /** Refuses with rate_limited if the customer has too many unpaid orders. */
  refuseMoreUnpaid(tx: Tx, customerId: string, language: Language): Promise<void>
  /**
   * Makes a monthly subscription that begins once its first invoice is paid. Answers its id and its
   * first period.
   */
  subscribe(
    tx: Tx,
    of: NewSubscription,
  ): Promise<{ id: string; period: { start: Date; end: Date } }>
  /** The discount of a coupon, without using it. Refuses with invalid_input. */
  quoteCoupon(db: Queryable, of: Couponed): Promise<Lowered>
  /**
   * Takes a use of a coupon for an order; `use` writes it once the order has its invoice. Refuses
   * with invalid_input.
   */
  takeCoupon(tx: Tx, of: Couponed): Promise<Lowered & { readonly use: UseCoupon }>
  /**
   * Writes the invoice of an order and adds a job that charges it. It gets its number when it is
   * paid.
   */
  issue(tx: Tx, bill: Bill): Promise<{ id: string }>
  /**
   * Charges an open invoice. `short`: the wallet does not hold enough. `settled`: the invoice was
   * no longer open, or its order has lapsed.
   */
  pay(tx: Tx, invoiceId: string): Promise<PayOutcome>
  /** Pays the open invoices of a customer, oldest first, until the wallet is short. */
  payOpen(customerId: string): Promise<void>
  /**
   * The order of this invoice failed: refunds all paid invoices of its subscription into the
   * wallet, once, makes the open ones void, and ends the subscription.
   */
  undo(tx: Tx, invoiceId: string, reason: string): Promise<void>
  /**
   * Charges an increase at once, plans a decrease for the renewal. Refusals:
   * subscription_not_active, insufficient_balance, conflict.
   */
  changePrice(
    tx: Tx,
    change: PriceChange,
  ): Promise<{ outcome: 'charged'; invoiceId: string | null } | { outcome: 'planned'; at: Date }>
  /** Cancels at the end of the period, or now with the unused part credited to the wallet. */
  cancel(tx: Tx, subscriptionId: string, when: 'period_end' | 'now'): Promise<void>
  /** Cancelling by the operator's desk. */
  readonly desk: DeskSubscriptions
  /** Renames the subscription's subject; issued invoices keep their name. */
  rename(tx: Tx, subscriptionId: string, subject: Subject): Promise<void>
  /** Withdraws a planned cancellation. */
  resume(tx: Tx, subscriptionId: string): Promise<void>
  /** The subscription's present state. Undefined: no such subscription. */
  subscription(db: Queryable, id: string): Promise<Subscription | undefined>
  runway(db: Queryable, customerId: string): Promise<Runway>
  /** By customer: the wallet's balance, and the renewals that it pays until a moment. */
  fundsOf(
    db: Queryable,
    customerIds: readonly string[],
    until: Date,
  ): Promise<ReadonlyMap<string, Funds>>
  /** What an invoice was computed from. Null: the customer has no invoice of that number. */
  explainInvoice(
    db: Queryable,
    of: { customerId: string; number: string; language: Language },
  ): Promise<ExplainedInvoice | null>
  /**
   * Does everything that is due: renewals, reminders, suspensions, deletions, orders that lapse.
   */
  sweep(signal?: AbortSignal): Promise<void>
  /** Warns customers whose wallets will not last. */
  watchRunways(signal?: AbortSignal): Promise<void>
  /**
   * Gives a customer a credit line, changes it, or ends it with a limit of 0, and tells the
   * customer. Answers the line before and after.
   */
  changeCreditLine: ChangeCreditLine
  /** Sends reminders of debts that are due soon, and letters about overdue ones. */
  writeCreditLetters(signal?: AbortSignal): Promise<void>
  /** Announces renewals that will cost more. */
  announcePrices(signal?: AbortSignal): Promise<void>
  /**
   * The number of subscriptions that were due minutes ago and were not handled: above zero, the
   * sweep is stuck.
   */
  waiting(): Promise<number>
  /** Enqueues the jobs now: the clock was moved, or the portal was down for a while. */
  enqueueSweeps(): Promise<void>
}

/** How long something may be overdue before it counts as waiting. */
const overdueAfterMs = minutes(5)

export function createBilling(deps: BillingDeps): Billing {
  const { db, jobs, clock, catalog } = deps
  const products = new Map<string, Product>()
  const context: BillingContext = { ...deps, products }

  const billing: Billing = {
    offer: (product) => void products.set(product.name, product),
    refuseMoreUnpaid: (tx, id, language) => refuseMoreUnpaid(context, tx, id, language),
    subscribe: (tx, of) => subscribe(context, tx, of),
    quoteCoupon: (from, of) => quoteCoupon(from, clock, of),
    takeCoupon: (tx, of) => takeCoupon(tx, clock, of),
    async issue(tx, bill) {
      const now = clock.now()
      const invoice = prepare({ ...bill, kind: 'order', period: null, sets: null })
      const { lapsesAt, nextAt } = lapseOf(context, now)
      const lapses = bill.subscriptionId === null ? {} : { lapsesAt }
      await writeInvoices(tx, catalog, [{ ...invoice, ...lapses, paid: false }], now)
      if (bill.subscriptionId !== null)
        await tx
          .updateTable('subscription')
          .set({ invoice_id: invoice.id, next_at: nextAt })
          .where('id', '=', bill.subscriptionId)
          .execute()
      await deps.outbox.publishEvents(tx, [draftEvent(context, 'invoice.create', invoice, 0n)])
      await jobs.add(tx, jobNames.pay, { invoiceId: invoice.id })
      return { id: invoice.id }
    },
    pay: (tx, invoiceId) => pay(context, tx, invoiceId),
    payOpen: (customerId) => payOpen(context, db, customerId),
    undo: (tx, invoiceId, reason) => undo(context, tx, invoiceId, reason),
    changePrice: (tx, change) => changePrice(context, tx, change),
    cancel: (tx, id, when) => cancel(context, tx, id, when),
    desk: deskSubscriptionsOf(context),
    async rename(tx, subscriptionId, subject) {
      await tx
        .updateTable('subscription')
        .set({ subject: JSON.stringify(subjectToRow(subject)) })
        .where('id', '=', subscriptionId)
        .execute()
    },
    resume: (tx, id) => resume(context, tx, id),
    subscription: (from, id) => subscriptionOf(context, from, id),
    runway: (from, customerId) => runway(context, from, customerId),
    fundsOf: (from, ids, until) => fundsOf(context, from, ids, until),
    explainInvoice: (from, of) => explainInvoice(context, from, of),
    sweep: (signal) => sweep(context, signal),
    watchRunways: (signal) => watchRunways(context, signal),
    changeCreditLine: (tx, of) => changeCreditLine(context, tx, of),
    writeCreditLetters: (signal) => writeCreditLetters(context, signal),
    announcePrices: (signal) => announcePrices(context, signal),
    async waiting() {
      const before = later(clock.now(), -overdueAfterMs)
      // Each status has its own partial index; one query for both would read the whole table.
      const overdue = async (statuses: readonly string[]): Promise<bigint> => {
        const { n } = await db
          .selectFrom('subscription')
          .select((eb) => eb.fn.countAll<bigint>().as('n'))
          .where('status', 'in', statuses)
          .where('next_at', '<', before)
          .executeTakeFirstOrThrow()
        return n
      }
      return Number(
        (await overdue(['active', 'past_due', 'suspended'])) + (await overdue(['pending'])),
      )
    },
    enqueueSweeps: () =>
      transaction(db, async (tx) => {
        await jobs.add(tx, jobNames.sweep, {})
        await jobs.add(tx, jobNames.watch, {})
        await jobs.add(tx, jobNames.announce, {})
        await jobs.add(tx, jobNames.creditLetters, {})
      }),
  }

  jobs.define<{ invoiceId: string }>({
    name: jobNames.pay,
    concurrency: 2,
    retries: 1000,
    run: async ({ invoiceId }) => {
      await transaction(db, (tx) => billing.pay(tx, invoiceId))
    },
  })
  jobs.define<{ customerId: string }>({
    name: jobNames.payOpen,
    concurrency: 2,
    retries: 1000,
    run: ({ customerId }) => billing.payOpen(customerId),
  })
  // The sweep finds due items by a query, so a missed or doubled run is harmless.
  jobs.define({
    name: jobNames.sweep,
    cron: '* * * * *',
    retries: 3,
    limitSeconds: 3600,
    run: (_payload, { signal }) => billing.sweep(signal),
  })
  jobs.define({
    name: jobNames.watch,
    cron: '41 * * * *',
    retries: 3,
    limitSeconds: 3600,
    run: (_payload, { signal }) => billing.watchRunways(signal),
  })
  jobs.define({
    name: jobNames.announce,
    cron: '11 * * * *',
    retries: 3,
    limitSeconds: 3600,
    run: (_payload, { signal }) => billing.announcePrices(signal),
  })
  jobs.define({
    name: jobNames.creditLetters,
    cron: '23 * * * *',
    retries: 3,
    limitSeconds: 3600,
    run: (_payload, { signal }) => billing.writeCreditLetters(signal),
  })
  return billing
}

async function payOpen(context: BillingContext, db: Database, customerId: string): Promise<void> {
  const open = await db
    .selectFrom('invoice')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'open')
    .orderBy('seq')
    .execute()
  // Oldest first. An invoice that the wallet is short for does not stop the later ones; the
  // customer is told of the first only.
  let short = false
  for (const { id } of open)
    short =
      (await transaction(db, (tx) => pay(context, tx, id, { quiet: short }))) === 'short' || short
}
