/**
 * Responsiveness in Chromium: from the press to the new screen (route change) and to the next frame
 * (INP), with the processor slowed four times; and a list of 100,000 transactions, scrolled from
 * end to end without a frame over 50 ms. The menus of peers that are already built
 * (PEERS=name=folder,…) are pressed in the same way in the same run.
 *
 * Every figure is measured in three passes, each in a new browser, and the middle one counts; all
 * three are printed. A slow page is slow in every pass, but other load on the machine affects only
 * one.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import { bulkEntries } from './bulk.ts'
import { hand, press, watch, type Seen } from './hand.ts'
import { call, median, report, signIn, startPortal } from './portal.ts'
import { awaitArrival, changesOf } from './route-changes.ts'
import { peers, serveFolder } from './static-folder.ts'

const slowedBy = 4
const passes = [1, 2, 3]
/**
 * A hundred presses per pass: with fewer, INP is the slowest one, whatever else the machine did at
 * that moment.
 */
const rounds = Number(process.env['ROUNDS'] ?? 13)
const entries = Number(process.env['BENCH_ENTRIES'] ?? 100_000)
/** In the order of a day's work; each is opened from the previous one by the menu. */
const routes = [
  '/transactions',
  '/invoice',
  '/wordpress',
  '/payment',
  '/dns',
  '/hosting',
  '/paas',
  '/',
]

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN

/** INP: the slowest press, leaving out one in fifty. */
function inp(presses: Seen['presses']): number {
  const slowest = presses.toSorted((a, b) => b.ms - a.ms)
  const said = slowest.slice(0, 3).map(({ ms, by }) => `${ms} ms (${by})`)
  console.log(
    `      the slowest of ${presses.length} presses (to our code + in it + to the frame): ` +
      `${said.join('; ')}`,
  )
  return slowest[Math.floor(presses.length / 50)]?.ms ?? Number.NaN
}

/** ms of the slowest frame; 0 if none took over 50. */
function worst(frames: Seen['frames']): number {
  const slowest = frames.toSorted((a, b) => b.ms - a.ms)[0]
  if (slowest)
    console.log(
      `      ${frames.length} frames over 50 ms; the slowest ran ` +
        `${slowest.by || 'no script of ours'}`,
    )
  return slowest?.ms ?? 0
}

/** Reports the middle pass against its limit. */
function reportPasses(name: string, values: readonly number[], limit: number) {
  console.log(
    `      ${name}, in each pass: ${values.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`,
  )
  report(name, median(values), limit, 'ms')
}

/**
 * CPU ticks of this machine that other machines on the same host took, and all ticks. If the share
 * is large, a run's figures say little.
 */
function ticks() {
  if (!existsSync('/proc/stat')) return { stolen: 0, all: 0 }
  const [, ...spent] = (/^cpu +.*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? '')
    .split(/ +/)
    .map(Number)
  return { stolen: spent[7] ?? 0, all: spent.slice(0, 8).reduce((sum, one) => sum + one, 0) }
}
const begun = ticks()

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-interaction-'))
chmodSync(folder, 0o755)
const cluster = await startEmbeddedPostgres({ folder })
process.env['DATABASE_URL'] = cluster.url
const portal = await startPortal()

/** Measures in a new browser, which is closed afterwards. */
async function inBrowser<T>(measure: (browser: Browser) => Promise<T>): Promise<T> {
  const browser = await chromium.launch({
    executablePath: await browserPath(),
    args: browserArguments,
  })
  try {
    return await measure(browser)
  } finally {
    await browser.close()
  }
}

/** A page of the signed-in customer, recorded from its beginning. */
async function customerPage(browser: Browser, token: string): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
  })
  await context.addInitScript((access) => {
    localStorage.setItem('language', 'en')
    sessionStorage.setItem('accessToken', access)
    sessionStorage.setItem('isLogin', '1')
  }, token)
  await context.addInitScript(watch)
  return await context.newPage()
}

async function slowDown(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowedBy })
}

const menuLink = (page: Page, to: string) =>
  page.getByRole('navigation', { name: 'Main' }).locator(`a[href="${to}"]`)

/**
 * A server that has just started compiles its own code during the first calls, so a first visitor,
 * in a browser of their own, triggers that.
 */
async function warmUp(page: Page) {
  for (const to of [...routes, ...routes]) {
    await page.goto(`${portal.url}${to}`)
    await page.waitForLoadState('networkidle')
  }
}

/** The floor: a press on a page with a single button, by the same hand on the same machine. */
async function floor(page: Page) {
  await page.goto('data:text/html,<button onclick="this.textContent=Math.random()">floor</button>')
  await slowDown(page)
  await page.evaluate(watch)
  for (let time = 0; time < 20; time++) await press(page, page.locator('button'))
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  const seen = (await page.evaluate(() => window.seen.presses)).map(({ ms }) => ms)
  // The browser does not report presses that were answered within 16 ms.
  const [middle, slowest] = seen.length === 0 ? [16, 16] : [median(seen), percentile(seen, 0.98)]
  console.log(
    `      an empty page's button in the same run: median ${middle.toFixed(0)} ms, p98 ` +
      `${slowest.toFixed(0)} ms; load of the machine ${os.loadavg()[0]?.toFixed(1)} on ` +
      `${os.availableParallelism()} processors`,
  )
}

