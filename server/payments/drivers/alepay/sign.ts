/**
 * Alepay's three sums (version 3): HMAC-SHA256 over a call's fields, SHA-256 over a refund's, MD5
 * over a webhook's. Sources:
 * https://sandbox-guide.alepay.vn/thanh-toan-tokenization/10-cach-tao-signature,
 * .../hoan-tien/6-api-tao-yeu-cau-hoan and .../6-api-kiem-tra-va-lay-thong-tin-gd; the webhook's is
 * written down nowhere and known from two integrations that agree.
 */
import { createHash, createHmac } from 'node:crypto'

export type Fields = Readonly<Record<string, string | number | boolean | null>>

/**
 * The text that is signed: all fields but the signature, keys in code-unit order, nothing escaped,
 * null as nothing.
 */
export const canonicalText = (fields: Fields): string =>
  Object.keys(fields)
    .filter((key) => key !== 'signature')
    .sort()
    .map((key) => `${key}=${String(fields[key] ?? '')}`)
    .join('&')

export const signature = (fields: Fields, checksumKey: string): string =>
  createHmac('sha256', checksumKey).update(canonicalText(fields), 'utf8').digest('hex')

/**
 * The fields as they are sent: text composed (NFC), because Alepay hashes it so, and signed as it
 * is sent.
 */
export function signed(fields: Fields, checksumKey: string): Fields {
  const sent = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? value.normalize('NFC') : value,
    ]),
  )
  return { ...sent, signature: signature(sent, checksumKey) }
}

/**
 * The checksum of a refund's question or answer, whose order of parts differs from call to call.
 */
export const refundChecksum = (parts: readonly string[], checksumKey: string): string =>
  createHash('sha256')
    .update([...parts, checksumKey].join(''), 'utf8')
    .digest('hex')

export const webhookChecksum = (
  orderCode: string,
  amount: string,
  transactionCode: string,
  checksumKey: string,
): string =>
  createHash('md5')
    .update(`${orderCode}${amount}${transactionCode}${checksumKey}`, 'utf8')
    .digest('hex')
