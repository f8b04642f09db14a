/**
 * The signature of payOS's webhooks and answers: HMAC-SHA256 over the keys of `data` in order. We
 * verify it ourselves, because the SDK compares with `!==` and accepts an answer without any
 * signature. Source: payOS's documentation of its webhook, and @payos/node 2.0.5.
 */
import { createHmac } from 'node:crypto'
import { sameHash } from '../../../platform/constant-time.ts'

export type Data = Readonly<Record<string, unknown>>

const byKey = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)))
function written(value: unknown): string {
  if (value === null || value === undefined || value === 'null' || value === 'undefined') return ''
  if (Array.isArray(value))
    return JSON.stringify(value.map((item: unknown) => (isData(item) ? byKey(item) : item)))
  return typeof value === 'string' ? value : JSON.stringify(value)
}
export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const signature = (data: Data, checksumKey: string): string =>
  createHmac('sha256', checksumKey)
    .update(
      Object.entries(byKey(data))
        .map(([key, value]) => `${key}=${written(value)}`)
        .join('&'),
      'utf8',
    )
    .digest('hex')

/** Whether `given` is the signature of `data`, in constant time. */
export const holds = (data: Data, given: unknown, checksumKey: string): boolean =>
  sameHash(signature(data, checksumKey), given)
