/**
 * payOS's own signatures. Written independently of the portal's driver on purpose, so that each
 * checks the other.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../constant-time.ts'

export interface Channel {
  readonly clientId: string
  readonly apiKey: string
  readonly checksumKey: string
}
type Fields = Readonly<Record<string, unknown>>

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex')

const plain = (value: unknown): string => {
  if (Array.isArray(value))
    return JSON.stringify(
      value.map((one: Fields) =>
        Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))),
      ),
    )
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}
/** Signs every key of `data` in order. */
export const dataSignature = (data: Fields, key: string): string =>
  hmac(
    key,
    Object.keys(data)
      .sort()
      .map((name) => `${name}=${plain(data[name])}`)
      .join('&'),
  )
/** Signs the five fields of a payment link's creation. */
export const requestSignature = (body: Fields, key: string): string =>
  hmac(
    key,
    ['amount', 'cancelUrl', 'description', 'orderCode', 'returnUrl']
      .map((name) => `${name}=${plain(body[name])}`)
      .join('&'),
  )

export const same = (expected: string, given: unknown): boolean =>
  typeof given === 'string' && sameText(expected, given.toLowerCase())
