/**
 * The transfer code: a prefix, eight characters and a check character, and how it is found again in
 * what banks make of a transfer's text.
 *
 * The alphabet is Crockford's base32 (no I, L, O, U: what is read for 1 or 0 is taken for it). The
 * check character is a parity over GF(32), sum of a^i * c_i with a primitive a: it finds every
 * single wrong character and every exchange of two.
 */
import { createHash } from 'node:crypto'
import { withoutAccents } from '../../../../contract/fold.ts'

/**
 * No Vietnamese or English word contains this sequence, so no other part of a text is taken for a
 * code.
 */
const prefix = 'NPX'
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const length = 8

/** Multiplication by the primitive element of GF(32), polynomial x^5 + x^2 + 1. */
const timesA = (value: number): number => ((value << 1) ^ (value & 16 ? 0b100101 : 0)) & 31

function checkCharacter(characters: string): string {
  let sum = 0
  for (const character of characters) sum = timesA(sum) ^ alphabet.indexOf(character)
  return alphabet[timesA(sum)] ?? ''
}

/** The transfer code of a payment: the same for the same payment, and of 2^40 different ones. */
export function transferCode(code: string): string {
  const bytes = createHash('sha256').update(code).digest()
  const characters = Array.from({ length }, (_, index) => alphabet[(bytes[index] ?? 0) & 31]).join(
    '',
  )
  return prefix + characters + checkCharacter(characters)
}

const confusable: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' }

/**
 * Removes Vietnamese diacritics, upper-cases, and keeps letters and digits only: the plainest form
 * in which a bank may pass a text on.
 */
const plain = (text: string): string =>
  withoutAccents(text)
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')

/**
 * The one transfer code in a text. Undefined if there is none or more than one: then a person
 * decides. Banks put their own words before and after it, drop or add spaces and diacritics, change
 * the case, repeat it, and cut long texts at the end.
 */
export function findTransferCode(text: string): string | undefined {
  const read = plain(text)
  const found = new Set<string>()
  for (let at = read.indexOf(prefix); at >= 0; at = read.indexOf(prefix, at + 1)) {
    const candidate = read
      .slice(at + prefix.length, at + prefix.length + length + 1)
      .replaceAll(/[OILU]/g, (letter) => confusable[letter] ?? '')
    const characters = candidate.slice(0, length)
    if (candidate.length === length + 1 && checkCharacter(characters) === candidate[length])
      found.add(prefix + candidate)
  }
  return found.size === 1 ? [...found][0] : undefined
}
