/** Invoices (contract.md section 3). */
import * as z from 'zod/mini'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const InvoiceStatus = z.enum(['open', 'paid', 'void', 'refunded'])

export const InvoiceLine = z.object({
  description: z.string(),
  quantity: z.int(),
  unit_price: minor,
  amount: minor,
  period_start: z.nullable(z.string()),
  period_end: z.nullable(z.string()),
})

export const Invoice = z.object({
  id: z.string(),
  /** Gapless per year and region: VN-2026-000001. */
  number: z.string(),
  amount_due: minor,
  amount_paid: minor,
  total: minor,
  currency,
  status: InvoiceStatus,
  /** Unix seconds. */
  created: z.int(),
  invoice_pdf: z.string(),
  hosted_invoice_url: z.string(),
  lines: z.array(InvoiceLine),
})
export type Invoice = z.output<typeof Invoice>

export const listInvoices = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/invoices',
  access: 'customer',
  summary: 'Invoices, newest first',
  query: z.object({ ...pageQuery }),
  result: z.array(Invoice),
  paged: true,
})

export const payInvoice = endpoint({
  method: 'POST',
  path: '/api/payments/stripe/invoices/:id/pay',
  access: 'customer',
  summary: 'Pay an open invoice from the wallet',
  params: z.object({ id: z.string().check(z.maxLength(100)) }),
  result: Invoice,
})

export const hostedInvoice = endpoint({
  method: 'GET',
  path: '/api/invoices/:token',
  access: 'public',
  summary: 'One invoice by its unguessable token, and nothing else',
  params: z.object({ token: z.string().check(z.maxLength(100)) }),
  result: z.object({ invoice: Invoice, buyer: z.string(), seller: z.string() }),
})
