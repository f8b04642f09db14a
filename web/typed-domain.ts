/** What was typed as a domain: without the scheme, a path, and the dot at the end. */
export const typedDomain = (text: string): string =>
  text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '')
    .replace(/\.$/, '')
