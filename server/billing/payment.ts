/**
 * Paying an invoice from the wallet, and what follows from it. The order of all locks is in
 * decision 18; here it is subscription, its invoice, accounts.
 */
import type { Selectable } from 'kysely'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { sql } from 'kysely'
import { timeZoneOf } from '../catalog/index.ts'
import { later, minutes } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { lendUntil, noteLent } from './credit-lines.ts'
import { invoiceEvent, subscriptionEvent } from './events.ts'
import { nextNumbers } from './numbers.ts'
import { monthsAfter, secondsBetween, yearIn } from './period.ts'
import { offerFromJson, offerToJson, subjectOf, type Offer, type Starts } from './product.ts'
import { receipt } from './receipts.ts'
import { renewAnew } from './reissue.ts'
import type { InvoiceRow } from './store.ts'

export type SubscriptionRow = Selectable<DB['subscription']>

export interface LockedInvoice {
  readonly invoice: InvoiceRow
  readonly subscription: SubscriptionRow | undefined
}

export const lockSubscription = (tx: Tx, id: string): Promise<SubscriptionRow | undefined> =>
  tx.selectFrom('subscription').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** Locks a subscription and its invoice until the transaction ends. */
export async function lockInvoice(tx: Tx, invoiceId: string): Promise<LockedInvoice | undefined> {
  const known = await tx
    .selectFrom('invoice')
    .select('subscription_id')
    .where('id', '=', invoiceId)
    .executeTakeFirst()
  const subscription = known?.subscription_id
    ? await lockSubscription(tx, known.subscription_id)
    : undefined
  const invoice = await tx
    .selectFrom('invoice')
    .selectAll()
    .where('id', '=', invoiceId)
    .forUpdate()
    .executeTakeFirst()
  return invoice && { invoice, subscription }
}

export const priceColumns = (
  sets: unknown,
): { price: bigint; terms: string | null; description: string } | object => {
  if (sets === null) return {}
  const { price, terms, description } = offerFromJson(sets)
  return { price, terms: terms && JSON.stringify(terms), description: JSON.stringify(description) }
}

/** The next period of a subscription that begins now, with a new anchor. */
export function beginningNow(catalog: BillingContext['catalog'], regionCode: string, now: Date) {
  const end = monthsAfter(now, 1, timeZoneOf(catalog, regionCode as RegionCode))
  return { anchor_at: now, months: 1, period_start: now, period_end: end, next_at: end }
}

/** An order's lines get the period of its subscription, which begins with the payment. */
async function datedFromNow(tx: Tx, invoiceId: string, start: Date, end: Date): Promise<void> {
  const seconds = secondsBetween(start, end)
  await tx
    .updateTable('invoice_line')
    .set({
      period_start: start,
      period_end: end,
      basis: sql`basis || jsonb_build_object('seconds', ${seconds}::bigint, 'of_seconds',
        ${seconds}::bigint)`,
    })
    .where('invoice_id', '=', invoiceId)
    .where('period_start', 'is not', null)
    .execute()
}

async function begun(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  now: Date,
): Promise<void> {
  if (row.status !== 'pending') return
  const active = await tx
    .updateTable('subscription')
    .set({
      status: 'active',
      reminded: null,
      ...beginningNow(context.catalog, row.region_code, now),
    })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.created', active),
  ])
}

async function renewed(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  invoice: InvoiceRow,
): Promise<void> {
  if (
    (row.status !== 'past_due' && row.status !== 'suspended') ||
    !invoice.period_start ||
    !invoice.period_end
  )
    return
  // A suspended service that is paid after its month has ended gets another period.
  const period =
    invoice.id === row.invoice_id
      ? {
          months: row.months + 1,
          period_start: invoice.period_start,
          period_end: invoice.period_end,
          next_at: invoice.period_end,
        }
      : {
          invoice_id: invoice.id,
          ...beginningNow(context.catalog, row.region_code, invoice.period_start),
        }
  const active = await tx
    .updateTable('subscription')
    .set({
      status: 'active',
      reminded: null,
      dunning_from: null,
      ...period,
      ...priceColumns(invoice.sets),
    })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', active),
  ])
  const product = context.products.get(row.product)
  if (row.status === 'suspended' && product)
    await context.jobs.add(tx, product.jobs.resume, { subscriptionId: row.id })
}

/** Gives the subscription a new price from now on and removes the planned change. */
export async function repriced(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  to: Offer,
): Promise<void> {
  const changed = await tx
    .updateTable('subscription')
    .set({ planned: null, ...priceColumns(JSON.parse(offerToJson(to))) })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', changed),
  ])
}

/**
 * The invoice that will be charged: it has its number. The days of a service that stood still are
 * not charged, so its period begins with the payment; one that is past due ran on, because the
 * staff put its suspension off (decision 149), and is charged as it stands.
 */
