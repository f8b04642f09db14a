/** Topping up the wallet (contract.md section 3). The word stripe in the paths is only a name. */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const methods = ['VIETQR', 'ATMCARD', 'CREDITCARD', 'QRPAY', 'BANKTRANSFER'] as const

/** Minor units, above zero. */
export const topUpAmount = z.int().check(z.gt(0, { error: 'amount_positive' }))

export const checkout = endpoint({
  method: 'POST',
  path: '/api/payments/checkout',
  access: 'customer',
  member: 'money:write',
  summary: 'Begin a top-up at a local gateway; the browser goes on to checkoutUrl',
  body: z.strictObject({
    amount: topUpAmount,
    type: z.union([z.literal(1), z.literal(2)]),
    method: z.nullable(z.enum(methods)),
  }),
  result: z.object({ checkoutUrl: z.string(), transactionCode: z.string() }),
})

export const PaymentStatus = z.enum(['pending', 'succeeded', 'failed', 'expired'])
export type PaymentStatus = z.output<typeof PaymentStatus>

/** Why a payment failed, as far as the gateway says. The customer's next step depends on it. */
export const declineReasons = [
  'cancelled',
  'not_in_time',
  'insufficient_funds',
  'limit',
  'wrong_details',
  'wrong_code',
  'needs_confirmation',
  'blocked',
  'not_enrolled',
  'bank_unavailable',
  'declined',
] as const
export type DeclineReason = (typeof declineReasons)[number]

const Payment = z.object({
  transactionCode: z.string(),
  description: z.string(),
  amount: minor,
  currency,
  status: PaymentStatus,
  createdAt: z.string(),
  /** For a failed payment, where the gateway says why; otherwise null. */
  reason: z.nullable(z.enum(declineReasons)),
  /**
   * Minor units that came for this payment but do not match it, such as a second payment of a paid
   * order. They wait for the operator's decision. Null where nothing waits.
   */
  held: z.nullable(z.object({ amount: minor, currency })),
  /**
   * Minor units of it that were set off against a debt: a chargeback, or money lent on a credit
   * line. Null where nothing was owed.
   */
  setOff: z.nullable(z.object({ amount: minor, currency })),
})

export const getTransaction = endpoint({
  method: 'GET',
  path: '/api/payments/get-transaction',
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary: 'One top-up by its code; only its owner is answered',
  query: z.object({
    transactionCode: z.string().check(z.minLength(1), z.maxLength(100)),
    /** Sent when the customer returns from the gateway: an undecided payment is queried at once. */
    ask: z.optional(z.literal('now')),
  }),
  result: Payment,
})

const Transfer = z.extend(Payment, {
  /** Minor units that have arrived so far. */
  received: minor,
  expiresAt: z.string(),
  bankName: z.string(),
  /** NAPAS BIN, six digits. */
  bankBin: z.string(),
  accountNumber: z.string(),
  accountName: z.string(),
  /** The text that the transfer must contain. */
  content: z.string(),
  /** The text of the QR code: EMVCo merchant-presented payload. */
  qr: z.string(),
  /** A page that opens the transfer in a banking app; null: there is none. */
  appUrl: z.nullable(z.string()),
})
export type Transfer = z.output<typeof Transfer>

export const getTransfer = endpoint({
  method: 'GET',
  path: '/api/payments/transfer',
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary: 'How to make the bank transfer of a top-up; only its owner is answered',
  query: z.object({ transactionCode: z.string().check(z.minLength(1), z.maxLength(100)) }),
  result: Transfer,
})

export const listTransfers = endpoint({
  method: 'GET',
  path: '/api/payments/transfers',
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary:
    'Bank transfers of the last day that were begun and brought no money yet, the newest first',
  result: z.array(
    z.object({ transactionCode: z.string(), amount: minor, currency, expiresAt: z.string() }),
  ),
})
export type WaitingTransfer = z.output<(typeof listTransfers)['result']>[number]

export const squareCheckout = endpoint({
  method: 'POST',
  path: '/api/payments/square/checkout',
  access: 'customer',
  member: 'money:write',
  summary: "Top up with a token of Square's form",
  body: z.strictObject({
    amount: topUpAmount,
    locationId: z.string().check(z.minLength(1), z.maxLength(100)),
    source_id: z.string().check(z.minLength(1), z.maxLength(1000)),
    verification_token: z.optional(z.string().check(z.maxLength(1000))),
  }),
  result: z.object({ transactionCode: z.string(), status: PaymentStatus }),
})
