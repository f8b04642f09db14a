/**
 * Every screen in both themes, languages and widths: violations of WCAG 2.2 AA, console errors,
 * sideways scrolling, as one table; and all pictures on sheets, in the folder SCREENS (./screens).
 * The demo customer is signed in, with a running server and a domain.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { chromium, type Browser } from 'playwright-core'
import { browserArguments, browserPath } from '../scripts/browser.mjs'
import { settled } from '../test/e2e/browser.ts'
import { call, signIn, startPortal, type BenchPortal } from './portal.ts'

const folder = path.resolve(process.env['SCREENS'] ?? 'screens')
/** CSS pixels. `zoomed` is a window of 1280 x 1024 at 400 %, as in WCAG 1.4.10. */
const widths = {
  wide: { width: 1440, height: 900 },
  narrow: { width: 390, height: 844 },
  small: { width: 320, height: 640 },
  zoomed: { width: 320, height: 256 },
} as const
/** Pictures per sheet. */
const grids = {
  wide: { columns: 3, rows: 4 },
  narrow: { columns: 7, rows: 2 },
  small: { columns: 7, rows: 2 },
  zoomed: { columns: 6, rows: 4 },
} as const
const every = (['light', 'dark'] as const).flatMap((theme) =>
  (['vi', 'en'] as const).flatMap((language) =>
    (['wide', 'narrow', 'small', 'zoomed'] as const).map((width) => ({ theme, language, width })),
  ),
)
/**
 * LOOKS=light-vi-wide,dark-en-narrow: only these. The zoomed width is checked in one theme, because
 * it does not affect colours.
 */
const wanted = process.env['LOOKS']?.split(',')
const looks = every.filter(({ theme, language, width }) =>
  wanted
    ? wanted.includes(`${theme}-${language}-${width}`)
    : width !== 'zoomed' || theme === 'light',
)
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

interface Ids {
  readonly wp: string
  readonly domain: string
  readonly record: string
  readonly invoice: string
  readonly payment: string
}

