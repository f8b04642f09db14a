/**
 * How long it takes from a press of a menu to the screen that it leads to: of this portal to its
 * heading, of any application to its first change.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { press } from './hand.ts'

/**
 * ms from a press to the frame that shows the new screen's heading and what comes with it, and to
 * the one that leaves nothing in view to be drawn.
 */
interface Arrival {
  readonly shown: number
  readonly whole: number
}
declare global {
  interface Window {
    arrival: Promise<Arrival>
    changed: Promise<number>
  }
}

/**
 * Resolves, in the page, once the screen of `to` is there. `shown` ends with the frame that draws
 * its heading; until 2026-11-22 it ended a frame later, for the heading was noticed before its
 * frame was drawn and the frame after that one was waited for. `whole` ends with the frame in which
 * no grey block and no place kept for a second drawing is in view any more; both include what the
 * network took.
 */
export const awaitArrival = (page: Page, to: string) =>
  page.evaluate((target) => {
    window.arrival = new Promise((resolve) => {
      addEventListener(
        'click',
        ({ timeStamp }) => {
          const before = document.querySelector('h1')
          // A message that is posted while a frame is rendered arrives after the frame.
          const afterThisFrame = (hear: (ms: number) => void) => {
            const line = new MessageChannel()
            line.port1.onmessage = () => hear(performance.now() - timeStamp)
            line.port2.postMessage(null)
          }
          let shown: number | undefined
          const look = () => {
            const heading = document.querySelector('h1')
            if (location.pathname === target && heading !== null && heading !== before) {
              if (shown === undefined) afterThisFrame((ms) => (shown ??= ms))
              const waited = [...document.querySelectorAll('main :is(.skeleton, [data-later])')]
              if (!waited.some((block) => block.getBoundingClientRect().top < innerHeight))
                return afterThisFrame((ms) => resolve({ shown: shown ?? ms, whole: ms }))
            }
            requestAnimationFrame(look)
          }
          requestAnimationFrame(look)
        },
        { once: true, capture: true },
      )
    })
  }, to)

/**
 * Resolves, in the page, with the ms from the next press to the frame in which the address has
 * changed and something else is in the document: what can be asked of any application, whatever its
 * screens are made of.
 */
const awaitChange = (page: Page) =>
  page.evaluate(() => {
    window.changed = new Promise((resolve) => {
      addEventListener(
        'click',
        ({ timeStamp }) => {
          const from = location.href
          let drawn = false
          new MutationObserver((changes, observer) => {
            drawn ||=
              location.href !== from &&
              changes.some(({ addedNodes }) =>
                [...addedNodes].some((node) => node instanceof HTMLElement),
              )
            if (drawn) observer.disconnect()
          }).observe(document.body, { childList: true, subtree: true })
          const look = () => {
            if (!drawn) return void requestAnimationFrame(look)
            const line = new MessageChannel()
            line.port1.onmessage = () => resolve(performance.now() - timeStamp)
            line.port2.postMessage(null)
          }
          requestAnimationFrame(look)
        },
        { once: true, capture: true },
      )
    })
  })

const patienceMs = 3000

/**
 * Presses each of the links in turn, so many rounds; ms of each change but for those of the first
 * round, which fetches what it needs.
 */
export async function changesOf(
  page: Page,
  links: readonly Locator[],
  rounds: number,
): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++)
    for (const link of links) {
      await awaitChange(page)
      await press(page, link)
      // A link that leads nowhere, or out of the application, is passed over.
      const ms = await Promise.race([
        page.evaluate(() => window.changed).catch(() => undefined),
        rest(patienceMs),
      ])
      if (round > 0 && ms !== undefined) found.push(ms)
      await page.waitForLoadState('networkidle')
    }
  return found
}
