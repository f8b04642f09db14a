/**
 * Resolves after the next frame, so that the response to a press is visible before the work that
 * follows it. A hidden page renders no frames.
 */
export const afterFrame = (): Promise<void> =>
  new Promise((resolve) => {
    if (document.hidden) return resolve()
    requestAnimationFrame(() => setTimeout(resolve))
    // If the page is hidden meanwhile, no frame comes either, so a timer resolves as well.
    setTimeout(resolve, longestMs)
  })

/** Longer than any frame takes while somebody waits, ms. */
const longestMs = 1000

let keyIsDown = false
addEventListener('keydown', () => (keyIsDown = true), { capture: true })
addEventListener('keyup', () => (keyIsDown = false), { capture: true })
// Only the window's own blur: after it no key release is received. A blur of an element inside says
// nothing about the key.
addEventListener('blur', () => (keyIsDown = false))

/**
 * Resolves after the next frame, but not while the pressed key is down: its release is an event of
 * its own, which would wait for work that begins in between.
 */
export async function afterPress(): Promise<void> {
  await afterFrame()
  if (!keyIsDown) return
  await new Promise((resolve) => {
    addEventListener('keyup', resolve, { capture: true, once: true })
    // Limits the wait for a key that is held down.
    setTimeout(resolve, longestHoldMs)
  })
  await afterFrame()
}
const longestHoldMs = 300
