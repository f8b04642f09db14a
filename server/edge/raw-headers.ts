// Headers as node:http and undici have them in their raw form: name, value, name, value.

/** The values of a header, joined as one (RFC 9110, 5.3); undefined when it is not there. */
export function headerOf(raw: readonly string[], name: string): string | undefined {
  let found: string | undefined
  for (let index = 0; index < raw.length; index += 2)
    if (raw[index]!.length === name.length && raw[index]!.toLowerCase() === name)
      found = found === undefined ? raw[index + 1]! : `${found}, ${raw[index + 1]!}`
  return found
}

/** The headers without those of these names (lower case). */
export function withoutHeaders(raw: readonly string[], names: ReadonlySet<string>): string[] {
  const out: string[] = []
  for (let index = 0; index < raw.length; index += 2)
    if (!names.has(raw[index]!.toLowerCase())) out.push(raw[index]!, raw[index + 1]!)
  return out
}

/** The words of a list such as Cache-Control's or Vary's, in lower case. */
export const wordsOf = (value: string | undefined): string[] =>
  (value ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
