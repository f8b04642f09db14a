/** Comparing of secrets and signatures, in a time that says nothing of where they differ. */
import { timingSafeEqual } from 'node:crypto'

/** What is no text, or differs in length, is not equal. */
export function sameText(expected: string, given: unknown): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
