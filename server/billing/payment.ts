/**
 * Paying an invoice from the wallet, and what follows from it. The order of all locks is in decision 18; here it is subscription, its
 * invoice, accounts.
 */
import type { Selectable } from 'kysely'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { timeZoneOf } from '../catalog/index.ts'
import type { DB } from '../platform/db-types.ts'
import type { Tx } from '../platform/db.ts'
import type { Desk } from './desk.ts'
import { invoiceEvent, subscriptionEvent } from './events.ts'
import type { Subject } from './issue.ts'
import { monthsAfter } from './period.ts'
import { offerFromJson, type Starts } from './product.ts'
import type { InvoiceRow } from './store.ts'

export type SubscriptionRow = Selectable<DB['subscription']>

export interface Held {
  readonly invoice: InvoiceRow
  readonly subscription: SubscriptionRow | undefined
}

export const lockSubscription = (tx: Tx, id: string): Promise<SubscriptionRow | undefined> =>
  tx.selectFrom('subscription').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** Subscription and invoice, locked until the transaction ends. */
export async function hold(tx: Tx, invoiceId: string): Promise<Held | undefined> {
  const known = await tx.selectFrom('invoice').select('subscription_id').where('id', '=', invoiceId).executeTakeFirst()
  const subscription = known?.subscription_id ? await lockSubscription(tx, known.subscription_id) : undefined
  const invoice = await tx.selectFrom('invoice').selectAll().where('id', '=', invoiceId).forUpdate().executeTakeFirst()
  return invoice && { invoice, subscription }
}

export const priceColumns = (sets: unknown): { price: bigint; terms: string | null; description: string } | object => {
  if (sets === null) return {}
  const { price, terms, description } = offerFromJson(sets)
  return { price, terms: terms && JSON.stringify(terms), description: JSON.stringify(description) }
}

/** Where a subscription's next period stands when it begins now: a new anchor. */
export function beginningNow(catalog: Desk['catalog'], regionCode: string, now: Date) {
  const end = monthsAfter(now, 1, timeZoneOf(catalog, regionCode as RegionCode))
  return { anchor_at: now, months: 1, period_start: now, period_end: end, next_at: end }
}

async function begun(desk: Desk, tx: Tx, row: SubscriptionRow): Promise<void> {
  if (row.status !== 'pending') return
  const now = desk.clock.now()
  // Paid so late that the first period is over: it begins with the payment, or the customer would have paid for time that has passed.
  const period = row.period_end <= now ? beginningNow(desk.catalog, row.region_code, now) : { next_at: row.period_end }
  const active = await tx
    .updateTable('subscription')
    .set({ status: 'active', ...period })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await desk.announcer.announceAll(tx, [subscriptionEvent('subscription.created', active)])
}

async function renewed(desk: Desk, tx: Tx, row: SubscriptionRow, invoice: InvoiceRow): Promise<void> {
  if ((row.status !== 'past_due' && row.status !== 'suspended') || !invoice.period_start || !invoice.period_end) return
  const now = desk.clock.now()
  const period =
    invoice.period_end <= now
      ? beginningNow(desk.catalog, row.region_code, now)
      : { months: row.months + 1, period_start: invoice.period_start, period_end: invoice.period_end, next_at: invoice.period_end }
  const active = await tx
    .updateTable('subscription')
    .set({ status: 'active', reminded: null, ...period, ...priceColumns(invoice.sets) })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await desk.announcer.announceAll(tx, [subscriptionEvent('subscription.updated', active)])
  const product = desk.products.get(row.product)
  if (row.status === 'suspended' && product) await desk.jobs.add(tx, product.jobs.resume, { subscriptionId: row.id })
}

async function repriced(desk: Desk, tx: Tx, row: SubscriptionRow, invoice: InvoiceRow): Promise<void> {
  const changed = await tx
    .updateTable('subscription')
    .set({ planned: null, ...priceColumns(invoice.sets) })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await desk.announcer.announceAll(tx, [subscriptionEvent('subscription.updated', changed)])
}

/** Charges a held invoice. `quiet`: a wallet that is short is told by the caller. */
export async function payHeld(desk: Desk, tx: Tx, { invoice, subscription }: Held, quiet = false): Promise<'paid' | 'short' | 'settled'> {
  if (invoice.status !== 'open') return 'settled'
  const subject = invoice.subject as Subject | null
  const due = invoice.total - invoice.amount_paid
  if (due > 0n) {
    const { outcome } = await desk.ledger.charge(tx, {
      key: `invoice:${invoice.id}`,
      customerId: invoice.customer_id,
      product: invoice.product,
      amount: due,
      currency: invoice.currency as Currency,
      details: { invoice: invoice.number, ...(subject && { subject: subject.wp.name }) },
    })
    if (outcome === 'short') {
      if (!quiet) await desk.announcer.announceAll(tx, [invoiceEvent('invoice.payment_failed', desk.portalUrl, invoice)])
      return 'short'
    }
  }
  const paid = await tx
    .updateTable('invoice')
    .set({ status: 'paid', amount_paid: invoice.total, paid_at: desk.clock.now() })
    .where('id', '=', invoice.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await desk.announcer.announceAll(tx, [invoiceEvent('invoice.paid', desk.portalUrl, paid)])
  if (subscription) {
    if (invoice.kind === 'order') await begun(desk, tx, subscription)
    else if (invoice.kind === 'renewal') await renewed(desk, tx, subscription, paid)
    else if (invoice.kind === 'proration') await repriced(desk, tx, subscription, paid)
  }
  const starts = invoice.starts as Starts | null
  if (starts) await desk.jobs.add(tx, starts.job, starts.payload)
  return 'paid'
}

export async function pay(desk: Desk, tx: Tx, invoiceId: string, { quiet = false } = {}): Promise<'paid' | 'short' | 'settled'> {
  const held = await hold(tx, invoiceId)
  return held ? await payHeld(desk, tx, held, quiet) : 'settled'
}
