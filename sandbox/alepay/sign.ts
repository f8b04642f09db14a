/**
 * Alepay's own signatures. Written independently of the portal's driver on purpose, so that each
 * checks the other.
 */
import { createHash, createHmac } from 'node:crypto'
import { sameText } from '../constant-time.ts'

export interface Merchant {
  readonly tokenKey: string
  readonly checksumKey: string
}

/**
 * HMAC-SHA256 over `key=value` of every field except the signature, in code-unit order, joined by
 * '&'.
 */
export function signatureOf(fields: Readonly<Record<string, unknown>>, key: string): string {
  const { signature: _given, ...signed } = fields
  const text = Object.entries(signed)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return [name, value === null ? '' : text] as const
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&')
  return createHmac('sha256', key).update(text).digest('hex')
}

export const sha256 = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('')).digest('hex')
export const md5 = (...parts: readonly string[]): string =>
  createHash('md5').update(parts.join('')).digest('hex')

export const same = (expected: string, given: unknown): boolean =>
  typeof given === 'string' && sameText(expected, given.toLowerCase())
