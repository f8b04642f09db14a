/** The list of all customers, as the operator's desk reads it. */
import * as z from 'zod/mini'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

/**
 * `closed` takes precedence. `blocked`: the account was in use before. `not_activated`: the
 * customer has never typed the code that was sent to their phone.
 */
export const customerStates = ['active', 'blocked', 'not_activated', 'closed'] as const
export type DeskCustomerState = (typeof customerStates)[number]
export const DeskCustomer = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  region: z.string(),
  state: z.enum(customerStates),
  createdAt: z.string(),
  /** Null: no wallet has been opened yet. */
  wallet: z.nullable(z.object({ currency, balance: minor })),
  /** Servers that exist, in any state. */
  servers: z.int(),
})
export type DeskCustomer = z.output<typeof DeskCustomer>
export const customers = endpoint({
  method: 'GET',
  path: '/api/operator/customers',
  access: 'staff',
  may: 'look',
  summary: 'All customers, newest first, or those in one state',
  query: z.object({ ...pageQuery, state: z.optional(z.enum(customerStates)) }),
  result: z.array(DeskCustomer),
  paged: true,
})
