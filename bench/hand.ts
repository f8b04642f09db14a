/**
 * A hand in a browser, and the browser's measurements: the time from each press to the next frame,
 * and each long frame.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'

export interface Seen {
  /** ms from each press to the next frame, by the browser's event timing, and what was pressed. */
  readonly presses: { readonly ms: number; readonly by: string }[]
  /** ms of each frame over 50 ms, and what ran in it. */
  readonly frames: { readonly ms: number; readonly by: string }[]
}
declare global {
  interface Window {
    seen: Seen
  }
}

/** Runs in the page, before anything else. */
export function watch() {
  window.seen = { presses: [], frames: [] }
  // The browser's own entries lack the key's name.
  const keys: { at: number; key: string }[] = []
  for (const type of ['keydown', 'keyup'] as const)
    addEventListener(type, ({ timeStamp, key }) => void keys.push({ at: timeStamp, key }), {
      capture: true,
    })
  const presses = new Map<number, Seen['presses'][number]>()
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEventTiming & {
      interactionId?: number
    })[]) {
      if (!entry.interactionId || entry.duration <= (presses.get(entry.interactionId)?.ms ?? 0))
        continue
      const { duration, startTime, processingStart, processingEnd } = entry
      const pressed =
        entry.target instanceof HTMLElement
          ? entry.target.innerText.slice(0, 20).replace(/\s+/g, ' ')
          : ''
      const target = keys.findLast(({ at }) => Math.abs(at - startTime) < 1)?.key ?? pressed
      const parts = [
        processingStart - startTime,
        processingEnd - processingStart,
        startTime + duration - processingEnd,
      ]
      const by = `${entry.name} "${target}", ${parts.map((ms) => ms.toFixed(0)).join(' + ')}`
      presses.set(entry.interactionId, { ms: duration, by })
      window.seen.presses.splice(0, Number.POSITIVE_INFINITY, ...presses.values())
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit)
  new PerformanceObserver((list) => {
    for (const frame of list.getEntries() as (PerformanceEntry & {
      scripts?: { invoker: string; sourceFunctionName: string; duration: number }[]
    })[])
      window.seen.frames.push({
        ms: frame.duration,
        by: (frame.scripts ?? [])
          .map(
            (script) =>
              `${script.invoker} ${script.sourceFunctionName} ${Math.round(script.duration)}`,
          )
          .join(', '),
      })
  }).observe({ type: 'long-animation-frame', buffered: true } as PerformanceObserverInit)
}

/** How long a hand rests before a press, and how long it holds a button or key down, ms. */
export const hand = { restMs: 100, holdMs: 60 }

/**
 * Presses like a hand. Playwright's own `click` runs its own scripts in the page around each event
 * to find out what was hit: on a slowed processor they would take a third of the measured time.
 */
export async function press(page: Page, target: Locator) {
  await target.scrollIntoViewIfNeeded()
  const box = await target.boundingBox()
  if (box === null) throw new Error(`there is nothing to press: ${String(target)}`)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await rest(hand.restMs)
  await page.mouse.down()
  await rest(hand.holdMs)
  await page.mouse.up()
}
