/**
 * What a hand feels, in Chromium: from the press to the new screen (route change) and to the next frame (INP), with the processor slowed four
 * times; and a list of 100,000 transactions, scrolled from end to end, without a frame over 50 ms. Peers that are built somewhere
 * (PEERS=name=folder,…) have their menus pressed by the same hand in the same run.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { chromium, type Locator, type Page } from 'playwright-core'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import { bulkEntries } from './bulk.ts'
import { call, median, report, signIn, startPortal } from './portal.ts'
import { peers, serveFolder } from './static-folder.ts'

const slowedBy = 4
/** A hundred presses: of fewer, INP is the slowest, whatever else the machine did at that moment. */
const rounds = Number(process.env['ROUNDS'] ?? 13)
const entries = Number(process.env['BENCH_ENTRIES'] ?? 100_000)
/** In the order of a day's work; each is gone to from the one before by the menu. */
const routes = ['/transactions', '/invoice', '/wordpress', '/payment', '/dns', '/hosting', '/paas', '/']

interface Seen {
  /** ms from each press to the next frame, the browser's own figure (event timing), and what was pressed. */
  readonly presses: { readonly ms: number; readonly by: string }[]
  /** ms of each frame over 50 ms, with what ran in it. */
  readonly frames: { readonly ms: number; readonly by: string }[]
}
/** ms from a press to the frame that shows the new screen's heading and what comes with it, and to the one that leaves nothing in view to be drawn. */
interface Arrival {
  readonly shown: number
  readonly whole: number
}
declare global {
  interface Window {
    seen: Seen
    arrival: Promise<Arrival>
    changed: Promise<number>
  }
}

/** Runs in the page, before anything else. */
function watch() {
  window.seen = { presses: [], frames: [] }
  const presses = new Map<number, Seen['presses'][number]>()
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEventTiming & { interactionId?: number })[]) {
      if (!entry.interactionId || entry.duration <= (presses.get(entry.interactionId)?.ms ?? 0)) continue
      const { duration, startTime, processingStart, processingEnd } = entry
      const target = entry.target instanceof HTMLElement ? entry.target.innerText.slice(0, 20).replace(/\s+/g, ' ') : ''
      const parts = [processingStart - startTime, processingEnd - processingStart, startTime + duration - processingEnd]
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
          .map((script) => `${script.invoker} ${script.sourceFunctionName} ${Math.round(script.duration)}`)
          .join(', '),
      })
  }).observe({ type: 'long-animation-frame', buffered: true } as PerformanceObserverInit)
}

/**
 * Resolves, in the page, once the screen of `to` is there. `shown` ends with the frame that draws its heading; until 2026-11-22 it ended a frame
 * later, for the heading was noticed before its frame was drawn and the frame after that one was waited for. `whole` ends with the frame in which
 * no grey block and no place kept for a second drawing is in view any more; both include what the network took.
 */
