/** Vouchers: a code that puts money into a wallet. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'

/** Letters and digits; punctuation and spaces between them are ignored. */
export const voucherCode = z.string().check(z.trim(), z.minLength(4), z.maxLength(40))

export const redeemVoucher = endpoint({
  method: 'POST',
  path: '/api/payments/voucher',
  access: 'customer',
  member: 'money:write',
  summary: 'Put the amount of a voucher into the wallet, once for each voucher',
  body: z.strictObject({ code: voucherCode }),
  result: z.object({ amount: minor, currency, balance: minor }),
})
