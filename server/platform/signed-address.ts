/**
 * Email addresses that contain a number and its signature: a letter to such an address names its
 * subject, and its writer has seen the address.
 */
import { createHmac } from 'node:crypto'
import { sameText } from './constant-time.ts'

export interface SignedAddresses {
  readonly domain: string
  addressOf(number: bigint): string
  /** Undefined when the address is not ours. */
  numberOf(address: string): bigint | undefined
}

/** 80 bits: a guess would have to be made against the listener. */
const signatureDigits = 20
const largest = 2n ** 63n - 1n

const readBase36 = (text: string): bigint =>
  [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)

/** `prefix`: letters; `key`: a secret of this use alone. */
export function createSignedAddresses(
  prefix: string,
  domain: string,
  key: string,
): SignedAddresses {
  // Mail servers may write an address in small letters alone.
  const shape = new RegExp(`^${prefix}-([0-9a-z]{1,13})-([0-9a-f]{${signatureDigits}})$`)
  const signatureOf = (digits: string): string =>
    createHmac('sha256', key).update(digits).digest('hex').slice(0, signatureDigits)
  return {
    domain,
    addressOf(number) {
      const digits = number.toString(36)
      return `${prefix}-${digits}-${signatureOf(digits)}@${domain}`
    },
    numberOf(address) {
      const small = address.toLowerCase()
      const at = small.lastIndexOf('@')
      const [, digits, signature] = shape.exec(small.slice(0, Math.max(0, at))) ?? []
      if (digits === undefined || signature === undefined) return undefined
      if (small.slice(at + 1) !== domain || !sameText(signature, signatureOf(digits)))
        return undefined
      const number = readBase36(digits)
      return number <= largest ? number : undefined
    },
  }
}
