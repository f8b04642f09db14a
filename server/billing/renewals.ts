/**
 * The sweep: finds everything that is due by one index, and handles it in batches of rows that
 * nobody else has locked. The sweep is idempotent and may be killed anywhere: a batch is one
 * transaction, and the next query no longer finds what the batch handled.
 */
import type { Currency, RegionCode } from '../../contract/money.ts'
import { sql } from 'kysely'
import { timeZoneOf } from '../catalog/index.ts'
import {
  databaseError,
  databaseIsAway,
  transaction,
  type Queryable,
  type Tx,
} from '../platform/db.ts'
import type { OutboxEvent } from '../realtime/index.ts'
import type { BillingContext } from './context.ts'
import { lendUntil, noteLent } from './credit-lines.ts'
import { runDunningStep } from './dunning.ts'
import { runPendingOrders } from './orders.ts'
import { draftEvent, subscriptionEvent } from './events.ts'
import { numberDrafts, writeInvoices, type Draft } from './issue.ts'
import type { SubscriptionRow } from './payment.ts'
import { monthsAfter, secondsBetween } from './period.ts'
import { plannedOf, subjectOf } from './product.ts'
import { renewalPricesOf, renewalOffer } from './prospects.ts'
import { receipt } from './receipts.ts'
import { end } from './subscriptions.ts'

/** How long to wait for a row that another transaction has locked. */
const longestWait = '3s'
const lockNotAvailable = '55P03'
/** Renewals per transaction, which locks the accounts that they share. */
const batchSize = 100

/**
 * Writes invoice, charge and new period of many renewals, with one statement for all of them each.
 */
async function renew(
  context: BillingContext,
  tx: Tx,
  rows: readonly SubscriptionRow[],
): Promise<void> {
  for (const row of rows.filter(({ cancel_at_period_end }) => cancel_at_period_end))
    await end(context, tx, row)
  const due = rows.filter(({ cancel_at_period_end }) => !cancel_at_period_end)
  if (due.length === 0) return
  const now = context.clock.now()
  const prospects = await renewalPricesOf(context, tx, due)
  const customers = await context.customers(tx, [...new Set(due.map((row) => row.customer_id))])
  const drafts = due.map((row): Draft => {
    const customer = customers.get(row.customer_id)
    const prospect = prospects.get(row.id)
    if (!customer || !prospect) throw new Error(`nothing is known of subscription ${row.id}`)
    const period = {
      start: row.period_end,
      end: monthsAfter(
        row.anchor_at,
        row.months + 1,
        timeZoneOf(context.catalog, row.region_code as RegionCode),
      ),
    }
    const offer = renewalOffer(prospect, row.period_end)
    const seconds = secondsBetween(period.start, period.end)
    return {
      kind: 'renewal',
      customer,
      currency: row.currency as Currency,
      product: row.product,
      subject: subjectOf(row.subject),
      subscriptionId: row.id,
      period,
      starts: plannedOf(row.planned)?.starts ?? null,
      sets: offer,
      lines: [
        {
          description: offer.description,
          quantity: 1n,
          unitPrice: offer.price,
          period,
          ...(offer.terms && { basis: { ...offer.terms, seconds, of_seconds: seconds } }),
        },
      ],
    }
  })
  const numbered = await numberDrafts(tx, context.catalog, drafts, now)
  const priced = numbered.filter(({ total }) => total > 0n)
  const outcomes = await context.ledger.chargeAll(
    tx,
    priced.map((invoice) => ({
      key: `invoice:${invoice.id}`,
      customerId: invoice.customer.id,
      product: invoice.product,
      amount: invoice.total,
      currency: invoice.currency,
      details: {
        invoice: invoice.number,
        ...(invoice.subject && { subject: invoice.subject.name }),
      },
      lendUntil: lendUntil(context, invoice.customer),
    })),
  )
  await context.onCharged?.(tx, [...new Set(priced.map(({ customer }) => customer.id))])
  const lentFor = new Map(priced.map(({ id }, index) => [id, outcomes[index]?.lent ?? 0n]))
  const short = new Set(
    priced.filter((_, index) => outcomes[index]?.outcome === 'short').map(({ id }) => id),
  )
  await writeInvoices(
    tx,
    context.catalog,
    numbered.map((invoice) => ({ ...invoice, paid: !short.has(invoice.id) })),
    now,
  )
  const moved = due.map((row, index) => {
    const invoice = numbered[index]
    if (!invoice?.period || !invoice.sets) throw new Error('a renewal has no period')
    return {
      row,
      invoice,
      period: invoice.period,
      offer: invoice.sets,
      paid: !short.has(invoice.id),
    }
  })
  await sql`
    update subscription s
    set invoice_id = m.invoice_id::uuid, planned = null, reminded = null,
        -- What was announced has acted now, or acts later.
        rise = case when (s.rise->>'actsAt')::timestamptz <= s.period_end then null else s.rise end,
        price = m.price, terms = m.terms::jsonb, description = m.description::jsonb,
        status = case when m.paid then 'active' else 'past_due' end,
        months = s.months + case when m.paid then 1 else 0 end,
        period_start = case when m.paid then s.period_end else s.period_start end,
        period_end = case when m.paid then m.period_end else s.period_end end,
        next_at = case when m.paid then m.period_end else s.period_end end
    from unnest(
      ${moved.map(({ row }) => row.id)}::text[], ${moved.map(({ invoice }) => invoice.id)}::text[],
      ${moved.map(({ offer }) => String(offer.price))}::bigint[],
      ${moved.map(({ offer }) => offer.terms && JSON.stringify(offer.terms))}::text[],
      ${moved.map(({ offer }) => JSON.stringify(offer.description))}::text[],
      ${moved.map(({ period }) => period.end)}::timestamptz[],
      ${moved.map(({ paid }) => paid)}::boolean[]
    ) as m (id, invoice_id, price, terms, description, period_end, paid)
    where s.id = m.id::uuid
  `.execute(tx)
  const events = moved.flatMap(({ row, invoice, period, offer, paid }): OutboxEvent[] => [
    draftEvent(context, 'invoice.create', invoice, 0n),
    paid
      ? draftEvent(context, 'invoice.paid', invoice, invoice.total)
      : draftEvent(context, 'invoice.payment_failed', invoice, 0n),
    subscriptionEvent(context, 'subscription.updated', {
      ...row,
      price: offer.price,
      ...(paid ? { status: 'active', period_end: period.end } : { status: 'past_due' }),
    }),
  ])
  await context.outbox.publishEvents(tx, events)
  for (const { row, invoice, offer, paid } of moved)
    if (paid)
      await receipt(context, tx, {
        customer: invoice.customer,
        number: invoice.number,
        amount: invoice.total,
        currency: invoice.currency,
        what: offer.description,
        invoiceId: invoice.id,
        lent: await noteLent(context, tx, {
          customerId: row.customer_id,
          region: row.region_code,
          amount: lentFor.get(invoice.id) ?? 0n,
          currency: invoice.currency,
        }),
      })
  for (const { invoice, paid } of moved)
    if (paid && invoice.starts)
      await context.jobs.add(tx, invoice.starts.job, invoice.starts.payload)
}

