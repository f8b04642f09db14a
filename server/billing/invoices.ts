/** Invoices: issued with the order, charged from the wallet by a job, and starting what waits for them once they are paid. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { EventName } from '../../contract/realtime.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { Basis } from '../../contract/pricing.ts'
import type { Announcer } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Tx } from '../platform/db.ts'
import { transaction } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { nextNumber } from './numbers.ts'
import { nextRenewal } from './period.ts'
import { hostedUrl, type InvoiceRow } from './store.ts'

export interface Line {
  readonly description: { readonly en: string; readonly vi: string }
  readonly quantity: bigint
  /** Minor units. */
  readonly unitPrice: bigint
  readonly period: { readonly start: Date; readonly end: Date } | null
  /** What the unit price was computed from, frozen with the line. */
  readonly basis?: Basis
}

export interface Bill {
  readonly customer: { readonly id: string; readonly name: string; readonly email: string; readonly regionCode: RegionCode }
  readonly currency: Currency
  /** The ledger's revenue account: wordpress. */
  readonly product: string
  readonly lines: readonly Line[]
  /** What the events carry and the transaction log names. */
  readonly subject: { readonly wp: { readonly id: string; readonly name: string } } | null
  readonly subscriptionId: string | null
  /** The job to add, in the same transaction, once it is paid. A signal to an upper floor is a job's name. */
  readonly starts: { readonly job: string; readonly payload: object } | null
}

export interface Billing {
  /** Opens a monthly subscription that begins to run once its first invoice is paid. Answers its id and the end of its first period. */
  subscribe(tx: Tx, of: { customerId: string; price: bigint; currency: Currency }): Promise<{ id: string; periodEnd: Date }>
  /** Issues an invoice and has a job charge it. */
  issue(tx: Tx, bill: Bill): Promise<{ id: string; number: string }>
  /** Charges an open invoice. `short`: the wallet does not hold enough. `settled`: it was no longer open. */
  pay(tx: Tx, invoiceId: string): Promise<'paid' | 'short' | 'settled'>
  /** Pays the open invoices of a customer, oldest first, until the wallet is short. */
  payOpen(customerId: string): Promise<void>
  /** Gives a paid invoice's money back to the wallet, once. An open one is void. The subscription ends. */
  undo(tx: Tx, invoiceId: string, reason: string): Promise<void>
  /** The subscription ends now. */
  cancel(tx: Tx, subscriptionId: string, when: 'now'): Promise<void>
}

export const jobNames = { pay: 'pay-invoice', payOpen: 'pay-open-invoices' } as const

interface Subject {
  wp: { id: string; name: string }
}

