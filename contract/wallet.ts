/** The wallet's entries (contract.md section 3). The word stripe in the paths is only a name. */
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

export const listTransactions = endpoint({
  method: 'GET',
  path: '/api/payments/stripe',
  access: 'customer',
  summary: "The wallet's entries of every provider, newest first",
  query: z.object({ ...pageQuery, direction: z.optional(z.enum(['in', 'out'])) }),
  result: z.array(Transaction),
  paged: true,
})
