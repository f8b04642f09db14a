/**
 * The form of an input in the trail, which is kept for ever, if the whole input must not be in it.
 */
import { createHash } from 'node:crypto'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Replaces a text by its length and hash: a person who has the text can still prove that it was
 * this one.
 */
export const without =
  <K extends string>(name: K) =>
  <I extends Readonly<Record<K, string>>>(input: I): object => {
    const { [name]: text, ...rest } = input
    return { ...rest, characters: input[name].length, sha256: hashOf(text as string) }
  }

/** At most the last four characters, and never more than a quarter of a code. */
export const masked = (code: string): string =>
  `…${code.slice(code.length - Math.min(4, Math.floor(code.length / 4)))}`

/** From this length on, the hidden part is too long to be guessed from a hash. */
const hashedFrom = 16

/** A code that is worth money, in its plain spelling: the trail is read by all of the staff. */
export const keptCode = (code: string): { readonly code: string; readonly sha256?: string } => ({
  code: masked(code),
  ...(code.length >= hashedFrom && { sha256: hashOf(code) }),
})
