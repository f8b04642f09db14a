/** The events about invoices and subscriptions (contract.md section 4). */
import type { Selectable } from 'kysely'
import type { EventName } from '../../contract/realtime.ts'
import type { DB } from '../platform/db-types.ts'
import type { OutboxEvent } from '../realtime/index.ts'
import type { Prepared } from './issue.ts'
import { shownBriefly, shownFully, subjectOf, subjectToRow, type Products } from './product.ts'
import type { InvoiceRow } from './store.ts'

type InvoiceFacts = Pick<
  InvoiceRow,
  'id' | 'number' | 'total' | 'amount_paid' | 'currency' | 'customer_id' | 'product' | 'subject'
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
  | 'product'
  | 'subject'
>

interface Selling {
  readonly products: Products
}

/** The link to the invoice is added when the event is sent (links.ts). */
export function invoiceEvent(
  { products }: Selling,
  event: EventName,
  row: InvoiceFacts,
): OutboxEvent {
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
      ...shownBriefly(products, row),
    },
  }
}

/** The event of an invoice that was written in this transaction. */
export const draftEvent = (
  selling: Selling,
  event: EventName,
  invoice: Prepared,
  amountPaid: bigint,
): OutboxEvent =>
  invoiceEvent(selling, event, {
    ...invoice,
    subject: invoice.subject && subjectToRow(invoice.subject),
    customer_id: invoice.customer.id,
    amount_paid: amountPaid,
  })

/**
 * The event of a higher price that acts at a renewal; minor units a month. `actsOn`: that renewal's
 * day in the customer's time zone.
 */
export const priceEvent = (
  { products }: Selling,
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
      subject: subjectOf(row.subject),
    },
    ...shownFully(products, row),
  },
})

/** The renewal's time; null: it does not renew. */
export const renewsAt = (
  row: Pick<SubscriptionFacts, 'status' | 'period_end' | 'cancel_at_period_end'>,
): string | null =>
  (row.status === 'active' || row.status === 'pending') && !row.cancel_at_period_end
    ? row.period_end.toISOString()
    : null

export function subscriptionEvent(
  { products }: Selling,
  event: EventName,
  row: SubscriptionFacts,
): OutboxEvent {
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
      ...shownBriefly(products, row),
    },
  }
}
