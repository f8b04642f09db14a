/** What a customer is told of invoices and subscriptions (contract.md section 4). */
import type { Selectable } from 'kysely'
import type { EventName } from '../../contract/realtime.ts'
import type { DB } from '../platform/db-types.ts'
import type { Told } from '../realtime/index.ts'
import type { Numbered, Subject } from './issue.ts'
import { hostedUrl, type InvoiceRow } from './store.ts'

type InvoiceFacts = Pick<InvoiceRow, 'id' | 'number' | 'total' | 'amount_paid' | 'currency' | 'token' | 'customer_id' | 'subject'>
type SubscriptionFacts = Pick<
  Selectable<DB['subscription']>,
  'id' | 'customer_id' | 'status' | 'price' | 'currency' | 'period_end' | 'cancel_at_period_end' | 'subject'
>

const wpOf = (subject: unknown): { id: string } | null => {
  const known = subject as Subject | null
  return known ? { id: known.wp.id } : null
}

export function invoiceEvent(event: EventName, portalUrl: string, row: InvoiceFacts): Told {
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
        hosted_invoice_url: hostedUrl(portalUrl, row.token),
      },
      wp: wpOf(row.subject),
    },
  }
}

/** Of one that was only just numbered. */
export const draftEvent = (event: EventName, portalUrl: string, invoice: Numbered, amountPaid: bigint): Told =>
  invoiceEvent(event, portalUrl, { ...invoice, customer_id: invoice.customer.id, amount_paid: amountPaid })

/** When it renews; null for one that will not. */
export const renewsAt = (row: Pick<SubscriptionFacts, 'status' | 'period_end' | 'cancel_at_period_end'>): string | null =>
  (row.status === 'active' || row.status === 'pending') && !row.cancel_at_period_end ? row.period_end.toISOString() : null

export function subscriptionEvent(event: EventName, row: SubscriptionFacts): Told {
  return {
    customerId: row.customer_id,
    event,
    payload: {
      subscription: { id: row.id, status: row.status, price: Number(row.price), currency: row.currency, renewsAt: renewsAt(row) },
      wp: wpOf(row.subject),
    },
  }
}
