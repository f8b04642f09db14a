/** A typed domain without the scheme, the placeholder {host}, a path, and the dot at the end. */
export const typedDomain = (text: string): string =>
  text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/^\{host\}/, '')
    .replace(/[/?#].*$/, '')
    .replace(/\.$/, '')
