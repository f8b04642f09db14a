/** Time-based one-time codes (RFC 6238): SHA-1, six digits, thirty seconds, as apps have them. */
import { createHmac, randomBytes } from 'node:crypto'
import { sameText } from '../platform/constant-time.ts'

const stepSeconds = 30
/** Steps by which a phone's clock may be off. */
const driftSteps = 1
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4648, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(value >>> bits) & 31]
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}
function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const letter of text) {
    value = (value << 5) | alphabet.indexOf(letter)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((value >>> bits) & 255)
    value &= (1 << bits) - 1
  }
  return Buffer.from(bytes)
}

/** 160 bits (RFC 4226, 4, R6), in base32. */
export const newTotpSecret = (): string => base32(randomBytes(20))

export const stepOf = (at: Date): number => Math.floor(at.getTime() / 1000 / stepSeconds)

/** The code of a step. */
export function totpAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/**
 * The step of a code: the present one, the one before or the one after. It must be later than
 * `lastStep`, so that no code counts twice. Undefined: the code fits none.
 */
export function matchingStep(
  secret: string,
  code: string,
  now: Date,
  lastStep: number,
): number | undefined {
  for (let step = stepOf(now) - driftSteps; step <= stepOf(now) + driftSteps; step++)
    if (step > lastStep && sameText(totpAt(secret, step), code)) return step
  return undefined
}

/**
 * The text of the QR code, in the format that apps read ("Key Uri Format" of Google Authenticator).
 */
export function otpauthUri(secret: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = `secret=${secret}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=6&period=${stepSeconds}`
}
