/** A real Chromium for the journeys: the machine's own, or the one that an npm package carries. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'
import { expect } from 'vitest'
import { browserArguments, browserPath } from '../../scripts/browser.mjs'

let launched: Promise<Browser> | undefined

/** One for all test files of a worker, which ends it when it exits; `endVisits` leaves it empty. */
export async function openBrowser(): Promise<Browser> {
  const browser = await (launched ??= launch())
  if (browser.isConnected()) return browser
  launched = launch()
  return await launched
}
async function launch(): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: await browserPath(), args: browserArguments })
  } catch (error) {
    // The next file of this worker tries anew.
    launched = undefined
    throw error
  }
}

/** Closes every visitor's pages, before the portal that they look at is closed. */
export async function endVisits(browser: Browser | undefined): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
}

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page complained of: uncaught errors, console errors, requests that failed. */
  readonly complaints: string[]
}

/** A visitor of their own, Vietnamese clock. */
export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-AU',
    timezoneId: 'Asia/Ho_Chi_Minh',
    ...options,
  })
  // As long as a slow machine with three workers takes; nobody waits so long for what is there.
  context.setDefaultTimeout(40_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  return { context, page, complaints }
}

/** What a visitor chose before, and who they are. */
export interface Look extends Pick<
  BrowserContextOptions,
  'viewport' | 'timezoneId' | 'hasTouch' | 'isMobile'
> {
  theme?: 'light' | 'dark'
  language?: 'en' | 'vi' | 'aud'
  /** Signed in as this customer. */
  customer?: { readonly token: string }
}

/**
 * A visitor with these choices made before, in a tab that has opened nothing yet. Nothing moves, so
 * that colours are settled.
 */
export async function visitAs(
  browser: Browser,
  { theme, language, customer, ...options }: Look = {},
): Promise<Visit> {
  const one = await visit(browser, {
    reducedMotion: 'reduce',
    locale: 'en-GB',
    colorScheme: theme ?? 'light',
    ...options,
  })
  await one.context.addInitScript(
    ({ choices, token }) => {
      // A card provider's frames run this too, and have nothing of ours.
      if (window !== window.top) return
      for (const [key, value] of Object.entries(choices))
        if (value !== undefined && localStorage.getItem(key) === null)
          localStorage.setItem(key, value)
      // Once: who signs out stays signed out.
      if (token === undefined || sessionStorage.getItem('seeded') !== null) return
      sessionStorage.setItem('seeded', '1')
      sessionStorage.setItem('accessToken', token)
      sessionStorage.setItem('isLogin', '1')
    },
    { choices: { theme, language }, token: customer?.token },
  )
  return one
}

export const wide = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

/**
 * Waits for the whole of a screen: no grey block, no place kept for a second drawing, and nothing
 * under way in it.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null &&
      document.querySelector('.skeleton, .boot, [data-later], [aria-busy="true"]') === null,
  )
}

/** Opens an address and waits until the screen is rendered. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await settled(page)
}

/** The small one: a page reads it anew for each look at it. */
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** No screen plays anything, which is all that these rules would fetch beforehand. */
const options = { resultTypes: ['violations'], preload: false }

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly unknown[] }[]
}

/** Axe by itself, without the builder's messages between frames: in half of the time. */
async function violationsOfDocument(page: Page): Promise<Violation[]> {
  await page.evaluate(axeSource)
  return await page.evaluate(
    async (wanted) => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: Violation[] }> }
      }
      const { violations: all } = await axe.run(wanted)
      return all.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) }))
    },
    { ...options, runOnly: { type: 'tag', values: tags } },
  )
}

async function violationsOfFrames(page: Page): Promise<Violation[]> {
  // Legacy: results are put together in this page, not in a blank one that is opened for it.
  const { violations: all } = await new AxeBuilder({ page, axeSource })
    .setLegacyMode()
    .options(options as Parameters<AxeBuilder['options']>[0])
    .withTags(tags)
    .analyze()
  return all
}

/** What of the page breaks WCAG 2.2 AA, as rule and place. */
export async function violations(page: Page): Promise<string[]> {
  // A colour that is still changing is no colour to judge.
  await page.evaluate(
    async () =>
      await Promise.allSettled(
        document
          .getAnimations()
          // One that goes with the scrolling has no end of its own.
          .filter(({ timeline }) => timeline === document.timeline)
          .map(async ({ finished }) => await finished),
      ),
  )
  const found =
    page.frames().length === 1 ? await violationsOfDocument(page) : await violationsOfFrames(page)
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/** Gives the page another size, px, and waits until it is drawn in it. */
export async function resize(page: Page, to: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(to)
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => resolve()))
      }),
  )
}

/** How far the page scrolls sideways, px. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** Keeps a picture of the page where PICTURES names a folder. */
export async function keepPicture(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env['PICTURES']
  if (folder !== undefined)
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage })
}
/** The same of both widths. */
export async function keepBothWidths(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env['PICTURES'] === undefined) return
  for (const [size, at] of Object.entries({ wide, phone })) {
    await resize(page, at)
    await keepPicture(page, `${name}-${size}`, fullPage)
  }
  await resize(page, wide)
}
/** Both widths judged: nothing to scroll sideways, no violation of accessibility; and kept. */
export async function judgeBothWidths(page: Page, name: string): Promise<void> {
  await settled(page)
  for (const [size, at] of Object.entries({ wide, phone })) {
    await resize(page, at)
    // What a bar at the page's edge covers half is too small a target.
    await page.evaluate(() => window.scrollTo(0, 0))
    expect(await sideways(page), `${name} at ${size}`).toBe(0)
    expect(await violations(page), `${name} at ${size}`).toEqual([])
    await keepPicture(page, `${name}-${size}`)
  }
  await resize(page, wide)
}
