/** Prefix search for typed text. */

/** A LIKE pattern for texts with this prefix; the text's own wildcards are escaped. */
export const beginsLike = (text: string): string => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`
