/**
 * The wallet's entries (contract.md section 3). Their proofs are in wallet-proof.ts. The word
 * stripe in the paths is only a name.
 */
import * as z from 'zod/mini'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const Transaction = z.object({
  id: z.string(),
  description: z.string(),
  /** Minor units; negative when spent. */
  amount: minor,
  currency,
  /** Unix seconds. */
  created: z.int(),
  /** Balance after this entry, minor units. */
  ending_balance: minor,
})
export type Transaction = z.output<typeof Transaction>

const momentForm = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?$/
/** An existing day, alone or with a time of day; without an offset the time is UTC. */
function isMoment(text: string): boolean {
  const day = momentForm.exec(text)?.[1]
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  const parsed = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
}
const moment = z.string().check(z.refine(isMoment, { error: 'moment' }))

/**
 * `from` is included. A `to` without a time of day includes that whole day; with one, it is
 * excluded.
 */
export const period = { from: z.optional(moment), to: z.optional(moment) }
const filter = {
  direction: z.optional(z.enum(['in', 'out'])),
  /** Any part of the note, of a code or of an invoice's number; case and accents do not matter. */
  search: z.optional(z.string().check(z.maxLength(100))),
  ...period,
}

export const listTransactions = endpoint({
  method: 'GET',
  path: '/api/payments/stripe',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'wallet:read',
  summary:
    "The wallet's entries of every provider, newest first. A search looks through as many " +
    'entries as a call has time for: where it found few or none and more are left, page.next ' +
    'goes on',
  query: z.object({ ...pageQuery, ...filter }),
  result: z.array(Transaction),
  paged: true,
})

export const exportTransactions = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/export',
  access: 'customer',
  member: 'money:read',
  scope: 'wallet:read',
  summary:
    'The entries that a filter leaves, all of them, as CSV (UTF-8 with BOM; amounts in major ' +
    'units)',
  query: z.object(filter),
  result: z.string(),
  bare: true,
  files: ['text/csv'],
})
