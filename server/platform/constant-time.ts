/** Comparing of secrets and signatures, in a time that says nothing of where they differ. */
import { timingSafeEqual } from 'node:crypto'

/** Texts of different lengths are unequal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

export const sameText = (a: string, b: string): boolean => sameBytes(Buffer.from(a), Buffer.from(b))

/**
 * Whether `given` is the hash `expected`, both in hex of any case. Anything that is no hash of that
 * length is unequal.
 */
export const sameHash = (expected: string, given: unknown): boolean =>
  typeof given === 'string' &&
  given.length === expected.length &&
  /^[0-9a-f]+$/i.test(given) &&
  sameBytes(Buffer.from(expected, 'hex'), Buffer.from(given, 'hex'))
