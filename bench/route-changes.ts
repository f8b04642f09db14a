/**
 * How long it takes from a press in a menu to the new screen: for this portal to its heading, for
 * any application to its first change.
 */
import { setTimeout as rest } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { press } from './hand.ts'

/**
 * ms from a press to the frame that shows the new screen's heading, and to the frame after which
 * nothing in view is missing.
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
 * its heading. Figures from before 2026-11-22 end a frame later: the heading was noticed before its
 * frame was drawn, and the frame after that one was waited for. `whole` ends with the first frame
 * without a skeleton or a placeholder in view. Both include the network's time.
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
 * changed and the document's content differs. This can be measured for any application, whatever
 * its screens are made of.
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
 * Presses each link in turn, for several rounds; returns the ms of each change, without the first
 * round, which loads the code.
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
      // A link that leads nowhere, or out of the application, is skipped.
      const ms = await Promise.race([
        page.evaluate(() => window.changed).catch(() => undefined),
        rest(patienceMs),
      ])
      if (round > 0 && ms !== undefined) found.push(ms)
      await page.waitForLoadState('networkidle')
    }
  return found
}