/** Opens every route from the menu, several times: p95 of the ms to its heading, and INP. */
async function walkRoutes(page: Page) {
  await page.goto(portal.url)
  await page.waitForLoadState('networkidle')
  await slowDown(page)
  const first: number[] = []
  const again: number[] = []
  const whole: number[] = []
  const slowest = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const to of routes) {
      await awaitArrival(page, to)
      await press(page, menuLink(page, to))
      const { shown: ms, whole: wholeMs } = await page.evaluate(() => window.arrival)
      ;(round === 0 ? first : again).push(ms)
      if (round > 0) {
        whole.push(wholeMs)
        slowest.set(to, Math.max(slowest.get(to) ?? 0, ms))
      }
      await page.waitForLoadState('networkidle')
    }
  console.log(
    `      the first visit of each: median ${median(first).toFixed(0)} ms, slowest ` +
      `${Math.max(...first).toFixed(0)} ms`,
  )
  console.log(
    `      ${again.length} more: median ${median(again).toFixed(0)} ms; slowest by route: ` +
      `${[...slowest].map(([to, ms]) => `${to} ${ms.toFixed(0)}`).join(', ')}`,
  )
  console.log(
    `      to the last of what is in view: median ${median(whole).toFixed(0)} ms, p95 ` +
      `${percentile(whole, 0.95).toFixed(0)} ms`,
  )
  return {
    change: percentile(again, 0.95),
    pressed: inp(await page.evaluate(() => window.seen.presses)),
  }
}

/**
 * Filling in an order, the theme and the palette: typing, opening, choosing. The hand waits for
 * each result before it continues. INP.
 */
async function fillIn(page: Page) {
  await page.goto(`${portal.url}/wordpress/create`)
  await page.waitForLoadState('networkidle')
  const option = (name: RegExp) =>
    page.locator('label').filter({ has: page.getByRole('radio', { name }) })
  await press(page, option(/Hà Nội/))
  await press(page, option(/BASIC-1/))
  for (const at of [0, 1]) await press(page, option(/^10 GB/).nth(at))
  await press(page, page.getByLabel('User name'))
  await page.keyboard.type('binh', { delay: hand.restMs })
  await press(page, page.getByLabel('Password', { exact: true }))
  await page.keyboard.type('Another#1pass', { delay: hand.restMs })
  await press(
    page,
    page.getByRole('button', { name: 'Review and confirm' }).filter({ visible: true }),
  )
  await page.locator('dialog:modal').waitFor()
  await page.keyboard.press('Escape', { delay: hand.holdMs })
  await press(page, page.getByRole('button', { name: /^Theme/ }))
  await press(page, page.getByRole('menuitemradio', { name: 'Dark' }))
  await page.locator('html.dark').waitFor()
  await rest(hand.restMs)
  await page.keyboard.press('Control+k', { delay: hand.holdMs })
  // By tag: to find a role, Playwright checks every element of the page each time, which takes 40
  // ms on this processor.
  await page.locator('dialog:popover-open input').waitFor()
  await page.keyboard.type('nap vi', { delay: hand.restMs })
  await page.keyboard.press('Escape', { delay: hand.holdMs })
  await rest(hand.restMs)
  return inp(await page.evaluate(() => window.seen.presses))
}

/** Menus of this portal and its peers, with a measure that fits every application. */
async function compare(token: string) {
  const said = (name: string, of: readonly number[]) =>
    console.log(
      `      ${name}: change of address and content, ${of.length} presses: median ` +
        `${median(of).toFixed(0)} ms, p95 ${percentile(of, 0.95).toFixed(0)} ms`,
    )
  await inBrowser(async (browser) => {
    const page = await customerPage(browser, token)
    await page.goto(portal.url)
    await page.waitForLoadState('networkidle')
    await slowDown(page)
    const links = routes.map((to) => menuLink(page, to))
    said('this portal', await changesOf(page, links, rounds))
  })
  for (const { name, folder: built } of peers())
    await inBrowser(async (browser) => {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      await page.goto(await serveFolder(built))
      const menu = page.locator('[data-sidebar], .sidebar, aside').first()
      await menu.locator('a[href]').first().waitFor()
      await page.waitForLoadState('networkidle')
      await slowDown(page)
      const here = new URL(page.url())
      const found = await menu.locator('a[href]').evaluateAll((all, origin) => {
        const shown = (all as HTMLAnchorElement[]).filter(
          (link) => link.href.startsWith(origin) && link.checkVisibility(),
        )
        return [...new Set(shown.map((link) => link.getAttribute('href') ?? ''))]
      }, here.origin)
      // The present page is left out, because each press must cause a change.
      const wanted = found
        .filter((to) => to !== here.pathname && to !== here.hash)
        .slice(0, routes.length)
      const links = wanted.map((to) =>
        menu.locator(`a[href="${to}"]`).filter({ visible: true }).first(),
      )
      said(name, await changesOf(page, links, rounds))
    })
}

