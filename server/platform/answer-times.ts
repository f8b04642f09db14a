/** Histogram of response times: the classes, shared by those who count and those who read. */

/** Upper bounds of the classes, ms; one more class holds everything slower. */
export const answerTimeBounds = [
  5, 10, 25, 50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 12_000, 30_000,
] as const

/**
 * The time that a share of the answers took at most, ms, by the class that it falls into, in even
 * parts of that class; null without answers.
 * @param times how many answers are in each class; the last has those beyond all bounds
 * @param share of 1
 */
export function timeOfShare(times: readonly number[], share: number): number | null {
  const all = times.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let below = 0
  for (const [index, count] of times.entries()) {
    if (count === 0 || below + count < share * all) {
      below += count
      continue
    }
    const lower = index === 0 ? 0 : (answerTimeBounds[index - 1] ?? 0)
    const upper = answerTimeBounds[index] ?? lower
    return Math.round(lower + ((share * all - below) / count) * (upper - lower))
  }
  return answerTimeBounds.at(-1) ?? null
}
