/**
 * Resolves once the frame that is being made is out: what answers a press is seen before the work that follows it. A hidden page draws
 * none, and does not wait.
 */
export const afterFrame = (): Promise<void> =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, longestMs)
  })

/** A frame takes less, but where nothing is drawn. */
const longestMs = 100
