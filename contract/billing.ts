/** Invoices, subscriptions and the runway (contract.md sections 3 and 4). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const InvoiceStatus = z.enum(['open', 'paid', 'void', 'refunded'])

export const InvoiceLine = z.object({
  description: z.string(),
  quantity: z.int(),
  unit_price: minor,
  amount: minor,
  /** The tax included in the amount. */
  tax: minor,
  period_start: z.nullable(z.string()),
  period_end: z.nullable(z.string()),
  /** On a credit note: the line of the invoice that it corrects, counted from 1. */
  corrects_line: z.nullable(z.int()),
})

export const Invoice = z.object({
  id: z.string(),
  /**
   * Gapless per year and region: VN-2026-000001; a credit note has VN-CN-2026-000001. The number is
   * given when the invoice is paid or falls due, whichever is first. Null until then, and for ever
   * on an order that lapsed.
   */
  number: z.nullable(z.string()),
  amount_due: minor,
  amount_paid: minor,
  total: minor,
  currency,
  status: InvoiceStatus,
  /** A credit gives back: its total is below zero and nothing is due. */
  kind: z.enum(['order', 'renewal', 'proration', 'credit']),
  /** The invoice that a credit note corrects. */
  corrects: z.nullable(z.object({ id: z.string(), number: z.string() })),
  /** The tax included in the total; rate in hundredths of a percent. Null where there is none. */
  tax: z.nullable(z.object({ name: z.string(), rate: z.int(), amount: minor })),
  /** Unix seconds. */
  created: z.int(),
  /** When the invoice got its number. */
  issuedAt: z.nullable(z.string()),
  /** Until when an order may be paid; on a void order, when it lapsed. Null for everything else. */
  lapsesAt: z.nullable(z.string()),
  invoice_pdf: z.string(),
  hosted_invoice_url: z.string(),
  lines: z.array(InvoiceLine),
})
export type Invoice = z.output<typeof Invoice>

export const listInvoices = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/invoices',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'invoices:read',
  summary: 'Invoices, newest first; `status`: only those',
  query: z.object({ ...pageQuery, status: z.optional(InvoiceStatus) }),
  result: z.array(Invoice),
  paged: true,
})

export const payInvoice = endpoint({
  method: 'POST',
  path: '/api/payments/stripe/invoices/:id/pay',
  access: 'customer',
  member: 'money:write',
  summary: 'Pay an open invoice from the wallet',
  params: z.object({ id: z.string().check(z.maxLength(100)) }),
  result: Invoice,
})

/** Printed beside the name, as it was when the invoice was issued; null: not given. */
const PartyDetails = z.object({ address: z.nullable(z.string()), taxCode: z.nullable(z.string()) })
export type PartyDetails = z.output<typeof PartyDetails>

export const hostedInvoice = endpoint({
  method: 'GET',
  path: '/api/invoices/:token',
  access: 'public',
  summary: 'One invoice by its unguessable token, and nothing else',
  params: z.object({ token: z.string().check(z.maxLength(100)) }),
  result: z.object({
    invoice: Invoice,
    buyer: z.string(),
    seller: z.string(),
    details: z.object({ buyer: PartyDetails, seller: PartyDetails }),
  }),
})

export const unpaidInvoices = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/invoices/unpaid',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'invoices:read',
  summary: 'How many invoices are open, and what is due on all of them',
  result: z.object({ count: z.int(), amount_due: minor, currency }),
})

const Wp = z.nullable(z.object({ id: z.string(), name: z.string() }))

/** What the operator lends a customer for renewals. Amounts in the currency of the wallet. */
export const CreditLine = z.object({
  /** 0: the line was ended, but money is still owed. */
  limit: minor,
  /** Days until lent money is due; null once the line was ended. */
  termDays: z.nullable(z.int()),
  owed: minor,
  /** The amount that may be lent now. */
  available: minor,
  /** The last second in which the oldest loan is not overdue; null: nothing is owed. */
  dueAt: z.nullable(z.string()),
  /** Why nothing is lent; null: the line lends. */
  stopped: z.nullable(z.enum(['overdue', 'chargeback', 'blocked'])),
})
export type CreditLine = z.output<typeof CreditLine>

export const Runway = z.object({
  /**
   * When the wallet first cannot pay a renewal; null when nothing renews or that is more than five
   * years away.
   */
  emptyAt: z.nullable(z.string()),
  /** Whole days until `emptyAt`. */
  days: z.nullable(z.int()),
  /** The price of all renewals in a month, minor units. */
  monthly: minor,
  /**
   * The next renewal of each subscription, soonest first; an unpaid renewal stands at its due time.
   */
  next: z.array(z.object({ at: z.string(), amount: minor, wp: Wp })),
  /**
   * Only for a customer who has a credit line, or owes money lent on one. `days` counts only the
   * wallet's own money.
   */
  creditLine: z.optional(CreditLine),
})
export type Runway = z.output<typeof Runway>

export const getRunway = endpoint({
  method: 'GET',
  path: '/api/wallet/runway',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'wallet:read',
  summary:
    'How long the wallet lasts, from what will really renew: planned changes and ' +
    'cancellations included',
  result: Runway,
})

export const Subscription = z.object({
  id: z.string(),
  status: z.enum(['pending', 'active', 'past_due', 'suspended', 'ended']),
  /** The price of the running period, minor units a month. */
  price: minor,
  currency,
  periodStart: z.string(),
  periodEnd: z.string(),
  /** Null: the subscription will not renew. */
  renewsAt: z.nullable(z.string()),
  /** What the next renewal costs at today's prices, a planned change included. */
  renewalPrice: minor,
  /** An announced higher price, minor units a month, and the first renewal that costs it. */
  priceRise: z.nullable(z.object({ price: minor, actsAt: z.string() })),
  /** True: a change takes effect at the renewal. */
  planned: z.boolean(),
  cancelAtPeriodEnd: z.boolean(),
  /** What cancelling now would return to the wallet. */
  unused: minor,
  unpaid: z.nullable(
    z.object({
      number: z.string(),
      amount_due: minor,
      hosted_invoice_url: z.string(),
      dueAt: z.string(),
      suspendsAt: z.string(),
      deletesAt: z.string(),
    }),
  ),
  wp: Wp,
})
export type Subscription = z.output<typeof Subscription>

/** What a subscription pays for, as answers show it. */
export type ShownSubject = Pick<Subscription, 'wp'>
export const noSubject: ShownSubject = { wp: null }

export const getSubscription = endpoint({
  method: 'GET',
  path: '/api/subscriptions/:id',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'invoices:read',
  summary: 'One subscription',
  params: idParam,
  result: Subscription,
})

export const cancelSubscription = endpoint({
  method: 'POST',
  path: '/api/subscriptions/:id/cancel',
  access: 'customer',
  member: 'orders',
  asksAgain: true,
  summary:
    'Cancel with the end of the period, or now: the server is deleted and the unused part of ' +
    'the month is back in the wallet',
  params: idParam,
  body: z.strictObject({ when: z.enum(['period_end', 'now']) }),
  result: Subscription,
})

export const resumeSubscription = endpoint({
  method: 'POST',
  path: '/api/subscriptions/:id/resume',
  access: 'customer',
  member: 'orders',
  summary: 'Take a planned cancellation back',
  params: idParam,
  result: Subscription,
})
