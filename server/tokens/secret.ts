/**
 * How a token looks: a prefix, a public part by which it is looked up, a secret part, and a
 * checksum, so that a secret scanner tells one from what only looks like it, without asking us.
 */
import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { tokenPrefix } from '../../contract/tokens.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** So many characters behind the prefix name a token. */
export const publicLength = 12
/** 190 bits. */
const secretLength = 32
const checksumLength = 6

const random = (length: number): string =>
  Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('')

function checksumOf(text: string): string {
  let left = crc32(text)
  let written = ''
  for (let place = 0; place < checksumLength; place++) {
    written = letters.charAt(left % letters.length) + written
    left = Math.floor(left / letters.length)
  }
  return written
}

/** SHA-256 of the whole: nothing that has 190 random bits can be guessed from its hash. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface MadeToken {
  readonly token: string
  readonly publicId: string
}
export function newToken(): MadeToken {
  const publicId = random(publicLength)
  const body = `${tokenPrefix}${publicId}${random(secretLength)}`
  return { token: body + checksumOf(body), publicId }
}

const shape = new RegExp(
  `^${tokenPrefix}([0-9A-Za-z]{${publicLength}})[0-9A-Za-z]{${secretLength + checksumLength}}$`,
)

/** The public part; undefined where form or checksum are wrong, which costs no look-up. */
export function publicIdOf(token: string): string | undefined {
  const publicId = shape.exec(token)?.[1]
  const isWhole = checksumOf(token.slice(0, -checksumLength)) === token.slice(-checksumLength)
  return isWhole ? publicId : undefined
}
