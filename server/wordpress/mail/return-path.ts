/**
 * Where reports about letters of sites go: each letter's envelope names a sender of its own, which
 * says which letter it is and is signed, so that nobody reports about letters that he has not seen.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../../platform/constant-time.ts'

export interface ReturnPaths {
  readonly domain: string
  /** The envelope's sender for one recipient of a letter. */
  addressOf(mailId: bigint): string
  /** Which one an address is about; undefined for what is none of ours. */
  mailOf(address: string): bigint | undefined
}

/** 80 bits: a guess would have to be made against the listener. */
const signatureDigits = 20
/** Mail servers may write an address in small letters alone. */
const shape = /^returned-([0-9a-z]{1,13})-([0-9a-f]{20})$/
const largestId = 2n ** 63n - 1n

const readBase36 = (text: string): bigint =>
  [...text].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)

/** `key`: a secret of this use alone. */
export function createReturnPaths(domain: string, key: string): ReturnPaths {
  const signatureOf = (id: string): string =>
    createHmac('sha256', key).update(id).digest('hex').slice(0, signatureDigits)
  return {
    domain,
    addressOf(mailId) {
      const id = mailId.toString(36)
      return `returned-${id}-${signatureOf(id)}@${domain}`
    },
    mailOf(address) {
      const small = address.toLowerCase()
      const at = small.lastIndexOf('@')
      const [, id, signature] = shape.exec(small.slice(0, Math.max(0, at))) ?? []
      if (id === undefined || signature === undefined) return undefined
      if (small.slice(at + 1) !== domain || !sameText(signature, signatureOf(id))) return undefined
      const mailId = readBase36(id)
      return mailId <= largestId ? mailId : undefined
    },
  }
}