export function createBilling(deps: {
  db: Database
  clock: Clock
  jobs: Jobs
  ledger: Ledger
  announcer: Announcer
  portalUrl: string
  seller: { name: string; taxCode: string; address: string }
}): Billing {
  const { db, clock, jobs, ledger, announcer } = deps

  const tell = (
    tx: Tx,
    event: EventName,
    row: Pick<InvoiceRow, 'id' | 'number' | 'total' | 'amount_paid' | 'currency' | 'token' | 'customer_id' | 'subject'>,
  ): Promise<void> => {
    const subject = row.subject as Subject | null
    return announcer.announce(tx, row.customer_id, event, {
      payment: {
        id: row.id,
        number: row.number,
        amount_paid: Number(row.amount_paid),
        amount_due: Number(row.total - row.amount_paid),
        currency: row.currency,
        hosted_invoice_url: hostedUrl(deps.portalUrl, row.token),
      },
      wp: subject ? { id: subject.wp.id } : null,
    })
  }

  async function begin(tx: Tx, subscriptionId: string, customerId: string): Promise<void> {
    const waiting = await tx
      .selectFrom('subscription')
      .select(['period_end'])
      .where('id', '=', subscriptionId)
      .where('status', '=', 'pending')
      .forUpdate()
      .executeTakeFirst()
    if (!waiting) return
    // Paid so late that the first period is over: it begins with the payment, or the customer would have paid for time that has passed.
    const now = clock.now()
    const late = waiting.period_end !== null && waiting.period_end <= now
    const period = late ? { anchor_day: now.getUTCDate(), period_start: now, period_end: nextRenewal(now, now.getUTCDate()) } : {}
    const begun = await tx
      .updateTable('subscription')
      .set({ status: 'active', ...period })
      .where('id', '=', subscriptionId)
      .where('status', '=', 'pending')
      .returningAll()
      .executeTakeFirst()
    if (begun)
      await announcer.announce(tx, customerId, 'subscription.created', {
        subscription: {
          id: begun.id,
          price: Number(begun.price),
          currency: begun.currency,
          renewsAt: begun.period_end?.toISOString() ?? null,
        },
      })
  }

  const billing: Billing = {
    async subscribe(tx, { customerId, price, currency }) {
      const id = randomUUID()
      const now = clock.now()
      const anchorDay = now.getUTCDate()
      const periodEnd = nextRenewal(now, anchorDay)
      await tx
        .insertInto('subscription')
        .values({
          id,
          customer_id: customerId,
          price,
          currency,
          anchor_day: anchorDay,
          status: 'pending',
          period_start: now,
          period_end: periodEnd,
          created_at: now,
        })
        .execute()
      await announcer.announce(tx, customerId, 'subscribe.create', {
        subscription: { id, price: Number(price), currency, renewsAt: periodEnd.toISOString() },
      })
      return { id, periodEnd }
    },

    async issue(tx, bill) {
      const id = randomUUID()
      const now = clock.now()
      const total = bill.lines.reduce((sum, line) => sum + line.quantity * line.unitPrice, 0n)
      const row = {
        id,
        number: await nextNumber(tx, bill.customer.regionCode, now),
        token: randomBytes(24).toString('base64url'),
        customer_id: bill.customer.id,
        subscription_id: bill.subscriptionId,
        region_code: bill.customer.regionCode,
        product: bill.product,
        currency: bill.currency,
        total,
        amount_paid: 0n,
        status: 'open',
        // Frozen: what the customer was called and who sold it when it was issued.
        buyer: JSON.stringify({ name: bill.customer.name, email: bill.customer.email }),
        seller: JSON.stringify(deps.seller),
        starts: bill.starts ? JSON.stringify(bill.starts) : null,
        subject: bill.subject ? JSON.stringify(bill.subject) : null,
        created_at: now,
      }
      await tx.insertInto('invoice').values(row).execute()
      await tx
        .insertInto('invoice_line')
        .values(
          bill.lines.map((line, position) => ({
            invoice_id: id,
            position,
            description_en: line.description.en,
            description_vi: line.description.vi,
            quantity: line.quantity,
            unit_price: line.unitPrice,
            amount: line.quantity * line.unitPrice,
            period_start: line.period?.start ?? null,
            period_end: line.period?.end ?? null,
            basis: line.basis ? JSON.stringify(line.basis) : null,
          })),
        )
        .execute()
      await tell(tx, 'invoice.create', { ...row, subject: bill.subject })
      await jobs.add(tx, jobNames.pay, { invoiceId: id })
      return { id, number: row.number }
    },

    async pay(tx, invoiceId) {
      const invoice = await tx.selectFrom('invoice').selectAll().where('id', '=', invoiceId).forUpdate().executeTakeFirst()
      if (!invoice || invoice.status !== 'open') return 'settled'
      const subject = invoice.subject as Subject | null
      const due = invoice.total - invoice.amount_paid
      if (due > 0n) {
        const { outcome } = await ledger.charge(tx, {
          key: `invoice:${invoice.id}`,
          customerId: invoice.customer_id,
          product: invoice.product,
          amount: due,
          currency: invoice.currency as Currency,
          details: { invoice: invoice.number, ...(subject && { subject: subject.wp.name }) },
        })
        if (outcome === 'short') {
          await tell(tx, 'invoice.payment_failed', invoice)
          return 'short'
        }
      }
      await tx
        .updateTable('invoice')
        .set({ status: 'paid', amount_paid: invoice.total, paid_at: clock.now() })
        .where('id', '=', invoice.id)
        .execute()
      await tell(tx, 'invoice.paid', { ...invoice, amount_paid: invoice.total })
      if (invoice.subscription_id !== null) await begin(tx, invoice.subscription_id, invoice.customer_id)
      const starts = invoice.starts as { job: string; payload: object } | null
      if (starts) await jobs.add(tx, starts.job, starts.payload)
      return 'paid'
    },

    async payOpen(customerId) {
      const open = await db
        .selectFrom('invoice')
        .select('id')
        .where('customer_id', '=', customerId)
        .where('status', '=', 'open')
        .orderBy('seq')
        .execute()
      for (const { id } of open) {
        if ((await transaction(db, (tx) => billing.pay(tx, id))) === 'short') return
      }
    },

    async undo(tx, invoiceId, reason) {
      const invoice = await tx.selectFrom('invoice').selectAll().where('id', '=', invoiceId).forUpdate().executeTakeFirstOrThrow()
      const subject = invoice.subject as Subject | null
      if (invoice.status === 'paid' && invoice.total > 0n) {
        await ledger.refund(tx, {
          key: `invoice:${invoice.id}:refund`,
          customerId: invoice.customer_id,
          product: invoice.product,
          amount: invoice.amount_paid,
          currency: invoice.currency as Currency,
          details: { invoice: invoice.number, ...(subject && { subject: subject.wp.name }), reason },
        })
      }
      if (invoice.status === 'paid' || invoice.status === 'open') {
        await tx
          .updateTable('invoice')
          .set({ status: invoice.status === 'paid' ? 'refunded' : 'void' })
          .where('id', '=', invoice.id)
          .execute()
      }
      if (invoice.subscription_id !== null) await billing.cancel(tx, invoice.subscription_id, 'now')
    },

    async cancel(tx, subscriptionId) {
      const ended = await tx
        .updateTable('subscription')
        .set({ status: 'ended' })
        .where('id', '=', subscriptionId)
        .where('status', '<>', 'ended')
        .returning(['id', 'customer_id'])
        .executeTakeFirst()
      if (ended)
        await announcer.announce(tx, ended.customer_id, 'subscription.updated', { subscription: { id: ended.id, status: 'ended' } })
    },
  }

  jobs.define<{ invoiceId: string }>({
    name: jobNames.pay,
    concurrency: 2,
    retries: 1000,
    run: async ({ invoiceId }) => void (await transaction(db, (tx) => billing.pay(tx, invoiceId))),
  })
  jobs.define<{ customerId: string }>({
    name: jobNames.payOpen,
    concurrency: 2,
    retries: 1000,
    run: ({ customerId }) => billing.payOpen(customerId),
  })
  return billing
}
