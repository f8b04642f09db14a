/**
 * Every screen, opened in a real browser against a real portal: both themes, both widths, both
 * languages; and the empty states.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { deliver, openWebhookInterceptor } from '../webhook-interceptor.ts'
import {
  endVisits,
  keepPicture,
  openBrowser,
  openPage,
  phone,
  resize,
  sideways,
  violations,
  visitAs,
  wide,
  type Look,
  type Visit,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
/** A customer with money, a running server, one that waits for payment, and a finished payment. */
let rich: TestCustomer
/** A customer without anything. */
let fresh: TestCustomer
const made = { running: '', unpaid: '', unpaidInvoice: '', payment: '' }

async function order(customer: TestCustomer, size: number): Promise<string> {
  const body = {
    size,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  const answer = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: customer.token,
    body,
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.result.id
}

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  rich = await portal.customer()
  fresh = await portal.customer()
  made.payment = (await portal.topUp(rich, 300_000)).transactionCode
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, rich.id)).balance === 300_000n,
  )
  made.running = await order(rich, 1)
  await eventually(
    'the server',
    async () => {
      const { body } = await portal.call<{ status: string }>('GET', `/api/wp/${made.running}`, {
        token: rich.token,
      })
      return body.result.status === 'running'
    },
    90,
  )
  made.unpaid = await order(rich, 5)
  made.unpaidInvoice = await eventually('the unpaid invoice', async () => {
    const { body } = await portal.call<{ amount_due: number; hosted_invoice_url: string }[]>(
      'GET',
      '/api/payments/stripe/invoices',
      {
        token: rich.token,
      },
    )
    const url = body.result.find((invoice) => invoice.amount_due > 0)?.hosted_invoice_url
    return url === undefined ? undefined : new URL(url).pathname
  })
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** A visitor with English texts unless the test asks for another language. */
const open = (look: Look = {}): Promise<Visit> =>
  visitAs(browser, { theme: 'light', language: 'en', ...look })
const go = (page: Page, path: string): Promise<void> => openPage(page, `${portal.url}${path}`)

const visitorScreens = (): string[] => [
  '/login',
  '/register',
  '/check-otp?email=binh@example.vn',
  '/auth/pass-recovery',
  '/auth/not-me?token=unknown',
  made.unpaidInvoice,
  `/api/payments/success?transId=${made.payment}`,
  '/pages/error404',
  '/pages/error500',
  '/pages/error503',
  '/pages/maintenence',
  '/status',
  '/pages/coming-soon?product=svm',
  '/legal/terms',
  '/legal/nothing',
]
const customerScreens = (): string[] => [
  '/',
  '/transactions',
  '/payment?amount=500000',
  '/invoice',
  '/wordpress',
  '/wordpress/create',
  `/wordpress/${made.running}`,
  ...[
    'usage',
    'logs',
    'disk',
    'mariadb',
    'plans',
    'domain',
    'mail',
    'speed',
    'visitors',
    'files',
    'console',
    'database',
  ].map((tab) => `/wordpress/${made.running}?tab=${tab}`),
  `/wordpress-progress/${made.unpaid}`,
  '/hosting',
  '/hosting/create',
  `/hosting/${made.running}`,
  '/paas',
  '/project/create',
  '/web-service/create?project=demo',
  '/dns',
  '/account',
  '/account/security',
  '/account/programs',
  '/account/team',
  '/support',
  '/support?about=new',
  '/docs',
  '/docs/top-up',
  '/docs/nothing',
  made.unpaidInvoice,
  `/api/payments/success?transId=${made.payment}`,
  // Last, because it locks.
  '/auth/lockscreen',
]

// Each choice is covered once; `npm run bench screens` covers all eight looks, with pictures.
const looks = [
  { theme: 'light', viewport: wide, language: 'en' },
  { theme: 'dark', viewport: phone, language: 'vi' },
] as const
const narrow = { width: 360, height: 740 }

interface Walk {
  /** Problems of each screen, by path. */
  readonly found: Record<string, unknown>
  /** How far a screen scrolls sideways at 360 px, by path. */
  readonly sidewaysAt360: Record<string, number>
}
async function walk(look: (typeof looks)[number], who: 'a visitor' | 'a customer'): Promise<Walk> {
  const [screens, signedIn] =
    who === 'a customer' ? [customerScreens(), true] : [visitorScreens(), false]
  const { page, context, complaints } = await open({
    ...look,
    // A session of its own, because the last screen locks it.
    ...(signedIn ? { customer: await portal.signIn(rich) } : {}),
  })
  const found: Walk['found'] = {}
  const sidewaysAt360: Walk['sidewaysAt360'] = {}
  for (const path of screens) {
    await go(page, path)
    const language = await page.locator('html').getAttribute('lang')
    const dark = await page.evaluate(() => document.body.classList.contains('dark'))
    const wrong = [
      ...(await violations(page)),
      ...complaints.splice(0),
      ...((await sideways(page)) > 0 ? ['scrolls sideways'] : []),
      ...(language === look.language ? [] : [`language ${language}`]),
      ...(dark === (look.theme === 'dark') ? [] : ['wrong theme']),
    ]
    if (wrong.length > 0) found[path] = wrong
    await resize(page, narrow)
    const over = await sideways(page)
    if (over > 0) sidewaysAt360[path] = over
    await page.setViewportSize(look.viewport)
  }
  await context.close()
  return { found, sidewaysAt360 }
}
const walks = new Map<string, Promise<Walk>>()
/** Each screen is opened once for all checks. */
function walked(look: (typeof looks)[number], who: 'a visitor' | 'a customer'): Promise<Walk> {
  const key = `${look.language} ${who}`
  const begun = walks.get(key) ?? walk(look, who)
  walks.set(key, begun)
  return begun
}

