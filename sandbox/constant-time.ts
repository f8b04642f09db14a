/** Compares secrets and signatures in constant time, which does not reveal where they differ. */
import { timingSafeEqual } from 'node:crypto'

/** A value that is no text, or has another length, is not equal. */
export function sameText(expected: string, given: unknown): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
