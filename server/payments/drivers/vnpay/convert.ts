/**
 * Ours to VNPay's and back: dates in GMT+7, amounts times a hundred, plain text, addresses, request
 * ids.
 */
import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { withoutAccents } from '../../../../contract/fold.ts'
import { fromVietnam, inVietnam } from '../../../platform/vietnam-time.ts'

/** yyyyMMddHHmmss in GMT+7, whatever zone the process runs in. */
export const toVnpayDate = (date: Date): string => inVietnam(date).replace(/\D/g, '').slice(0, 14)

/** The moment of a yyyyMMddHHmmss in GMT+7; null for anything else. */
export function fromVnpayDate(text: string | undefined): Date | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text ?? '')
  if (parts === null) return null
  const [, year, month, day, hour, minute, second] = parts
  return fromVietnam(`${year}-${month}-${day}T${hour}:${minute}:${second}`)
}

/** Đồng to vnp_Amount. */
export const toVnpayAmount = (dong: bigint): string => (dong * 100n).toString()

/** vnp_Amount to đồng; undefined when it is no whole, non-negative number of đồng. */
export function fromVnpayAmount(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined
  const amount = BigInt(text)
  return amount % 100n === 0n ? amount / 100n : undefined
}

/**
 * Converts text to what VNPay accepts: no diacritics, no special characters. Only [A-Za-z0-9 .:_-]
 * remain, which all form encoders encode alike, so the signature does not depend on the encoder. At
 * most 255 characters.
 */
export const plainText = (text: string): string =>
  withoutAccents(text)
    .replace(/[^A-Za-z0-9 .:_-]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, 255)

/**
 * VNPay wants 7 to 45 characters: '::1' is written out, a mapped IPv4 is unwrapped, what is no
 * address becomes the loopback one.
 */
export function vnpayIp(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return '127.0.0.1'
  if (plain.length >= 7) return plain
  return ipaddr.parse(plain).toNormalizedString()
}

/** vnp_RequestId, at most 32 of [A-Za-z0-9]: the same idempotency key always gives the same. */
export const requestId = (key: string): string =>
  /^[A-Za-z0-9]{1,32}$/.test(key)
    ? key
    : createHash('sha256').update(key).digest('hex').slice(0, 32)
