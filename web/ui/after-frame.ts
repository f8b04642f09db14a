/**
 * Resolves after the next frame: the response to a press is visible before the work that follows
 * it. A hidden page renders no frames.
 */
export const afterFrame = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) return resolve()
    requestAnimationFrame(() => setTimeout(resolve))
    // Hidden in between, it makes none either.
    setTimeout(resolve, longestMs)
  })

/** No frame takes longer that anybody waits for. */
const longestMs = 1000

let keyIsDown = false
addEventListener('keydown', () => (keyIsDown = true), { capture: true })
addEventListener('keyup', () => (keyIsDown = false), { capture: true })
// The window's own: it hears of no release any more. What inside it loses the focus says nothing of
// the key.
addEventListener('blur', () => (keyIsDown = false))

/**
 * Resolves after that frame as well, but not while the pressed key is down: its release is an event
 * of its own, which would wait for the work that begins in between.
 */
export async function afterPress(): Promise<void> {
  await afterFrame()
  if (!keyIsDown) return
  await new Promise((resolve) => {
    addEventListener('keyup', resolve, { capture: true, once: true })
    // Kept down by a hand that rests on it.
    setTimeout(resolve, longestHoldMs)
  })
  await afterFrame()
}
const longestHoldMs = 300
