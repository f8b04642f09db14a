/** Subscriptions: begin, change, cancel. Renewals are in renewals.ts. */
import { randomUUID } from 'node:crypto'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { shareOf } from '../../contract/pricing.ts'
import { timeZoneOf } from '../catalog/index.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { creditUnused, creditWhole } from './credit-notes.ts'
import { jobNames, type BillingContext } from './context.ts'
import { giveBackCoupons, takenOff } from './coupons.ts'
import { draftEvent, subscriptionEvent } from './events.ts'
import { numberDrafts, totalOf, writeInvoices, type Draft, type Line } from './issue.ts'
import {
  lockInvoice,
  lockSubscription,
  payLocked,
  priceColumns,
  repriced,
  type SubscriptionRow,
} from './payment.ts'
import { monthsAfter, secondsBetween } from './period.ts'
import {
  offerOf,
  offerToJson,
  subjectOf,
  subjectToRow,
  type Offer,
  type Starts,
  type Subject,
} from './product.ts'
import type { InvoiceRow } from './store.ts'

export interface NewSubscription {
  readonly customerId: string
  readonly regionCode: RegionCode
  readonly product: string
  readonly offer: Offer
  readonly currency: Currency
  readonly subject: Subject | null
}

/** `to` is the subscription's new offer; unchanged parts keep the rates of its running terms. */
export interface PriceChange {
  readonly subscriptionId: string
  readonly to: Offer
  /** An object that only the product reads: billing passes it to `offers` at the renewal. */
  readonly change: object
  /** The job that applies the change: after the payment, or with the renewal. */
  readonly starts: Starts | null
}

export async function subscribe(
  context: BillingContext,
  tx: Tx,
  of: NewSubscription,
): Promise<{ id: string; period: { start: Date; end: Date } }> {
  const now = context.clock.now()
  const periodEnd = monthsAfter(now, 1, timeZoneOf(context.catalog, of.regionCode))
  const row = await tx
    .insertInto('subscription')
    .values({
      id: randomUUID(),
      customer_id: of.customerId,
      region_code: of.regionCode,
      product: of.product,
      ...(priceColumns(JSON.parse(offerToJson(of.offer))) as {
        price: bigint
        terms: string | null
        description: string
      }),
      currency: of.currency,
      subject: of.subject && JSON.stringify(subjectToRow(of.subject)),
      status: 'pending',
      anchor_at: now,
      months: 1,
      period_start: now,
      period_end: periodEnd,
      next_at: periodEnd,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [subscriptionEvent(context, 'subscribe.create', row)])
  return { id: row.id, period: { start: now, end: periodEnd } }
}

/**
 * The price for the rest of the running period: whole seconds, one rounding. `quantity` -1
 * subtracts it.
 */
function restLine(row: SubscriptionRow, offer: Offer, now: Date, quantity: 1n | -1n): Line {
  const seconds = secondsBetween(now, row.period_end)
  const ofSeconds = secondsBetween(row.period_start, row.period_end)
  const { en, vi } = offer.description
  return {
    description:
      quantity === 1n
        ? { en: `${en}: rest of the month`, vi: `${vi}: phần còn lại của tháng` }
        : { en: `${en}: unused`, vi: `${vi}: chưa dùng` },
    quantity,
    unitPrice: shareOf(offer.price, seconds, ofSeconds),
    period: { start: now, end: row.period_end },
    ...(offer.terms && { basis: { ...offer.terms, seconds, of_seconds: ofSeconds } }),
  }
}

/**
 * The amount that cancelling now would give back, minor units: the unused share of the price, minus
 * the same share of the coupon's discount.
 */
export async function unusedOf(db: Queryable, row: SubscriptionRow, now: Date): Promise<bigint> {
  if (row.status !== 'active' || now >= row.period_end) return 0n
  const off = await takenOff(db, row.invoice_id)
  const seconds = secondsBetween(now, row.period_end)
  const ofSeconds = secondsBetween(row.period_start, row.period_end)
  return shareOf(row.price, seconds, ofSeconds) - shareOf(off, seconds, ofSeconds)
}

async function draftFor(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  of: Pick<Draft, 'kind' | 'lines' | 'starts' | 'sets'>,
): Promise<Draft> {
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer) throw new Error(`no customer ${row.customer_id}`)
  return {
    ...of,
    customer,
    currency: row.currency as Currency,
    product: row.product,
    subject: subjectOf(row.subject),
    subscriptionId: row.id,
    period: null,
  }
}

