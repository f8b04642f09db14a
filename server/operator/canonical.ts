/** Canonical JSON: equal values have the same text, over which hashes are made. */

/** Facts of an act: plain JSON. */
export type Facts = Record<string, unknown>

/** Names in order, no space; bigint as a number, and what is undefined left out. */
export function canonical(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    if (value instanceof Date) return JSON.stringify(value.toISOString())
    const parts = Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      // By code units, independent of the machine's locale.
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
    return `{${parts.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
