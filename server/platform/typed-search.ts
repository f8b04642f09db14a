/** Searches for typed text: its words, and patterns of LIKE. */

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** A LIKE pattern for texts with this prefix; the text's own wildcards are escaped. */
export const beginsLike = (text: string): string => `${escaped(text)}%`
/** A LIKE pattern for texts that contain this one; its own wildcards are escaped. */
export const containsLike = (text: string): string => `%${escaped(text)}%`

/** Every word is a condition of its own, so their number is limited; no name has more. */
const mostWords = 8

/**
 * The words of a search for names, in lower case, each once, at most eight. Of a pasted address
 * only the host is left.
 */
export const searchWords = (search: string): string[] =>
  [
    ...new Set(
      search
        .normalize('NFC')
        .toLowerCase()
        .split(/\s+/)
        .map((word) => word.replace(/^https?:\/\//, '').replace(/\/.*$/, ''))
        .filter((word) => word !== ''),
    ),
  ].slice(0, mostWords)