const awaitArrival = (page: Page, to: string) =>
  page.evaluate((target) => {
    window.arrival = new Promise((resolve) => {
      addEventListener(
        'click',
        ({ timeStamp }) => {
          const before = document.querySelector('h1')
          // What is posted while a frame is made is heard once it is out.
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

/** How long a hand rests on what it is about to press, and how long it holds a button or a key down, ms. */
const hand = { restMs: 100, holdMs: 60 }

/**
 * Presses as a hand does. Playwright's own `click` puts scripts of its own into the page around each event, to know what was hit: on a
 * slowed processor they would take a third of the time that is measured.
 */
async function press(page: Page, target: Locator) {
  await target.scrollIntoViewIfNeeded()
  const box = await target.boundingBox()
  if (box === null) throw new Error(`there is nothing to press: ${String(target)}`)
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await rest(hand.restMs)
  await page.mouse.down()
  await rest(hand.holdMs)
  await page.mouse.up()
}

/**
 * Resolves, in the page, with the ms from the next press to the frame in which the address has changed and something else is in the document:
 * what can be asked of any application, whatever its screens are made of.
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
              location.href !== from && changes.some(({ addedNodes }) => [...addedNodes].some((node) => node instanceof HTMLElement))
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

/** Presses each of the links in turn, some rounds; ms of each change but for those of the first round, which fetches what it needs. */
async function changesOf(page: Page, links: readonly Locator[]): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++)
    for (const link of links) {
      await awaitChange(page)
      await press(page, link)
      // A link that leads nowhere, or out of the application, is passed over.
      const ms = await Promise.race([page.evaluate(() => window.changed).catch(() => undefined), rest(patienceMs)])
      if (round > 0 && ms !== undefined) found.push(ms)
      await page.waitForLoadState('networkidle')
    }
  return found
}

/** INP: the slowest press but for one in fifty. */
function inp(presses: Seen['presses']): number {
  const slowest = presses.toSorted((a, b) => b.ms - a.ms)
  const said = slowest.slice(0, 3).map(({ ms, by }) => `${ms} ms (${by})`)
  console.log(`      the slowest of ${presses.length} presses (to our code + in it + to the frame): ${said.join('; ')}`)
  return slowest[Math.floor(presses.length / 50)]?.ms ?? Number.NaN
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** Ticks of this machine's processors that other machines on the same host took, and all of them: figures from a run where that is much say little. */
function ticks() {
  if (!existsSync('/proc/stat')) return { stolen: 0, all: 0 }
  const [, ...spent] = (/^cpu +.*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? '').split(/ +/).map(Number)
  return { stolen: spent[7] ?? 0, all: spent.slice(0, 8).reduce((sum, one) => sum + one, 0) }
}
const begun = ticks()

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-interaction-'))
chmodSync(folder, 0o755)
const cluster = await startEmbeddedPostgres({ folder })
process.env['DATABASE_URL'] = cluster.url
const portal = await startPortal()
const launch = async () => await chromium.launch({ executablePath: await browserPath(), args: browserArguments })
let browser = await launch()
try {
  const token = await signIn(portal)
  const { id } = await call<{ id: string }>(portal, 'GET', '/api/v1/auth/me', token)
  const customer = async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' })
    await context.addInitScript((access) => {
      localStorage.setItem('language', 'en')
      sessionStorage.setItem('accessToken', access)
      sessionStorage.setItem('isLogin', '1')
    }, token)
    await context.addInitScript(watch)
    return context
  }
  const context = await customer()
  // A server that has just started compiles its own code at the first calls: that is the first visitor's, in a browser of their own.
  const earlier = await launch()
  const visitor = await earlier.newPage()
  await visitor.addInitScript((access) => {
    sessionStorage.setItem('accessToken', access)
    sessionStorage.setItem('isLogin', '1')
  }, token)
  for (const to of [...routes, ...routes]) {
    await visitor.goto(`${portal.url}${to}`)
    await visitor.waitForLoadState('networkidle')
  }
  await earlier.close()
  let page = await context.newPage()
  const slow = await context.newCDPSession(page)
  await page.goto(portal.url)
  await page.waitForLoadState('networkidle')

  // ---- the floor: a press on a page that has nothing but a button, by the same hand on the same machine
  await slow.send('Emulation.setCPUThrottlingRate', { rate: slowedBy })
  const bare = await context.newPage()
  const slowBare = await context.newCDPSession(bare)
  await bare.goto('data:text/html,<button onclick="this.textContent=Math.random()">floor</button>')
  await slowBare.send('Emulation.setCPUThrottlingRate', { rate: slowedBy })
  await bare.evaluate(watch)
  for (let time = 0; time < 20; time++) await press(bare, bare.locator('button'))
  await bare.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  const floor = (await bare.evaluate(() => window.seen.presses)).map(({ ms }) => ms)
  console.log(
    `      an empty page's button in the same run: median ${(floor.length === 0 ? 16 : median(floor)).toFixed(0)} ms, p98 ${(floor.length === 0 ? 16 : percentile(floor, 0.98)).toFixed(0)} ms; load of the machine ${os.loadavg()[0]?.toFixed(1)} on ${os.availableParallelism()} processors`,
  )
  await bare.close()

  // ---- route changes
  const first: number[] = []
  const again: number[] = []
  const whole: number[] = []
  const slowest = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const to of routes) {
      await awaitArrival(page, to)
      await press(page, page.getByRole('navigation', { name: 'Main' }).locator(`a[href="${to}"]`))
      const { shown: ms, whole: wholeMs } = await page.evaluate(() => window.arrival)
      ;(round === 0 ? first : again).push(ms)
      if (round > 0) {
        whole.push(wholeMs)
        slowest.set(to, Math.max(slowest.get(to) ?? 0, ms))
      }
      await page.waitForLoadState('networkidle')
    }
  const { presses } = await page.evaluate(() => window.seen)
  console.log(`      the first visit of each: median ${median(first).toFixed(0)} ms, slowest ${Math.max(...first).toFixed(0)} ms`)
  console.log(`      slowest by route: ${[...slowest].map(([to, ms]) => `${to} ${ms.toFixed(0)}`).join(', ')}`)
  console.log(`      to the last of what is in view: median ${median(whole).toFixed(0)} ms, p95 ${percentile(whole, 0.95).toFixed(0)} ms`)
  report(`route change, p95 of ${again.length}, processor slowed ${slowedBy} times`, percentile(again, 0.95), 100, 'ms')
  // A press that was answered within 16 ms is not reported by the browser at all.
  report(`INP of these presses (p98), slowed ${slowedBy} times`, inp(presses), 100, 'ms')

  // ---- the same of peers, by a measure that fits every application
  if (peers().length > 0) {
    const said = (name: string, of: readonly number[]) =>
      console.log(
        `      ${name}: change of address and content, ${of.length} presses: median ${median([...of]).toFixed(0)} ms, p95 ${percentile(of, 0.95).toFixed(0)} ms`,
      )
    const ours = page.getByRole('navigation', { name: 'Main' })
    said(
      'this portal',
      await changesOf(
        page,
        routes.map((to) => ours.locator(`a[href="${to}"]`)),
      ),
    )
    for (const { name, folder: built } of peers()) {
      const stranger = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      await stranger.goto(await serveFolder(built))
      await stranger.waitForLoadState('networkidle')
      const slowStranger = await stranger.context().newCDPSession(stranger)
      await slowStranger.send('Emulation.setCPUThrottlingRate', { rate: slowedBy })
      const here = new URL(stranger.url())
      const menu = stranger.locator('[data-sidebar], .sidebar, aside').first()
      const entries = await menu.locator('a[href]').evaluateAll((all, origin) => {
        const shown = (all as HTMLAnchorElement[]).filter((link) => link.href.startsWith(origin) && link.checkVisibility())
        return [...new Set(shown.map((link) => link.getAttribute('href') ?? ''))]
      }, here.origin)
      // Each is to be a change, so not the page that is there already.
      const wanted = entries.filter((to) => to !== here.pathname && to !== here.hash).slice(0, routes.length)
      said(
        name,
        await changesOf(
          stranger,
          wanted.map((to) => menu.locator(`a[href="${to}"]`).filter({ visible: true }).first()),
        ),
      )
      await stranger.close()
    }
  }

  // ---- other presses: typing, opening, choosing
  await page.goto(`${portal.url}/wordpress/create`)
  await page.waitForLoadState('networkidle')
  const option = (name: RegExp) => page.locator('label').filter({ has: page.getByRole('radio', { name }) })
  await press(page, option(/Hà Nội/))
  await press(page, option(/BASIC-1/))
  for (const at of [0, 1]) await press(page, option(/^10 GB/).nth(at))
  await press(page, page.getByLabel('User name'))
  await page.keyboard.type('binh', { delay: hand.restMs })
  await press(page, page.getByLabel('Password', { exact: true }))
  await page.keyboard.type('Another#1pass', { delay: hand.restMs })
  await press(page, page.getByRole('button', { name: 'Review and confirm' }).filter({ visible: true }))
  await page.locator('dialog:modal').waitFor()
  await page.keyboard.press('Escape', { delay: hand.holdMs })
  await press(page, page.getByRole('button', { name: /^Theme/ }))
  await press(page, page.getByRole('menuitemradio', { name: 'Dark' }))
  await rest(hand.restMs)
  await page.keyboard.press('Control+k', { delay: hand.holdMs })
  // By its tag: to look for a role, Playwright judges every element of the page, 40 ms on this processor, as often as it looks.
  await page.locator('dialog:popover-open input').waitFor()
  await page.keyboard.type('nap vi', { delay: hand.restMs })
  await page.keyboard.press('Escape', { delay: hand.holdMs })
  await rest(hand.restMs)
  const typed = await page.evaluate(() => window.seen.presses)
  report(`INP of an order filled in, a theme and the palette, slowed ${slowedBy} times`, inp(typed), 100, 'ms')

  // ---- the long list, and before it a short one, swept alike; in a browser of its own, so that nothing else runs beside them
  await browser.close()
  browser = await launch()
  page = await (await customer()).newPage()
  const sweep = async () => {
    await page.mouse.move(800, 500)
    await page.evaluate(() => window.seen.frames.splice(0))
    for (let turn = 0; turn < 300; turn++) await page.mouse.wheel(0, turn < 150 ? -1600 : 1600)
  }
  await page.goto(`${portal.url}/invoice`)
  await page.waitForLoadState('networkidle')
  await sweep()
  const short = await page.evaluate(() => window.seen.frames.map(({ ms }) => ms))
  console.log(
    `      the same sweep on a page of ten rows: ${short.length} frames over 50 ms, the slowest ${Math.max(0, ...short).toFixed(0)} ms`,
  )
  // The portal's own database, as superuser.
  const adminUrl = cluster.adminUrl.replace(/\/postgres(?=\?|$)/, new URL(cluster.url).pathname)
  await bulkEntries(adminUrl, [`wallet:${id}`], 2 * entries)
  await page.goto(`${portal.url}/transactions`)
  await page.waitForLoadState('networkidle')
  const began = performance.now()
  const rows = () => page.evaluate(() => Number(document.querySelector('table')?.getAttribute('aria-rowcount') ?? 0))
  await page.evaluate(() => window.seen.frames.splice(0))
  // To the very end: pages are fetched as the end comes near.
  await page.mouse.move(800, 500)
  await page.evaluate(async (wanted) => {
    const done = () => Number(document.querySelector('table')?.getAttribute('aria-rowcount')) > wanted
    const giveUpAt = performance.now() + 180_000
    while (!done() && performance.now() < giveUpAt) {
      window.scrollTo(0, document.documentElement.scrollHeight)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
  }, entries)
  const loading = await page.evaluate(() => window.seen.frames.splice(0))
  console.log(`      ${(await rows()) - 1} rows, loaded by scrolling, in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  const worst = (frames: Seen['frames']) => {
    const slowestFrame = frames.toSorted((a, b) => b.ms - a.ms)[0]
    if (slowestFrame) console.log(`      ${frames.length} frames over 50 ms; the slowest ran ${slowestFrame.by || 'no script of ours'}`)
    return slowestFrame?.ms ?? 0
  }
  report('slowest frame while 100,000 rows are loaded by scrolling', worst(loading), 50, 'ms')
  await sweep()
  for (const share of [0, 0.25, 0.5, 0.75, 1, 0.1, 0.9])
    await page.evaluate(async (to) => {
      window.scrollTo(0, to * document.documentElement.scrollHeight)
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    }, share)
  report('slowest frame of a hand that scrolls and jumps in them', worst(await page.evaluate(() => window.seen.frames)), 50, 'ms')
  const over = ticks()
  if (over.all > begun.all)
    console.log(
      `      other machines on this host took ${((100 * (over.stolen - begun.stolen)) / (over.all - begun.all)).toFixed(1)} % of the processors meanwhile`,
    )
} finally {
  await browser.close()
  await portal.stop()
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