/** Creates content for every screen. */
async function createContent(portal: BenchPortal, token: string): Promise<Ids> {
  const [domain] = (await call<{ data: { id: string }[] }>(portal, 'GET', '/api/dns', token)).data
  const dns = domain?.id ?? ''
  const [record] = (
    await call<{ data: { id: string }[] }>(portal, 'GET', `/api/dns/${dns}/records`, token)
  ).data
  const [invoice] = await call<{ hosted_invoice_url: string }[]>(
    portal,
    'GET',
    '/api/payments/stripe/invoices',
    token,
  )
  const { transactionCode } = await call<{ transactionCode: string }>(
    portal,
    'POST',
    '/api/payments/checkout',
    token,
    {
      amount: 500_000,
      type: 1,
      method: 'BANKTRANSFER',
    },
  )
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  const { id } = await call<{ id: string }>(portal, 'POST', '/api/wp', token, order)
  for (let status = ''; status !== 'running';) {
    ;({ status } = await call<{ status: string }>(portal, 'GET', `/api/wp/${id}`, token))
    if (status === 'failed') throw new Error('the server did not come up')
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return {
    wp: id,
    domain: dns,
    record: record?.id ?? '',
    invoice: new URL(invoice?.hosted_invoice_url ?? portal.url).pathname,
    payment: transactionCode,
  }
}

const visitors = (ids: Ids): string[] => [
  '/login',
  '/register',
  '/check-otp?email=binh@example.vn',
  '/auth/pass-recovery',
  '/auth/pass-recovery-boxed',
  ids.invoice,
  '/pages/coming-soon?product=svm',
  '/pages/error404',
  '/pages/error500',
  '/pages/error503',
  '/pages/maintenence',
  '/legal/terms',
]
const customers = (ids: Ids): string[] => [
  '/',
  '/transactions',
  '/payment?amount=500000',
  `/payment/transfer/${ids.payment}`,
  '/link-card',
  '/invoice',
  '/wordpress',
  '/wordpress/create',
  `/wordpress/${ids.wp}`,
  ...['logs', 'disk', 'mariadb', 'plans', 'domain', 'speed', 'mail', 'backups'].map(
    (tab) => `/wordpress/${ids.wp}?tab=${tab}`,
  ),
  `/hosting/${ids.wp}`,
  '/hosting',
  '/hosting/create',
  '/dns',
  `/dns/domain/${ids.domain}`,
  `/dns/domain/${ids.domain}/add-record`,
  `/dns/domain/${ids.domain}/record/${ids.record}`,
  '/paas',
  '/project/create',
  '/web-service/create',
  '/account',
  '/account/security',
  '/account/programs',
  '/account/team',
  '/support',
  '/support?about=new',
  '/docs',
  '/docs/dns',
  `/api/payments/success?transId=${ids.payment}`,
  `/payments/stripe/success?transId=${ids.payment}`,
  // Last, because they lock.
  '/auth/lockscreen',
  '/auth/lockscreen-boxed',
]

type Look = (typeof looks)[number]
interface Finding {
  readonly look: Look
  readonly path: string
  readonly what: string
}

async function walk(
  browser: Browser,
  portal: BenchPortal,
  token: string | null,
  paths: string[],
  look: Look,
): Promise<{ findings: Finding[]; pictures: Buffer[] }> {
  const context = await browser.newContext({
    viewport: widths[look.width],
    colorScheme: look.theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'Asia/Ho_Chi_Minh',
  })
  await context.addInitScript(
    ({ keep, token: access }) => {
      for (const [key, value] of Object.entries(keep)) localStorage.setItem(key, value)
      if (access === null || sessionStorage.getItem('seeded') !== null) return
      sessionStorage.setItem('seeded', '1')
      sessionStorage.setItem('accessToken', access)
      sessionStorage.setItem('isLogin', '1')
    },
    { keep: { theme: look.theme, language: look.language }, token },
  )
  const page = await context.newPage()
  const findings: Finding[] = []
  const pictures: Buffer[] = []
  let at = ''
  const found = (what: string) => findings.push({ look, path: at, what })
  page.on('pageerror', (error) => found(`error: ${error.message}`))
  page.on(
    'console',
    (message) => void (message.type() === 'error' && found(`console: ${message.text()}`)),
  )
  for (const address of paths) {
    at = address
    try {
      await page.goto(`${portal.url}${address}`)
      await settled(page)
      const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze()
      for (const { id, nodes } of violations)
        found(`axe ${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
      if (
        await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        )
      )
        found('scrolls sideways')
    } catch (error) {
      found(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'failed')
    }
    pictures.push(await page.screenshot({ type: 'jpeg', quality: 70 }))
  }
  await context.close()
  return { findings, pictures }
}

/**
 * Puts pictures side by side, as many on a sheet as stay readable, rendered by the same browser.
 */
async function sheets(
  browser: Browser,
  look: Look,
  paths: string[],
  pictures: Buffer[],
): Promise<void> {
  const { columns, rows } = grids[look.width]
  const each = columns * rows
  for (let from = 0; from < pictures.length; from += each)
    await sheet(
      browser,
      look,
      columns,
      1 + from / each,
      paths.slice(from, from + each),
      pictures.slice(from, from + each),
    )
}
async function sheet(
  browser: Browser,
  look: Look,
  columns: number,
  number: number,
  paths: string[],
  pictures: Buffer[],
): Promise<void> {
  const cells = pictures.map(
    (picture, index) =>
      `<figure><img src="data:image/jpeg;base64,${picture.toString('base64')}"><figcaption>` +
      `${paths[index]}</figcaption></figure>`,
  )
  const page = await browser.newPage({ viewport: { width: 2000, height: 1000 } })
  await page.setContent(
    `<style>body{margin:12px;display:grid;grid-template-columns:repeat(${columns}` +
      ',minmax(0,1fr));gap:12px;font:12px ' +
      'sans-serif}figure{margin:0;overflow-wrap:anywhere}img{width:100%;border:1px solid ' +
      `#999}</style>${cells.join('')}`,
  )
  await page.screenshot({
    path: path.join(folder, `${look.theme}-${look.language}-${look.width}-${number}.png`),
    fullPage: true,
  })
  await page.close()
}

mkdirSync(folder, { recursive: true })
const portal = await startPortal()
const browser = await chromium.launch({
  executablePath: await browserPath(),
  args: browserArguments,
})
try {
  const token = await signIn(portal)
  const ids = await createContent(portal, token)
  const all: Finding[] = []
  for (const look of looks) {
    const [outside, inside] = [
      await walk(browser, portal, null, visitors(ids), look),
      // Each look has a session of its own, because the last screens lock it.
      await walk(browser, portal, await signIn(portal), customers(ids), look),
    ]
    await sheets(
      browser,
      look,
      [...visitors(ids), ...customers(ids)],
      [...outside.pictures, ...inside.pictures],
    )
    const findings = [...outside.findings, ...inside.findings]
    all.push(...findings)
    const count = (kind: RegExp) => findings.filter(({ what }) => kind.test(what)).length
    console.log(
      `${look.theme.padEnd(5)} ${look.language} ${look.width.padEnd(6)} ` +
        `${String(widths[look.width].width).padStart(4)} px  ` +
        `${outside.pictures.length + inside.pictures.length} screens  axe ${count(/^axe/)}  ` +
        `console ${count(/^(error|console)/)}  sideways ${count(/sideways/)}  other ` +
        `${count(/^(?!axe|error|console|scrolls)/)}`,
    )
  }
  for (const { look, path: address, what } of all)
    console.log(`  ${look.theme} ${look.language} ${look.width} ${address}: ${what}`)
  writeFileSync(path.join(folder, 'findings.json'), JSON.stringify(all, null, 2))
} finally {
  await browser.close()
  await portal.stop()
}
