/**
 * VNPay's own signatures. Written independently of the portal's driver on purpose, so that each
 * checks the other.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../constant-time.ts'

export interface VnpayTerminal {
  readonly tmnCode: string
  readonly secret: string
}
export type Fields = Record<string, string>

/** application/x-www-form-urlencoded as VNPay writes it; '*' is escaped as in PHP's urlencode. */
export function formEncode(fields: Fields): string {
  const query = new URLSearchParams()
  for (const key of Object.keys(fields).sort()) {
    const value = fields[key]
    if (value !== undefined && value !== '') query.append(key, value)
  }
  return query.toString().replaceAll('*', '%2A')
}

export const hash = (secret: string, text: string): string =>
  createHmac('sha512', secret).update(text).digest('hex')

export const hashMatches = (expected: string, given: string | undefined): boolean =>
  sameText(expected, given?.toLowerCase())

/** The vnp_ parameters of a query, without the hash and its type; and the hash. */
export function readQuery(query: URLSearchParams): { fields: Fields; given: string | undefined } {
  const fields: Fields = {}
  for (const [key, value] of query) if (key.startsWith('vnp_')) fields[key] = value
  const given = fields['vnp_SecureHash']
  delete fields['vnp_SecureHash']
  delete fields['vnp_SecureHashType']
  return { fields, given }
}

/** The query that VNPay sends: the fields and their hash. */
export function signedQuery(fields: Fields, secret: string): string {
  const text = formEncode(fields)
  return `${text}&vnp_SecureHash=${hash(secret, text)}`
}

/** Hash of the values joined by '|', as the server-to-server messages are signed. */
export const pipeHash = (secret: string, fields: Fields, names: string): string =>
  hash(
    secret,
    names
      .split(' ')
      .map((name) => fields[`vnp_${name}`] ?? '')
      .join('|'),
  )

/** yyyyMMddHHmmss in Vietnam's zone. */
export const vnpayDate = (date: Date): string =>
  new Date(date.getTime() + 25_200_000).toISOString().slice(0, 19).replace(/[-T:]/g, '')

/** The time of such a date, or undefined. */
export function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined || !/^\d{14}$/.test(text)) return undefined
  const date = new Date(
    `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}T${text.slice(8, 10)}:` +
      `${text.slice(10, 12)}:${text.slice(12, 14)}+07:00`,
  )
  return Number.isNaN(date.getTime()) || vnpayDate(date) !== text ? undefined : date
}
