/** A customer's top-ups, invoices and servers at the operator's desk, to the oldest. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { MailState } from './wordpress-mail.ts'

const time = z.string()

export const PaymentAtDesk = z.object({
  code: z.string(),
  at: time,
  gateway: z.string(),
  amount: minor,
  currency,
  status: z.string(),
  /** Minor units that were refunded, or are on the way. */
  givenBack: minor,
  /** Whether the gateway makes refunds, and some money is left to refund. */
  refundable: z.boolean(),
  /** Whether some money is left, and only a transfer of ours can give it back. */
  refundableByHand: z.boolean(),
})
export type PaymentAtDesk = z.output<typeof PaymentAtDesk>

export const InvoiceRow = z.object({
  id: z.string(),
  number: z.nullable(z.string()),
  at: time,
  total: minor,
  currency,
  status: z.string(),
})
export type InvoiceRow = z.output<typeof InvoiceRow>

export const ServerAtDesk = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  createdAt: time,
  /** Why the server does not answer, or why it was given up. */
  why: z.nullable(z.string()),
  /** Whether the operator has suspended it. */
  held: z.boolean(),
  /** Since when and why its mail is suspended; null: it may send. */
  mailSuspended: MailState.shape.suspended,
  /** Whether its renewal is not paid: time to pay may be given. */
  overdue: z.boolean(),
  /** The machine that runs it. */
  node: z.string(),
  /** The node to which it is being moved; null: it is not being moved. */
  movesTo: z.nullable(z.string()),
  /** Why the newest move failed; null: it did not fail. */
  moveFailed: z.nullable(z.string()),
  /** Until when the original from before a move can be put back; null: there is none. */
  undoUntil: z.nullable(time),
})
export type ServerAtDesk = z.output<typeof ServerAtDesk>

export const customerPayments = endpoint({
  method: 'GET',
  path: '/api/operator/customers/:id/payments',
  access: 'staff',
  may: 'look',
  summary: "A customer's top-ups, newest first, or the one with a transaction code",
  params: idParam,
  query: z.object({ ...pageQuery, code: z.optional(z.string().check(z.maxLength(100))) }),
  result: z.array(PaymentAtDesk),
  paged: true,
})
export const customerInvoices = endpoint({
  method: 'GET',
  path: '/api/operator/customers/:id/invoices',
  access: 'staff',
  may: 'look',
  summary: "A customer's invoices and credit notes, newest first",
  params: idParam,
  query: z.object(pageQuery),
  result: z.array(InvoiceRow),
  paged: true,
})
export const customerServers = endpoint({
  method: 'GET',
  path: '/api/operator/customers/:id/servers',
  access: 'staff',
  may: 'look',
  summary: "A customer's servers, deleted ones included, newest first",
  params: idParam,
  query: z.object(pageQuery),
  result: z.array(ServerAtDesk),
  paged: true,
})