interface Phase {
  readonly statuses: readonly string[]
  readonly size: number
  readonly act: (context: BillingContext, tx: Tx, rows: readonly SubscriptionRow[]) => Promise<void>
}
const phases: readonly Phase[] = [
  { statuses: ['active'], size: batchSize, act: renew },
  { statuses: ['past_due', 'suspended'], size: 1, act: runDunningStep },
  { statuses: ['pending'], size: 1, act: runPendingOrders },
]

/**
 * Handles batch after batch until nothing is due. Rows that another transaction has locked are left
 * to the end and then waited for, one by one: that transaction may have read them before they fell
 * due. The rows of a failed batch are retried singly, so that one bad row delays no other. A lost
 * database connection is not a row's fault: the phase ends, and the next sweep continues in the
 * same order.
 */
async function drain(
  context: BillingContext,
  { statuses, size, act }: Phase,
  signal?: AbortSignal,
): Promise<void> {
  const failed: string[] = []
  const due = (db: Queryable) =>
    db
      .selectFrom('subscription')
      .where('status', 'in', statuses)
      .where('next_at', '<=', context.clock.now())
      .$if(failed.length > 0, (query) => query.where('id', 'not in', failed))
  let waits = false
  for (let retrySingly = 0; ; retrySingly = Math.max(0, retrySingly - 1)) {
    signal?.throwIfAborted()
    let taken: string[] = []
    try {
      await transaction(context.db, async (tx) => {
        const query = due(tx)
          .selectAll()
          .orderBy('next_at')
          .orderBy('id')
          .limit(waits || retrySingly > 0 ? 1 : size)
          .forUpdate()
        await context.holdCatalog?.(tx)
        if (waits) await sql`set local lock_timeout = ${sql.lit(longestWait)}`.execute(tx)
        const rows = await (waits ? query : query.skipLocked()).execute()
        if (waits) await sql`set local lock_timeout = default`.execute(tx)
        taken = rows.map(({ id }) => id)
        if (rows.length > 0) await act(context, tx, rows)
      })
      if (taken.length > 0) continue
      if ((await due(context.db).select('id').limit(1).executeTakeFirst()) === undefined) return
      waits = true
    } catch (error) {
      // A row locked longer than that is left to the next sweep; the other phases go on.
      if (waits && taken.length === 0 && databaseError(error)?.code === lockNotAvailable) return
      if (taken.length === 0 || databaseIsAway(error)) throw error
      context.log.error(
        { err: error, subscriptions: taken.length, first: taken[0] },
        'due subscriptions failed',
      )
      if (taken.length === 1) failed.push(...taken)
      else retrySingly = taken.length + 1
    }
  }
}

/** Does everything that is due at this moment. */
export async function sweep(context: BillingContext, signal?: AbortSignal): Promise<void> {
  for (const phase of phases) await drain(context, phase, signal)
}