/**
 * Changes the price. A higher one is charged for the rest of the period, by the second, on an
 * invoice whose payment applies the change; a wallet that is short refuses it, and nothing is
 * written. A lower one takes effect at the renewal. If less than one minor unit is due, the change
 * applies at once without an invoice.
 */
export async function changePrice(
  context: BillingContext,
  tx: Tx,
  { subscriptionId, to, change, starts }: PriceChange,
): Promise<{ outcome: 'charged'; invoiceId: string | null } | { outcome: 'planned'; at: Date }> {
  const row = await lockSubscription(tx, subscriptionId)
  if (row?.status !== 'active') throw new Refusal('subscription_not_active')
  const now = context.clock.now()
  // The renewal is due: a change now would be priced against a period that has ended.
  if (row.period_end <= now) throw new Refusal('conflict')
  if (to.price < row.price) {
    const changed = await tx
      .updateTable('subscription')
      .set({
        planned: JSON.stringify({ change, starts, to: JSON.parse(offerToJson(to)) as unknown }),
      })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await context.outbox.publishEvents(tx, [
      subscriptionEvent(context, 'subscription.updated', changed),
    ])
    return { outcome: 'planned', at: row.period_end }
  }
  const lines = [restLine(row, to, now, 1n), restLine(row, offerOf(row), now, -1n)]
  // Nothing is charged, so there is nothing to document: the change applies at once.
  if (totalOf(lines) === 0n) {
    await repriced(context, tx, row, to)
    if (starts) await context.jobs.add(tx, starts.job, starts.payload)
    return { outcome: 'charged', invoiceId: null }
  }
  const [invoice] = await numberDrafts(
    tx,
    context.catalog,
    [await draftFor(context, tx, row, { kind: 'proration', lines, starts, sets: to })],
    now,
  )
  if (!invoice) throw new Error('a draft got no number')
  await writeInvoices(tx, context.catalog, [{ ...invoice, paid: false }], now)
  await context.outbox.publishEvents(tx, [draftEvent(context, 'invoice.create', invoice, 0n)])
  const locked = await lockInvoice(tx, invoice.id)
  if (!locked || (await payLocked(context, tx, locked, true)) !== 'paid')
    throw new Refusal('insufficient_balance')
  return { outcome: 'charged', invoiceId: invoice.id }
}

/** Voids the subscription's open invoices. */
async function voidOpen(tx: Tx, subscriptionId: string): Promise<void> {
  const closed = await tx
    .updateTable('invoice')
    .set({ status: 'void', lapses_at: null })
    .where('subscription_id', '=', subscriptionId)
    .where('status', '=', 'open')
    .returning('id')
    .execute()
  await giveBackCoupons(
    tx,
    closed.map(({ id }) => id),
  )
}

/**
 * Ends the subscription: nothing more is due, and the product removes what it sold.
 * @param credited customers whose wallets were just credited
 */
export async function end(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  credited: ReadonlySet<string> = new Set(),
): Promise<void> {
  const now = context.clock.now()
  await voidOpen(tx, row.id)
  const ended = await tx
    .updateTable('subscription')
    .set({ status: 'ended', ended_at: now, planned: null })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', ended),
  ])
  const product = context.products.get(row.product)
  if (product) await context.jobs.add(tx, product.jobs.remove, { subscriptionId: row.id })
  // A large unpaid invoice may have blocked a smaller one that the wallet can pay; the credited
  // amount may pay other open invoices.
  for (const customerId of new Set([row.customer_id, ...credited]))
    await context.jobs.add(tx, jobNames.payOpen, { customerId })
}

