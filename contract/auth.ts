/** Signing in and out, and who is signed in (contract.md section 2). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor, regionCode } from './money.ts'

export const email = z
  .string()
  .check(z.trim(), z.toLowerCase(), z.maxLength(254), z.email({ error: 'email' }))

export const logout = endpoint({
  method: 'POST',
  path: '/api/v1/auth/logout',
  access: 'customer',
  member: 'look',
  whileClosed: true,
  seen: true,
  summary: 'Revoke this access token',
  result: z.null(),
  whileLocked: true,
})

export const Me = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  phone: z.string(),
  region_code: regionCode,
  balance: minor,
  currency,
  /** The customer's choice, or the region's default. */
  language: z.enum(['en', 'vi', 'aud']),
  /** The customer's choice (IANA); null: the browser's own time zone. */
  timeZone: z.nullable(z.string()),
  /** How many accounts of others the customer may work in. */
  accounts: z.int(),
})
export type Me = z.output<typeof Me>

export const me = endpoint({
  method: 'GET',
  path: '/api/v1/auth/me',
  access: 'customer',
  member: 'look',
  seen: true,
  summary: 'The signed-in customer, with the wallet balance in minor units',
  result: Me,
})
