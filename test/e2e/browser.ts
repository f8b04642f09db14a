/** A real Chromium for the journeys: the machine's own, or the one that an npm package carries. */
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'
import { browserArguments, browserPath } from '../../scripts/browser.mjs'

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: await browserPath(), args: browserArguments })
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
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  return { context, page, complaints }
}

/** Waits for the whole of a screen: no grey block, no place kept for a second drawing, and nothing under way in it. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => document.querySelector('h1') !== null && document.querySelector('.skeleton, .boot, [data-later], [aria-busy="true"]') === null,
  )
}
