/** Topping up the wallet (contract.md section 3). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const methods = ['VIETQR', 'ATMCARD', 'CREDITCARD', 'QRPAY', 'BANKTRANSFER'] as const

export const checkout = endpoint({
  method: 'POST',
  path: '/api/payments/checkout',
  access: 'customer',
  summary: 'Begin a top-up at a local gateway; the browser goes on to checkoutUrl',
  body: z.strictObject({
    amount: z.int().check(z.gt(0, { error: 'amount_positive' })),
    type: z.union([z.literal(1), z.literal(2)]),
    method: z.nullable(z.enum(methods)),
  }),
  result: z.object({ checkoutUrl: z.string(), transactionCode: z.string() }),
})

export const PaymentStatus = z.enum(['pending', 'succeeded', 'failed', 'expired'])
export type PaymentStatus = z.output<typeof PaymentStatus>

export const getTransaction = endpoint({
  method: 'GET',
  path: '/api/payments/get-transaction',
  access: 'customer',
  summary: 'One top-up by its code; only its owner is answered',
  query: z.object({ transactionCode: z.string().check(z.minLength(1), z.maxLength(100)) }),
  result: z.object({
    transactionCode: z.string(),
    description: z.string(),
    amount: minor,
    currency,
    status: PaymentStatus,
    createdAt: z.string(),
  }),
})