describe.each(looks)('$theme, $viewport.width px, $language', (look) => {
  test.each([{ who: 'a visitor' }, { who: 'a customer' }] as const)(
    'every screen of $who opens without complaint and is accessible',
    { timeout: 120_000 },
    async ({ who }) => expect((await walked(look, who)).found).toEqual({}),
  )
})

const byLanguage = looks.map((look) => [look.language, look] as const)
test.each(byLanguage)('no screen scrolls sideways at 360 px (%s)', async (_, look) => {
  expect((await walked(look, 'a visitor')).sidewaysAt360).toEqual({})
  expect((await walked(look, 'a customer')).sidewaysAt360).toEqual({})
})

test.each(['en', 'vi'] as const)('the invoices fit a phone (%s)', async (language) => {
  const customer = await portal.signIn(rich)
  const { page, context } = await open({ language, theme: 'dark', viewport: phone, customer })
  await go(page, '/invoice')
  const card = page.getByRole('main').getByRole('region')
  const times = card.getByRole('rowheader').getByText(/:\d\d$/)
  for (const viewport of [phone, narrow]) {
    await resize(page, viewport)
    await times.first().waitFor()
    // The card clips wider content, and the page does not scroll.
    expect(await card.evaluate((of) => of.scrollWidth - of.clientWidth)).toBe(0)
    const heights = await times.evaluateAll((all) => all.map((one) => one.clientHeight))
    expect(Math.max(...heights), 'a time stands on one line').toBeLessThan(24)
    await keepPicture(page, `invoices-${language}-${viewport.width}`)
  }
  await context.close()
})

test('what is pressed with a finger is at least 40 px high', async () => {
  const finger = { viewport: phone, hasTouch: true, isMobile: true }
  const { page, context } = await open({ ...finger, customer: await portal.signIn(rich) })
  /** Buttons, and links that look like one; links within a sentence are left out. */
  const low = () =>
    page
      .locator('button, select, input:not([type=checkbox], .sr-only), a.rounded-md:not(.sr-only)')
      .filter({ visible: true })
      .evaluateAll((all) =>
        all
          .map((one) => ({ one, high: one.getBoundingClientRect().height }))
          .filter(({ high }) => high > 1 && high < 40)
          .map(({ one, high }) => `${high}: ${one.getAttribute('aria-label') ?? one.textContent}`),
      )
  for (const path of [
    '/transactions',
    '/invoice',
    `/wordpress/${made.running}?tab=logs`,
    '/account',
    '/dns',
  ]) {
    await go(page, path)
    expect(await low(), path).toEqual([])
    expect(await sideways(page), path).toBe(0)
  }
  await context.close()
})

test('a bank transfer is read and copied on a phone without scrolling', async () => {
  const customer = await portal.customer()
  const { body } = await portal.call<{ transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    {
      token: customer.token,
      body: { amount: 12_500_000, type: 1, method: 'BANKTRANSFER' },
    },
  )
  const { page, context } = await open({ viewport: phone, customer })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(page, `/payment/transfer/${body.result.transactionCode}`)
  const main = page.getByRole('main')
  for (const viewport of [phone, narrow]) {
    await resize(page, viewport)
    const bar = await page.getByRole('navigation').last().boundingBox()
    const hint = await main.getByText('Copy this text exactly').boundingBox()
    expect((hint?.y ?? 0) + (hint?.height ?? 0)).toBeLessThan(bar?.y ?? 0)
    const code = await main.getByRole('img', { name: 'QR code of the transfer' }).boundingBox()
    expect(code?.width).toBeLessThanOrEqual(viewport.width - 64)
    await keepPicture(page, `transfer-${viewport.width}`, false)
  }
  // Pressed at the other end of the line than the button's icon.
  const copied = async (term: string) => {
    const line = main.getByRole('button', { name: `Copy ${term}` })
    await line.click({ position: { x: 8, y: 24 } })
    await expect.poll(() => main.getByRole('status').filter({ hasText: 'Copied' }).count()).toBe(1)
    const text = await page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(() => main.getByRole('status').filter({ hasText: 'Copied' }).count()).toBe(0)
    return text
  }
  expect(await copied('Amount')).toBe('12500000')
  expect(await copied('Transfer text')).toMatch(/^NP[0-9A-Z]{10}$/)
  await main.getByText('When your money arrives we add it to your wallet').waitFor()
  await context.close()
})

