/** Texts that begin like one that somebody typed. */

/** For LIKE, whose wildcards the text may hold. */
export const beginsLike = (text: string): string => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`