/** Turns a wheel up and down; returns the frames over 50 ms meanwhile. */
async function sweep(page: Page): Promise<Seen['frames']> {
  await page.mouse.move(800, 500)
  await page.evaluate(() => window.seen.frames.splice(0))
  for (let turn = 0; turn < 300; turn++) await page.mouse.wheel(0, turn < 150 ? -1600 : 1600)
  return await page.evaluate(() => window.seen.frames.splice(0))
}

/**
 * The long list, after a short one that is scrolled in the same way: the slowest frame while it
 * loads, and while a hand scrolls and jumps in it.
 */
async function scrollThrough(page: Page) {
  await page.goto(`${portal.url}/invoice`)
  await page.waitForLoadState('networkidle')
  const short = (await sweep(page)).map(({ ms }) => ms)
  console.log(
    `      the same sweep on a page of ten rows: ${short.length} frames over 50 ms, the ` +
      `slowest ${Math.max(0, ...short).toFixed(0)} ms`,
  )
  await page.goto(`${portal.url}/transactions`)
  await page.waitForLoadState('networkidle')
  const began = performance.now()
  await page.evaluate(() => window.seen.frames.splice(0))
  await page.mouse.move(800, 500)
  // To the very end: pages are fetched when the end is near.
  const rows = await page.evaluate(async (wanted) => {
    // Counts rendered rows; the first row is the head.
    const reached = () =>
      Number([...document.querySelectorAll('tr[aria-rowindex]')].at(-1)?.ariaRowIndex ?? 1) - 1
    const giveUpAt = performance.now() + 180_000
    while (reached() < wanted && performance.now() < giveUpAt) {
      window.scrollTo(0, document.documentElement.scrollHeight)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
    return reached()
  }, entries)
  const loading = worst(await page.evaluate(() => window.seen.frames.splice(0)))
  console.log(
    `      ${rows} rows, loaded by scrolling, in ` +
      `${((performance.now() - began) / 1000).toFixed(0)} s`,
  )
  const frames = await sweep(page)
  for (const share of [0, 0.25, 0.5, 0.75, 1, 0.1, 0.9])
    await page.evaluate(async (to) => {
      window.scrollTo(0, to * document.documentElement.scrollHeight)
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    }, share)
  return {
    loading,
    scrolling: worst([...frames, ...(await page.evaluate(() => window.seen.frames))]),
  }
}

try {
  const token = await signIn(portal)
  const { id } = await call<{ id: string }>(portal, 'GET', '/api/v1/auth/me', token)
  await inBrowser(async (browser) => await warmUp(await customerPage(browser, token)))
  await inBrowser(async (browser) => await floor(await browser.newPage()))

  const walks: Awaited<ReturnType<typeof walkRoutes>>[] = []
  const orders: number[] = []
  for (const pass of passes)
    await inBrowser(async (browser) => {
      console.log(`      -- pass ${pass}`)
      const page = await customerPage(browser, token)
      walks.push(await walkRoutes(page))
      orders.push(await fillIn(page))
    })
  reportPasses(
    `route change, p95, processor slowed ${slowedBy} times`,
    walks.map(({ change }) => change),
    100,
  )
  reportPasses(
    `INP of these presses (p98), slowed ${slowedBy} times`,
    walks.map(({ pressed }) => pressed),
    100,
  )
  reportPasses(
    `INP of an order filled in, a theme and the palette, slowed ${slowedBy} times`,
    orders,
    100,
  )
  if (peers().length > 0) await compare(token)

  // The portal's own database, as superuser.
  const adminUrl = cluster.adminUrl.replace(/\/postgres(?=\?|$)/, new URL(cluster.url).pathname)
  await bulkEntries(adminUrl, [`wallet:${id}`], 2 * entries)
  const scrolls: Awaited<ReturnType<typeof scrollThrough>>[] = []
  for (const pass of passes)
    await inBrowser(async (browser) => {
      console.log(`      -- pass ${pass}`)
      scrolls.push(await scrollThrough(await customerPage(browser, token)))
    })
  reportPasses(
    'slowest frame while 100,000 rows are loaded by scrolling',
    scrolls.map(({ loading }) => loading),
    50,
  )
  reportPasses(
    'slowest frame of a hand that scrolls and jumps in them',
    scrolls.map(({ scrolling }) => scrolling),
    50,
  )
  const over = ticks()
  if (over.all > begun.all)
    console.log(
      '      other machines on this host took ' +
        `${((100 * (over.stolen - begun.stolen)) / (over.all - begun.all)).toFixed(1)} % of the ` +
        'processors meanwhile',
    )
} finally {
  await portal.stop()
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