describe('nothing there, and nothing to be had', () => {
  test.each([
    {
      language: 'en',
      invoices: 'No data !',
      transactions: 'No transactions yet.',
      servers: /You have no WordPress server yet/,
    },
    {
      language: 'vi',
      invoices: 'Chưa có hoá đơn nào.',
      transactions: 'Chưa có giao dịch.',
      servers: /Bạn chưa có máy chủ WordPress/,
    },
  ] as const)(
    'empty lists say so, and what to do ($language)',
    async ({ language, invoices, transactions, servers }) => {
      const { page, context } = await open({ language, customer: fresh })
      await go(page, '/invoice')
      await page.getByText(invoices, { exact: true }).waitFor()
      await go(page, '/transactions')
      await page.getByText(transactions).waitFor()
      await page.locator('main section svg').first().waitFor()
      await go(page, '/wordpress')
      await page.getByText(servers).waitFor()
      await context.close()
    },
  )

  test.each([
    {
      language: 'en',
      path: '/invoice',
      call: '**/api/payments/stripe/invoices*',
      retry: 'Try again',
      shows: 'VN-20',
    },
    {
      language: 'vi',
      path: '/transactions',
      call: '**/api/payments/stripe?*',
      retry: 'Thử lại',
      shows: '+300.000',
    },
    {
      language: 'en',
      path: '/wordpress',
      call: '**/api/wp?*',
      retry: 'Try again',
      shows: 'localhost',
    },
    {
      language: 'vi',
      path: '/wordpress/create',
      call: '**/api/wp/sizes*',
      retry: 'Thử lại',
      shows: 'BASIC-1',
    },
  ] as const)(
    'a failed load of $path offers a retry that works ($language)',
    async ({ language, path, call, retry, shows }) => {
      const { page, context } = await open({ language, customer: rich })
      // The network fails, but the server works.
      await page.route(call, (route) => route.abort('connectionfailed'))
      await page.goto(`${portal.url}${path}`)
      const again = page.getByRole('main').getByRole('alert').getByRole('button', { name: retry })
      await again.waitFor()
      expect(await violations(page)).toEqual([])
      await page.unroute(call)
      await again.click()
      await page.getByRole('main').getByText(shows).first().waitFor()
      await context.close()
    },
  )

  test('an unknown address, an unknown server and an unknown payment say so', async () => {
    const { page, context } = await open({ customer: fresh })
    await page.goto(`${portal.url}/no/such/page`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(`${portal.url}/wordpress/${made.running}`)
    await page.getByRole('main').getByRole('link', { name: 'List Wordpress' }).first().waitFor()
    expect(await page.getByText('localhost').count()).toBe(0)
    await page.goto(`${portal.url}/dns/domain/${made.running}/add-record`)
    await page.getByRole('main').getByRole('link', { name: 'Domain list' }).waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Domain list')
    await page.goto(`${portal.url}/api/payments/success?transId=${made.payment}`)
    await page.getByRole('heading', { name: 'Payment not found' }).waitFor()
    await context.close()
  })
})

test('a payment is shown to whoever has a token in local storage, and no other', async () => {
  const customer = await portal.customer()
  const { transactionCode } = await portal.topUp(customer, 250_000)
  const back = `${portal.url}/api/payments/success?transId=${transactionCode}`
  const { page, context } = await open()
  await page.goto(back)
  await page.getByRole('heading', { name: 'Sign in to see this payment' }).waitFor()
  await page.evaluate((token) => localStorage.setItem('accessToken', token), customer.token)
  await page.goto(back)
  await page.getByRole('heading', { name: 'Top-up complete' }).waitFor()
  await context.close()
})

test('a payment that is pending updates its page by itself', async () => {
  const held = await openWebhookInterceptor()
  const timing = { askGatewaySeconds: [3_600] }
  const waiting = await openTestPortal({ webhooksTo: held.url, timing })
  try {
    const customer = await waiting.customer()
    const { page, context } = await open({ customer })
    const { transactionCode } = await waiting.topUp(customer, 250_000)
    const webhooks = await eventually('the webhook', async () => {
      const found = held.collect()
      return found.length > 0 && found
    })
    await page.goto(`${waiting.url}/api/payments/success?transId=${transactionCode}`)
    await page.getByRole('heading', { name: 'Waiting for the payment' }).waitFor()
    for (const webhook of webhooks) await deliver(waiting.url, webhook)
    await page.getByRole('heading', { name: 'Top-up complete' }).waitFor()
    await page.getByText('250.000').first().waitFor()
    await context.close()
  } finally {
    await waiting.close()
    await held.close()
  }
})
