/** Settings of the VNPay driver. */
import * as z from 'zod/mini'

const address = z
  .url({ protocol: /^https?$/, error: 'a URL that begins with https://' })
  .check(z.refine((url) => !/[?#]/.test(url), { error: 'a URL without a query' }))

export const settings = z.object({
  /** The terminal's code, given by VNPay. */
  tmnCode: z.string().check(z.regex(/^[A-Za-z0-9]{8}$/, { error: 'eight letters or digits' })),
  /** The terminal's HMAC key. Never printed. */
  secret: z.string().check(z.regex(/\S/, { error: 'must not be blank' })),
  /** The page that the browser goes to: .../paymentv2/vpcpay.html */
  payUrl: address,
  /** The API for queries and refunds: .../merchant_webapi/api/transaction */
  apiUrl: address,
  /** Time limit of one call, in milliseconds. */
  timeoutMs: z._default(z.int().check(z.gte(1)), 10_000),
})
export type VnpaySettings = z.output<typeof settings>

/** The names of the settings in the environment. */
export const environment = {
  tmnCode: 'VNPAY_TMN_CODE',
  secret: 'VNPAY_HASH_SECRET',
  payUrl: 'VNPAY_PAY_URL',
  apiUrl: 'VNPAY_API_URL',
} as const

/** VNPay's public addresses; the production ones come with the contract. */
export const defaults = {
  payUrl: 'https://sandbox.vnpayment.vn/paymentv2/vpcpay.html',
  apiUrl: 'https://sandbox.vnpayment.vn/merchant_webapi/api/transaction',
} as const

export const sandboxKeys = (derive: (purpose: string) => string) => ({
  tmnCode: 'SANDBOX1',
  secret: derive('sandbox-vnpay'),
})
export const inSandbox = (url: string, keys: Readonly<Record<string, string>>) => ({
  ...keys,
  payUrl: `${url}/vnpay/paymentv2/vpcpay.html`,
  apiUrl: `${url}/vnpay/merchant_webapi/api/transaction`,
})
