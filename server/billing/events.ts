/** The events about invoices and subscriptions (contract.md section 4). */
import type { Selectable } from 'kysely'
import type { EventName } from '../../contract/realtime.ts'
import type { DB } from '../platform/db-types.ts'
import type { OutboxEvent } from '../realtime/index.ts'
import type { Prepared, Subject } from './issue.ts'
import type { InvoiceRow } from './store.ts'

type InvoiceFacts = Pick<
  InvoiceRow,
  'id' | 'number' | 'total' | 'amount_paid' | 'currency' | 'customer_id' | 'subject'
>
type SubscriptionFacts = Pick<
  Selectable<DB['subscription']>,
  | 'id'
  | 'customer_id'
  | 'status'
  | 'price'
  | 'currency'
  | 'period_end'
  | 'cancel_at_period_end'
  | 'subject'
>

const wpOf = (subject: unknown): { id: string } | null => {
  const known = subject as Subject | null
  return known ? { id: known.wp.id } : null
}

/** The link to the invoice is added when the event is sent (links.ts). */
export function invoiceEvent(event: EventName, row: InvoiceFacts): OutboxEvent {
  return {
    customerId: row.customer_id,
    event,
    payload: {
      payment: {
        id: row.id,
        number: row.number,
        amount_paid: Number(row.amount_paid),
        amount_due: Number(row.total - row.amount_paid),
        currency: row.currency,
      },
      wp: wpOf(row.subject),
    },
  }
}

/** Of one that was only just written. */
export const draftEvent = (event: EventName, invoice: Prepared, amountPaid: bigint): OutboxEvent =>
  invoiceEvent(event, {
    ...invoice,
    customer_id: invoice.customer.id,
    amount_paid: amountPaid,
  })

/**
 * Of a dearer price that acts at a renewal; minor units a month. `actsOn` is the day of it on the
 * calendars of the customer's region.
 */
export const priceEvent = (
  row: SubscriptionFacts,
  { price, from, acts, actsOn }: { price: bigint; from: bigint; acts: Date; actsOn: string },
): OutboxEvent => ({
  customerId: row.customer_id,
  event: 'subscription.price_announced',
  payload: {
    subscription: {
      id: row.id,
      price: Number(from),
      currency: row.currency,
      renewalPrice: Number(price),
      actsAt: acts.toISOString(),
      actsOn,
    },
    wp: row.subject ? (row.subject as Subject).wp : null,
  },
})

/** When it renews; null for one that will not. */
export const renewsAt = (
  row: Pick<SubscriptionFacts, 'status' | 'period_end' | 'cancel_at_period_end'>,
): string | null =>
  (row.status === 'active' || row.status === 'pending') && !row.cancel_at_period_end
    ? row.period_end.toISOString()
    : null

export function subscriptionEvent(event: EventName, row: SubscriptionFacts): OutboxEvent {
  return {
    customerId: row.customer_id,
    event,
    payload: {
      subscription: {
        id: row.id,
        status: row.status,
        price: Number(row.price),
        currency: row.currency,
        renewsAt: renewsAt(row),
      },
      wp: wpOf(row.subject),
    },
  }
}