export async function cancel(
  context: BillingContext,
  tx: Tx,
  subscriptionId: string,
  when: 'period_end' | 'now',
): Promise<void> {
  const row = await lockSubscription(tx, subscriptionId)
  if (!row || row.status === 'ended') throw new Refusal('subscription_ended')
  if (when === 'now') {
    const product = context.products.get(row.product)
    const subject = subjectOf(row.subject)
    const { invoice_id: invoiceId } = row
    const isPaid = row.status !== 'pending' && invoiceId !== null && subject !== null
    if (isPaid && product?.hasBeenThere && !(await product.hasBeenThere(tx, subject))) {
      await undo(context, tx, invoiceId, 'the order was cancelled')
      await context.jobs.add(tx, product.jobs.remove, { subscriptionId: row.id })
      return
    }
    const unused = await unusedOf(tx, row, context.clock.now())
    const credited = unused > 0n ? await creditUnused(context, tx, row, unused) : undefined
    return await end(context, tx, row, credited)
  }
  // An unpaid subscription has no paid period to wait for.
  if (row.status !== 'active') throw new Refusal('subscription_not_active')
  if (!row.cancel_at_period_end) await setCancelled(context, tx, row.id, true)
}

/** Withdraws a planned cancellation. */
export async function resume(
  context: BillingContext,
  tx: Tx,
  subscriptionId: string,
): Promise<void> {
  const row = await lockSubscription(tx, subscriptionId)
  if (!row || row.status === 'ended') throw new Refusal('subscription_ended')
  if (row.cancel_at_period_end) await setCancelled(context, tx, row.id, false)
}

async function setCancelled(
  context: BillingContext,
  tx: Tx,
  id: string,
  cancelled: boolean,
): Promise<void> {
  const changed = await tx
    .updateTable('subscription')
    .set({ cancel_at_period_end: cancelled })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', changed),
  ])
}

/** Refunds a paid invoice into the wallet, once; voids an open one. */
async function refundInvoice(
  context: BillingContext,
  tx: Tx,
  invoice: InvoiceRow,
  reason: string,
): Promise<void> {
  await giveBackCoupons(tx, [invoice.id])
  if (invoice.status === 'paid' && invoice.total > 0n) {
    await creditWhole(context, tx, invoice, reason)
    await tx
      .updateTable('invoice')
      .set({ status: 'refunded' })
      .where('id', '=', invoice.id)
      .execute()
  }
  if (invoice.status === 'open')
    await tx
      .updateTable('invoice')
      .set({ status: 'void', lapses_at: null })
      .where('id', '=', invoice.id)
      .execute()
}

/**
 * The order failed: its invoice is refunded, and so is every other invoice of its subscription,
 * since a month may have ended before the order failed. The subscription ends.
 */
export async function undo(
  context: BillingContext,
  tx: Tx,
  invoiceId: string,
  reason: string,
): Promise<void> {
  const locked = await lockInvoice(tx, invoiceId)
  if (!locked) throw new Error(`no invoice ${invoiceId}`)
  const { invoice, subscription } = locked
  // The subscription was cancelled meanwhile, and its unused part is credited already.
  if (subscription?.status === 'ended') return
  const others = subscription
    ? await tx
        .selectFrom('invoice')
        .selectAll()
        .where('subscription_id', '=', subscription.id)
        .where('id', '!=', invoice.id)
        .where('kind', '!=', 'credit')
        .orderBy('seq')
        .forUpdate()
        .execute()
    : []
  for (const one of [invoice, ...others]) await refundInvoice(context, tx, one, reason)
  // The credited amount may pay other open invoices.
  for (const customerId of new Set([invoice, ...others].map((one) => one.customer_id)))
    await context.jobs.add(tx, jobNames.payOpen, { customerId })
  if (!subscription) return
  const ended = await tx
    .updateTable('subscription')
    .set({ status: 'ended', ended_at: context.clock.now(), planned: null })
    .where('id', '=', subscription.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', ended),
  ])
}
