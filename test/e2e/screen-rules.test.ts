/** Small rules of the specification's screens, each looked at once in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transaction } from '../../server/platform/db.ts'
import { manyInvoices, manyServers } from '../many-rows.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, openPage, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
let page: Page

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([
    openTestPortal({
      changeCatalog: (catalog) => ({ ...catalog, products: { ...catalog.products, dns: false } }),
    }),
    openBrowser(),
  ])
  an = await portal.customer()
  const { db, ledger } = portal.app
  await transaction(db, async (tx) => {
    const of = { customerId: an.id, currency: 'VND' } as const
    for (let n = 1n; n <= 4n; n++) {
      const [topUp, sale] = [`top-up-${n}`, `sale-${n}`]
      const details = { provider: 'VNPay', code: topUp }
      await ledger.credit(tx, { ...of, key: topUp, driver: 'vnpay', amount: 90_000n + n, details })
      const subject = { subject: sale }
      await ledger.charge(tx, {
        ...of,
        key: sale,
        product: 'wordpress',
        amount: n,
        details: subject,
      })
    }
  })
  await manyInvoices(db, an.id, 'HD', 7)
  await manyServers(db, an.id, 'may', 3)
  ;({ page } = await visitAs(browser, { language: 'en', customer: an }))
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const open = (path: string): Promise<void> => openPage(page, `${portal.url}${path}`)
const isDark = () => page.evaluate(() => document.body.classList.contains('dark'))

test('the dashboard shows six transactions and invoices, and two of each direction', async () => {
  await open('/')
  const rows = (caption: string) =>
    page.getByRole('table', { name: caption }).locator('tbody tr').allInnerTexts()
  const transactions = await rows('Transactions')
  expect(transactions).toHaveLength(6)
  expect(transactions[0]).toContain('sale-4')
  const invoices = await rows('Recent Invoices')
  expect(invoices.map((row) => /HD-\d/.exec(row)?.[0])).toEqual(
    [7, 6, 5, 4, 3, 2].map((n) => `HD-${n}`),
  )
  const recent = (title: string) =>
    page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: title }) })
      .last()
      .getByRole('listitem')
      .allInnerTexts()
  expect(await recent('Recent Received')).toEqual([
    expect.stringContaining('+90.004'),
    expect.stringContaining('+90.003'),
  ])
  expect(await recent('Recent Spent')).toEqual([
    expect.stringContaining('sale-4'),
    expect.stringContaining('sale-3'),
  ])
})

test('the theme "system" follows the device while the page is open', async () => {
  /** Waits until the choice acts: the press is answered first. */
  const choose = async (name: string) => {
    await page.getByRole('button', { name: /^Theme/ }).click()
    await page.getByRole('menuitemradio', { name }).click()
    const chosen = () => page.evaluate(() => document.documentElement.dataset['theme'])
    await expect.poll(chosen).toBe(name.toLowerCase())
  }
  await choose('System')
  expect(await isDark()).toBe(false)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(isDark).toBe(true)
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(isDark).toBe(false)
  // A choice of one's own stays.
  await choose('Light')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await isDark()).toBe(false)
  await page.emulateMedia({ colorScheme: 'light' })
})

test('a product that is off is none of the services, and navigation scrolls up', async () => {
  const menu = page.getByRole('navigation', { name: 'Main' }).filter({ visible: true })
  const groups = await menu
    .locator('ul')
    .evaluateAll((lists) =>
      lists.map((list) => [
        list.previousElementSibling?.textContent ?? '',
        ...[...list.querySelectorAll('a')].map((link) => link.textContent),
      ]),
    )
  expect(groups.find(([title]) => title === 'Services')).toEqual([
    'Services',
    'WordPress',
    'Hosting',
    'PAAS',
  ])
  expect(groups.find(([title]) => title === 'Coming soon')).toEqual([
    'Coming soon',
    'Database',
    'Firewall',
    'DNS',
    'SVM',
  ])
  await page.evaluate(() => window.scrollTo(0, 400))
  const scrolled = () => page.evaluate(() => window.scrollY)
  expect(await scrolled()).toBeGreaterThan(100)
  await menu.getByRole('link', { name: 'PAAS' }).click()
  await page.waitForURL(`${portal.url}/paas`)
  await page.getByRole('heading', { level: 1, name: 'PAAS' }).waitFor()
  await expect.poll(scrolled).toBe(0)
})

test('/paas has one sample row for each server', async () => {
  await expect.poll(() => page.locator('tbody tr').count()).toBe(3)
})

test('each region is offered exactly its payment types', async () => {
  const types = 'input[type=radio][name=type]'
  /** The payment types, by id, once there is an amount. */
  const offered = async (on: Page, amount: string): Promise<string[]> => {
    await openPage(on, `${portal.url}/payment`)
    expect(await on.locator(types).count()).toBe(0)
    await openPage(on, `${portal.url}/payment?amount=${amount}`)
    const shown = on.getByRole('radio').and(on.locator(types))
    const names = await shown.evaluateAll((all) =>
      all.map((one) => {
        const name = one.closest('label')?.querySelector('.font-medium')?.firstChild?.textContent
        return `${(one as HTMLInputElement).value} ${name}`
      }),
    )
    return names.toSorted()
  }
  expect(await offered(page, '100000')).toEqual([
    '2 Alepay',
    '3 VietQR',
    '4 Domestic ATM card',
    '5 International card',
    '6 VN Pay',
    // The contract's own, beside the five of the specification.
    '8 Bank transfer',
  ])
  for (const region of ['AUD', 'USD', 'EURO']) {
    const customer = await portal.customer({ region })
    const { page: own, context } = await visitAs(browser, { language: 'en', customer })
    expect(await offered(own, '10'), region).toEqual(['7 Credit Card'])
    await context.close()
  }
})
