/** A real Chromium for the browser tests: the machine's own, or the one in an npm package. */
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

/**
 * One browser for all test files of a worker, closed when the worker exits; `endVisits` closes all
 * its pages.
 */
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
    // The next file of this worker tries again.
    launched = undefined
    throw error
  }
}

/** Closes every visitor's pages, before their portal is closed. */
export async function endVisits(browser: Browser | undefined): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])
}

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Problems that the page reported: uncaught errors, console errors, failed requests. */
  readonly complaints: string[]
}

/** A new visitor, with a Vietnamese clock. */
export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-AU',
    timezoneId: 'Asia/Ho_Chi_Minh',
    ...options,
  })
  // Long enough for a slow machine with three workers; what is already there does not take that
  // long.
  context.setDefaultTimeout(40_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  return { context, page, complaints }
}

/** The choices that a visitor made earlier, and the signed-in customer. */
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
 * A visitor with these earlier choices, in a tab that has opened nothing yet. Animations are off,
 * so that colours are stable.
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
      // The frames of a card provider run this script too, but need none of our values.
      if (window !== window.top) return
      for (const [key, value] of Object.entries(choices))
        if (value !== undefined && localStorage.getItem(key) === null)
          localStorage.setItem(key, value)
      // Only once, so that a visitor who signs out stays signed out.
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
 * Waits until a screen is complete: no skeleton, no placeholder of a second rendering, and no
 * request under way.
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

/** The minified file, because every check of a page loads it again. */
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** No screen plays media, which is all that these rules would preload. */
const options = { resultTypes: ['violations'], preload: false }

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly unknown[] }[]
}

/** Axe directly, without the builder's messages between frames, which takes half the time. */
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
  // Legacy mode combines the results in this page instead of a new blank one.
  const { violations: all } = await new AxeBuilder({ page, axeSource })
    .setLegacyMode()
    .options(options as Parameters<AxeBuilder['options']>[0])
    .withTags(tags)
    .analyze()
  return all
}

/** Violations of WCAG 2.2 AA on the page, as rule and element. */
export async function violations(page: Page): Promise<string[]> {
  // A colour in transition cannot be judged.
  await page.evaluate(
    async () =>
      await Promise.allSettled(
        document
          .getAnimations()
          // An animation driven by scrolling never finishes.
          .filter(({ timeline }) => timeline === document.timeline)
          .map(async ({ finished }) => await finished),
      ),
  )
  const found =
    page.frames().length === 1 ? await violationsOfDocument(page) : await violationsOfFrames(page)
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/** Resizes the page, px, and waits until it is rendered in the new size. */
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

/** Saves a picture of the page if PICTURES names a folder. */
export async function keepPicture(page: Page, name: string, fullPage = true): Promise<void> {
  const folder = process.env['PICTURES']
  if (folder !== undefined)
    await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage })
}
/** The same for both widths. */
export async function keepBothWidths(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env['PICTURES'] === undefined) return
  for (const [size, at] of Object.entries({ wide, phone })) {
    await resize(page, at)
    await keepPicture(page, `${name}-${size}`, fullPage)
  }
  await resize(page, wide)
}
/** Checks both widths for sideways scrolling and accessibility violations, and saves pictures. */
export async function judgeBothWidths(page: Page, name: string): Promise<void> {
  await settled(page)
  for (const [size, at] of Object.entries({ wide, phone })) {
    await resize(page, at)
    // A target that a bar at the page's edge half covers would count as too small.
    await page.evaluate(() => window.scrollTo(0, 0))
    expect(await sideways(page), `${name} at ${size}`).toBe(0)
    expect(await violations(page), `${name} at ${size}`).toEqual([])
    await keepPicture(page, `${name}-${size}`)
  }
  await resize(page, wide)
}
