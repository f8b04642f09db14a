/** The first page of the operator's desk: is everything well, and what waits for somebody? */
import * as z from 'zod/mini'
import { NamedCustomer } from './operator-customer.ts'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const n = z.int()
/** What should be zero, and is mended. */
const faults = z.object({
  /** Rules of the ledger that the newest check found broken; 1 also when it could not be done. */
  ledger: n,
  /** Machines that answered before and do not now. */
  nodes: n,
  serversDown: n,
  /** Work on servers that does not come to an end. */
  stuck: n,
  jobs: n,
  /** Host names whose last try came to nothing; at most fifty are counted. */
  certificates: n,
  /** Of the newest fifty backups that failed: those whose server has none since that is proven. */
  backups: n,
  /** Letters and SMS that were given up within a day. */
  letters: n,
})
/** What comes in the course of business, and waits for a person. */
const waiting = z.object({
  proposals: n,
  tickets: n,
  dataRequests: n,
  suspense: n,
  /** Of each kind at most a hundred are counted; money in suspense is not among them. */
  differences: n,
  disputes: n,
  overdueInvoices: n,
})
export const Overview = z.object({ faults, waiting })
export type Overview = z.output<typeof Overview>
export const overview = endpoint({
  method: 'GET',
  path: '/api/operator/overview',
  access: 'staff',
  may: 'look',
  summary: 'What is not well, and what waits for a person, as numbers',
  result: Overview,
})

export const OverdueInvoice = z.object({
  id: z.string(),
  number: z.nullable(z.string()),
  customer: z.nullable(NamedCustomer),
  /** What it is for. */
  subject: z.nullable(z.string()),
  total: minor,
  currency,
  dueAt: z.string(),
  /** Whether what it is for is suspended already. */
  suspended: z.boolean(),
})
export type OverdueInvoice = z.output<typeof OverdueInvoice>
export const overdueInvoices = endpoint({
  method: 'GET',
  path: '/api/operator/overdue-invoices',
  access: 'staff',
  may: 'look',
  summary: 'Invoices of renewals that are not paid, the longest due first',
  query: z.object(pageQuery),
  result: z.array(OverdueInvoice),
  paged: true,
})
