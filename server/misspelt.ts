/** Environment variables that resemble ours: a misspelt setting would silently keep its default. */

/** Shorter names are too near to those of others (HOME and HOST). */
const shortestName = 7
const mostEdits = 2

/**
 * The edit distance of two texts: one letter more, less or different, or two neighbours exchanged
 * (optimal string alignment; R. A. Wagner and R. Lowrance, 1975). Larger distances are answered as
 * `most + 1`.
 */
export function editsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    ;[before, row] = [row, next]
  }
  return Math.min(row[b.length] ?? 0, most + 1)
}

/** One sentence per environment variable that is similar to one of ours. */
export function misspelt(
  env: Readonly<Record<string, string | undefined>>,
  ours: Iterable<string>,
): string[] {
  const known = new Set(ours)
  return Object.keys(env)
    .filter((name) => name.length >= shortestName && !known.has(name))
    .flatMap((name) => {
      const meant = [...known].find(
        (own) => editsBetween(name.toUpperCase(), own, mostEdits) <= mostEdits,
      )
      return meant === undefined ? [] : [`${name} is no setting of the portal: is ${meant} meant?`]
    })
}
