/** The first page of the operator's desk: is everything well, and what waits for somebody? */
import * as z from 'zod/mini'
import { NamedCustomer } from './operator-customer.ts'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const n = z.int()
/** What should be zero, and needs repair. */
const faults = z.object({
  /**
   * Rules of the ledger that the newest check found broken; 1 also when the check could not be
   * made.
   */
  ledger: n,
  /** Machines that answered before but do not now. */
  nodes: n,
  serversDown: n,
  /** Work on servers that has not finished in time. */
  stuck: n,
  jobs: n,
  /** Host names whose last certificate attempt failed; at most fifty are counted. */
  certificates: n,
  /** Among the newest fifty failed backups: those whose server has no proven backup since. */
  backups: n,
  /** Letters and SMS that were given up within the last day. */
  letters: n,
})
/** Ordinary work that waits for a person. */
const waiting = z.object({
  proposals: n,
  tickets: n,
  dataRequests: n,
  suspense: n,
  /** At most a hundred of each kind are counted. Money in suspense is not included. */
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
  /** What the invoice is for. */
  subject: z.nullable(z.string()),
  total: minor,
  currency,
  dueAt: z.string(),
  /** The server that it pays for; null: it is for something else. */
  server: z.nullable(z.string()),
  /** Whether the service that it pays for is already suspended. */
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
