/** Coupons: a code that lowers the first period of an order (decision 116). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'

const megabytes = z.int().check(z.gte(1), z.lte(100_000_000))

export const quoteCoupon = endpoint({
  method: 'POST',
  path: '/api/wp/coupon',
  access: 'customer',
  member: 'orders',
  summary: 'What a coupon takes off the first month of an order; nothing is ordered or used',
  body: z.strictObject({
    coupon: z.string().check(z.trim(), z.minLength(4), z.maxLength(40)),
    // As in the order, whose own rules check it.
    size: z.int(),
    disk: megabytes,
    mariadb_disk_size: megabytes,
    replicate: z.int().check(z.gte(1), z.lte(1000)),
  }),
  result: z.object({
    /** The code as the invoice shows it. */
    code: z.string(),
    /** Minor units. */
    off: minor,
    /** The price of the first month with the coupon, and of each later month. */
    first: minor,
    monthly: minor,
    currency,
  }),
})
