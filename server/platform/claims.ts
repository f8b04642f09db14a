/**
 * Works on what falls due: rows are claimed in batches by a query that no other worker's overlaps
 * (`for update skip locked`), until nothing is due.
 */
export async function workOnClaims<T>(of: {
  /** Takes some items that are due; none when nothing is due. */
  readonly claim: () => Promise<readonly T[]>
  /** Looks after its own failures. */
  readonly act: (one: T) => Promise<void>
  /** How many at a time. */
  readonly together: number
  readonly signal: AbortSignal
}): Promise<void> {
  const claimed: T[] = []
  let claiming: Promise<boolean> | undefined
  /** All workers share one claim; answers whether there was anything. */
  const claimMore = (): Promise<boolean> =>
    (claiming ??= of
      .claim()
      .then((some) => claimed.push(...some) > 0)
      .finally(() => {
        claiming = undefined
      }))
  const work = async (): Promise<void> => {
    while (!of.signal.aborted) {
      const one = claimed.shift()
      if (one !== undefined) await of.act(one)
      else if (!(await claimMore())) return
    }
  }
  await Promise.all(Array.from({ length: of.together }, work))
}
