/** An invoice as the operator's staff reads it. No address that works without a session is told. */
import * as z from 'zod/mini'
import { Invoice } from './billing.ts'
import { endpoint, idParam } from './endpoint.ts'
import { minor } from './money.ts'
import { NamedCustomer } from './operator-customer.ts'

/** As printed on the document; null: not given. */
const Party = z.object({
  name: z.string(),
  email: z.nullable(z.string()),
  address: z.nullable(z.string()),
  taxCode: z.nullable(z.string()),
})
export type PartyAtDesk = z.output<typeof Party>

export const InvoiceAtDesk = z.object({
  invoice: z.omit(Invoice, { invoice_pdf: true, hosted_invoice_url: true }),
  customer: z.nullable(NamedCustomer),
  seller: Party,
  buyer: Party,
  /** The wallet's entries that name the document, newest first: what paid it, or gave it back. */
  entries: z.array(z.object({ id: z.string(), at: z.string(), text: z.string(), amount: minor })),
  /** What was credited of it, oldest first; totals are below zero. */
  creditNotes: z.array(
    z.object({ id: z.string(), number: z.string(), at: z.string(), total: minor }),
  ),
})
export type InvoiceAtDesk = z.output<typeof InvoiceAtDesk>

export const invoiceAtDesk = endpoint({
  method: 'GET',
  path: '/api/operator/invoices/:id',
  access: 'staff',
  may: 'look',
  summary: 'An invoice or credit note as its customer reads it, and what paid or corrected it',
  params: idParam,
  result: InvoiceAtDesk,
})
export const invoicePdfAtDesk = endpoint({
  method: 'GET',
  path: '/api/operator/invoices/:id/pdf',
  access: 'staff',
  may: 'look',
  summary: 'The same as a PDF, in the language asked for',
  params: idParam,
  query: z.object({ lang: z.optional(z.enum(['en', 'vi'])) }),
  result: z.null(),
  bare: true,
  files: ['application/pdf'],
})
