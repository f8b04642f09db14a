/**
 * VNPay's signatures (PAY 2.1.0): HMAC-SHA512 in lower hex, over a canonical query for what travels
 * in a browser, over values joined by '|' for what travels between servers. Source:
 * https://sandbox.vnpayment.vn/apis/docs/thanh-toan-pay/pay.html and
 * .../truy-van-hoan-tien/querydr&refund.html
 */
import { createHmac } from 'node:crypto'
import { sameHash } from '../../../platform/constant-time.ts'

export type Fields = Readonly<Record<string, string>>

/**
 * PHP's urlencode, which VNPay signs with: a space is '+', everything but letters, digits and -_.
 * is escaped.
 */
const encode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/%20/g, '+')
    .replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

/** The text that is signed, and the query itself: empty values left out, keys in byte order. */
export const canonicalQuery = (fields: Fields): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encode(key)}=${encode(value)}`)
    .join('&')

export const hmac = (secret: string, text: string): string =>
  createHmac('sha512', secret).update(text, 'utf8').digest('hex')

/** `base` with the signed query. The base has no query of its own. */
export function signedUrl(base: string, fields: Fields, secret: string): string {
  const query = canonicalQuery(fields)
  return `${base}?${query}&vnp_SecureHash=${hmac(secret, query)}`
}

/**
 * The vnp_ parameters of a signed query without the hash. Undefined if the signature is wrong.
 * Parameters without the prefix are not VNPay's and are ignored. A repeated parameter is ambiguous
 * and refused.
 */
export function verifiedFields(query: URLSearchParams, secret: string): Fields | undefined {
  const fields: Record<string, string> = {}
  for (const [key, value] of query) {
    if (!key.startsWith('vnp_')) continue
    if (key in fields) return undefined
    fields[key] = value
  }
  const { vnp_SecureHash: given, vnp_SecureHashType: _type, ...signed } = fields
  return sameHash(hmac(secret, canonicalQuery(signed)), given) ? signed : undefined
}

const order = {
  queryRequest: [
    'RequestId',
    'Version',
    'Command',
    'TmnCode',
    'TxnRef',
    'TransactionDate',
    'CreateDate',
    'IpAddr',
    'OrderInfo',
  ],
  refundRequest: [
    'RequestId',
    'Version',
    'Command',
    'TmnCode',
    'TransactionType',
    'TxnRef',
    'Amount',
    'TransactionNo',
    'TransactionDate',
    'CreateBy',
    'CreateDate',
    'IpAddr',
    'OrderInfo',
  ],
  queryAnswer: [
    'ResponseId',
    'Command',
    'ResponseCode',
    'Message',
    'TmnCode',
    'TxnRef',
    'Amount',
    'BankCode',
    'PayDate',
    'TransactionNo',
    'TransactionType',
    'TransactionStatus',
    'OrderInfo',
    'PromotionCode',
    'PromotionAmount',
  ],
  refundAnswer: [
    'ResponseId',
    'Command',
    'ResponseCode',
    'Message',
    'TmnCode',
    'TxnRef',
    'Amount',
    'BankCode',
    'PayDate',
    'TransactionNo',
    'TransactionType',
    'TransactionStatus',
    'OrderInfo',
  ],
} as const
export type ApiMessage = keyof typeof order

/** The hash of a message between servers; a field that is absent counts as empty. */
export const apiHash = (message: ApiMessage, fields: Fields, secret: string): string =>
  hmac(secret, order[message].map((name) => fields[`vnp_${name}`] ?? '').join('|'))
