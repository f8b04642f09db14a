/** Resolves once the frame that is being made is out: what answers a press is seen before the work that follows it. A hidden page makes none. */
export const afterFrame = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) return resolve()
    requestAnimationFrame(() => setTimeout(resolve))
    // Hidden in between, it makes none either.
    setTimeout(resolve, longestMs)
  })

/** No frame takes longer that anybody waits for. */
const longestMs = 1000