async function payable(
  context: BillingContext,
  tx: Tx,
  { invoice, subscription }: LockedInvoice,
  now: Date,
): Promise<InvoiceRow> {
  const stoodStill = invoice.kind === 'renewal' && subscription?.status === 'suspended'
  if (stoodStill && invoice.period_end && invoice.period_end <= now)
    return await renewAnew(
      context,
      tx,
      invoice,
      beginningNow(context.catalog, invoice.region_code, now),
    )
  if (invoice.number !== null) return invoice
  if (invoice.kind === 'order' && subscription) {
    const { period_start: start, period_end: end } = beginningNow(
      context.catalog,
      subscription.region_code,
      now,
    )
    await datedFromNow(tx, invoice.id, start, end)
  }
  const year = yearIn(timeZoneOf(context.catalog, invoice.region_code as RegionCode), now)
  const [number] = await nextNumbers(tx, 'invoice', invoice.region_code, year, 1)
  return await tx
    .updateTable('invoice')
    .set({ number, issued_at: now })
    .where('id', '=', invoice.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

async function writeReceipt(
  context: BillingContext,
  tx: Tx,
  paid: InvoiceRow,
  amountLent: bigint,
): Promise<void> {
  const lent = await noteLent(context, tx, {
    customerId: paid.customer_id,
    region: paid.region_code,
    amount: amountLent,
    currency: paid.currency as Currency,
  })
  const customer = (await context.customers(tx, [paid.customer_id])).get(paid.customer_id)
  const line = await tx
    .selectFrom('invoice_line')
    .select(['description_en as en', 'description_vi as vi'])
    .where('invoice_id', '=', paid.id)
    .orderBy('position')
    .executeTakeFirst()
  // The demo customer's paid invoices were seeded: they get no receipt.
  if (!customer || !line) return
  await receipt(context, tx, {
    customer,
    number: paid.number ?? '',
    amount: paid.total,
    currency: paid.currency as Currency,
    what: line,
    invoiceId: paid.id,
    lent,
  })
}

/** When what is lent for this invoice falls due. */
async function loanOf(context: BillingContext, tx: Tx, { customer_id: id, ...of }: InvoiceRow) {
  const customer = (await context.customers(tx, [id])).get(id)
  return lendUntil(context, customer ?? { regionCode: of.region_code as RegionCode })
}

/** Pause between two tries to pay an order whose product has no capacity. */
export const payAgainMs = minutes(10)

/** The sweep retries the payment until there is capacity or the order lapses. */
async function waitForRoom(
  { clock, jobs }: BillingContext,
  tx: Tx,
  { id }: SubscriptionRow,
  job: string | undefined,
): Promise<void> {
  await tx
    .updateTable('subscription')
    .set({ next_at: sql`least(next_at, ${later(clock.now(), payAgainMs)}::timestamptz)` })
    .where('id', '=', id)
    .execute()
  if (job !== undefined) await jobs.add(tx, job, { subscriptionId: id })
}

/** `unavailable`: the product has no capacity left for the order, and nothing was charged. */
export type PayOutcome = 'paid' | 'short' | 'settled' | 'unavailable'

/**
 * Charges a locked invoice. `quiet`: do not report a wallet that is short. A lapsed order counts as
 * settled, even before a sweep has closed it.
 */
export async function payLocked(
  context: BillingContext,
  tx: Tx,
  locked: LockedInvoice,
  quiet = false,
): Promise<PayOutcome> {
  const { subscription } = locked
  if (locked.invoice.status !== 'open') return 'settled'
  // One moment for both, so that the invoice's lines and the subscription name the same period.
  const now = context.clock.now()
  if (locked.invoice.lapses_at && locked.invoice.lapses_at <= now) return 'settled'
  // If the wallet is short, the rollback frees the number and leaves the invoice unchanged.
  await sql`savepoint paying`.execute(tx)
  const invoice = await payable(context, tx, locked, now)
  const subject = subjectOf(invoice.subject)
  if (invoice.kind === 'order' && subject) {
    const product = context.products.get(invoice.product)
    if (product?.reserve && !(await product.reserve(tx, subject))) {
      await sql`rollback to savepoint paying`.execute(tx)
      if (subscription) await waitForRoom(context, tx, subscription, product.jobs.wait)
      return 'unavailable'
    }
  }
  const due = invoice.total - invoice.amount_paid
  let amountLent = 0n
  if (due > 0n) {
    const { outcome, lent } = await context.ledger.charge(tx, {
      key: `invoice:${invoice.id}`,
      customerId: invoice.customer_id,
      product: invoice.product,
      amount: due,
      currency: invoice.currency as Currency,
      details: { invoice: invoice.number ?? '', ...(subject && { subject: subject.name }) },
      // A loan keeps a running subscription alive; it buys nothing new.
      ...(invoice.kind === 'renewal' && { lendUntil: await loanOf(context, tx, invoice) }),
    })
    amountLent = lent
    if (outcome === 'short') {
      await sql`rollback to savepoint paying`.execute(tx)
      await context.onCharged?.(tx, [invoice.customer_id])
      if (!quiet)
        await context.outbox.publishEvents(tx, [
          invoiceEvent(context, 'invoice.payment_failed', locked.invoice),
        ])
      return 'short'
    }
    await context.onCharged?.(tx, [invoice.customer_id])
  }
  await sql`release savepoint paying`.execute(tx)
  const paid = await tx
    .updateTable('invoice')
    .set({ status: 'paid', amount_paid: invoice.total, paid_at: now })
    .where('id', '=', invoice.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await context.outbox.publishEvents(tx, [invoiceEvent(context, 'invoice.paid', paid)])
  await writeReceipt(context, tx, paid, amountLent)
  if (subscription) {
    if (invoice.kind === 'order') await begun(context, tx, subscription, now)
    else if (invoice.kind === 'renewal') await renewed(context, tx, subscription, paid)
    else if (invoice.kind === 'proration')
      await repriced(context, tx, subscription, offerFromJson(invoice.sets))
  }
  const starts = invoice.starts as Starts | null
  if (starts) await context.jobs.add(tx, starts.job, starts.payload)
  return 'paid'
}

export async function pay(
  context: BillingContext,
  tx: Tx,
  invoiceId: string,
  { quiet = false } = {},
): Promise<PayOutcome> {
  const locked = await lockInvoice(tx, invoiceId)
  return locked ? await payLocked(context, tx, locked, quiet) : 'settled'
}
