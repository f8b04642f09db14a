/**
 * The transaction log in a real browser: filters in the address, a long list, an explained entry,
 * and the downloads.
 */
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Browser, Download, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyStatement } from '../../scripts/verify-statement.mjs'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, violations, visit, visitAs, type Look } from './browser.ts'

let portal: TestPortal
let browser: Browser
/** A customer with one top-up and one paid server. */
let an: TestCustomer
/** A customer with three thousand entries, a few of them rare. */
let binh: TestCustomer
const length = 3000

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  ;[an, binh] = [await portal.customer(), await portal.customer()]
  await portal.topUp(an, 500_000)
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance === 500_000n,
  )
  const order = {
    size: 1,
    region: 1,
    disk: 10_300,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Another#1pass',
    replicate: 1,
  }
  await portal.call('POST', '/api/wp', { token: an.token, body: order })
  await eventually(
    'the charge',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance < 500_000n,
  )
  for (let from = 1; from <= length; from += 500)
    await sql`
      select count(*) from generate_series(${from}::int, ${from + 499}::int) n,
      lateral ledger_post('log:' || n, 'topup',
        jsonb_build_object('provider', case when n = 17 then 'Rare' else 'VNPay' end), now(),
        array[${`wallet:${binh.id}`}, 'gateway:vnpay:VND'], array[n, -n]::bigint[])
    `.execute(portal.app.db)
}, 120_000)
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

async function open(customer: TestCustomer, address: string, look: Look = {}) {
  const one = await visitAs(browser, { ...look, customer })
  await one.page.goto(`${portal.url}${address}`)
  await one.page.getByRole('heading', { level: 1, name: 'Transaction Log' }).waitFor()
  return one
}
const rowsOf = (page: Page) => page.locator('tbody tr:not([aria-hidden])')
const textOf = async (file: Download): Promise<string> => await readFile(await file.path(), 'utf8')

test('search and filters stand in the address, and find without accents', async () => {
  const { page, context, complaints } = await open(an, '/transactions')
  await expect.poll(() => rowsOf(page).count()).toBe(2)
  expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
    '#',
    'Note',
    'Amount',
    'Created At',
    'Balance',
  ])
  await page.getByRole('searchbox').fill('NẠP vi')
  await page.waitForURL(/search=/)
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  await page.getByText('+500.000').waitFor()
  await page.reload()
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  expect(await page.getByRole('searchbox').inputValue()).toBe('NẠP vi')
  await page.getByRole('radio', { name: 'Spent' }).click({ force: true })
  await page.getByText('No transactions match.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.waitForURL(`${portal.url}/transactions`)
  await expect.poll(() => rowsOf(page).count()).toBe(2)
  await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('')
  await page.getByRole('button', { name: 'Clear filters' }).waitFor({ state: 'detached' })
  await page.getByLabel('From', { exact: true }).fill('2020-01-01')
  await page.waitForURL(/from=2020-01-01/)
  await page.getByLabel('To', { exact: true }).fill('2020-01-31')
  await page.waitForURL(/from=2020-01-01&to=2020-01-31/)
  await page.getByText('No transactions match.').waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test.each([
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
])('an entry is explained in a dialog with an address of its own, $width px', async (viewport) => {
  const { page, context } = await open(an, '/transactions?direction=out', { viewport })
  const link = rowsOf(page).getByRole('link')
  await link.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Transaction' })
  await dialog.getByText('How it was computed').waitFor()
  await dialog.getByText(/10,300\/1,024 GB × 4\.000/).waitFor()
  await dialog.getByText('Matches the charge').waitFor()
  expect(page.url()).toMatch(/direction=out&entry=\d+$/)
  expect(await violations(page)).toEqual([])
  await page.reload()
  await dialog.getByText('Place in the chain').waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(/\?direction=out$/)
  await dialog.waitFor({ state: 'hidden' })
  await page.goto(`${portal.url}/transactions?entry=999999999`)
  await dialog.getByRole('alert').waitFor()
  await context.close()
})

// Thirty pages, one after the other, need more time than a test usually has when others run beside
// it.
test(
  'a long list loads as one scrolls, and only what is near the view is in the document',
  { timeout: 90_000 },
  async () => {
    const { page, context } = await open(binh, '/transactions')
    await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(10)
    const rowCount = () => page.getByRole('table').getAttribute('aria-rowcount')
    expect(await rowCount(), 'nobody knows yet how many').toBe('-1')
    let most = 0
    await eventually(
      'the end of the list',
      async () => {
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
        most = Math.max(most, await rowsOf(page).count())
        return (await page.getByRole('cell', { name: String(length), exact: true }).count()) === 1
      },
      60,
    )
    expect(most).toBeLessThan(120)
    await expect
      .poll(() => rowsOf(page).last().innerText())
      .toMatch(/^3000\s+Top-up via VNPay\s+\+1\s/)
    expect(await rowCount(), 'the head, too').toBe(String(length + 1))
    // In the middle, the visible rows are in the right place, with their neighbours rendered above
    // and below.
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight / 2))
    await expect.poll(() => page.getByRole('cell', { name: '1500', exact: true }).count()).toBe(1)
    await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(30)
    expect(
      (await rowsOf(page).first().getByRole('cell').nth(1).boundingBox())?.width,
    ).toBeGreaterThan(400)
    await context.close()
  },
)

test('a search for something old goes on by itself until it is found', async () => {
  const { page, context } = await open(binh, '/transactions?search=rare')
  await page.getByText('Top-up via Rare').waitFor()
  expect(await rowsOf(page).count()).toBe(1)
  await context.close()
})

test('the export holds every entry of the filter, and the statement verifies', async () => {
  const { page, context } = await open(binh, '/transactions?search=vnpay')
  await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(10)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^transactions-.*\.csv$/)
  expect((await textOf(file)).trimEnd().split('\r\n')).toHaveLength(length)

  await page.getByRole('button', { name: 'Statement' }).click()
  const dialog = page.getByRole('dialog', { name: 'Statement' })
  await dialog.getByText(/--key [0-9a-f]{64}/).waitFor()
  expect(await violations(page)).toEqual([])
  for (const format of ['CSV', 'JSON']) {
    await dialog.getByRole('radio', { name: format }).click({ force: true })
    const [statement] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(statement.suggestedFilename()).toMatch(
      new RegExp(`^statement-.*\\.${format.toLowerCase()}$`),
    )
    expect(verifyStatement(await textOf(statement))).toMatchObject({ entries: length })
  }
  const [verifier] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Get the verifier' }).click(),
  ])
  expect(await textOf(verifier)).toBe(await readFile('scripts/verify-statement.mjs', 'utf8'))
  await context.close()
})

test("days, months, today and moments are of the account's zone, on every screen", async () => {
  // The customer's clock and this browser's differ by a day and an hour.
  const [zone, timezoneId] = ['Pacific/Pago_Pago', 'Pacific/Kiritimati']
  const chi = await portal.customer()
  const { transactionCode } = await portal.topUp(chi, 50_000)
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, chi.id)).balance === 50_000n,
  )
  const dung = await portal.customer()
  for (const { token } of [chi, dung])
    await portal.call('PUT', '/api/v1/account', { token, body: { timeZone: zone } })
  // There a month begins at 11:00 UTC.
  const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7)
  await sql`update customer set created_at = ${`${month}-01T11:00:00Z`}::timestamptz
    where id = ${dung.id}`.execute(portal.app.db)
  const entries = ['01T10:59', '01T11:01', '02T10:59', '02T11:01'].map(
    (moment) => `${month}-${moment}:00Z`,
  )
  // No entry may be older than the last one of either account, so a gateway that is unused here is
  // taken.
  for (const [index, at] of entries.entries())
    await sql`
      select ledger_post(${`zone:${index}`}, 'topup', '{"provider":"payOS"}'::jsonb,
      ${at}::timestamptz,
        array[${`wallet:${dung.id}`}, 'gateway:payos:VND'], array[1, -1]::bigint[])
    `.execute(portal.app.db)
  const here = (moment: number) =>
    new Date(moment - 11 * 3_600_000).toISOString().replace('T', ' ').slice(0, 19)

  const { page, context } = await open(dung, `/transactions?from=${month}-01&to=${month}-01`, {
    timezoneId,
  })
  const shown = ['02T10:59', '01T11:01'].map((moment) => here(Date.parse(`${month}-${moment}:00Z`)))
  await expect.poll(() => rowsOf(page).locator('time').allInnerTexts()).toEqual(shown)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect((await textOf(file)).trimEnd().split('\r\n')).toHaveLength(3)
  await page.getByRole('button', { name: 'Statement' }).click()
  const dialog = page.getByRole('dialog', { name: 'Statement' })
  await dialog.getByLabel('Month').waitFor()
  // Months from the present one back to the account's first; none without a statement is offered.
  const offered = () => dialog.getByLabel('Month').locator('option').allInnerTexts()
  await expect.poll(async () => (await offered()).at(-1)).toBe(month)
  expect((await offered())[0]).toBe(here(Date.now()).slice(0, 7))
  await dialog.getByLabel('Month').selectOption(month)
  await dialog.getByRole('radio', { name: 'JSON' }).click({ force: true })
  const [statement] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download' }).click(),
  ])
  expect(verifyStatement(await textOf(statement))).toMatchObject({ entries: 3 })
  await page.goto(`${portal.url}/`)
  const today = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    weekday: 'long',
    month: 'long',
    day: 'numeric',
  }).format(new Date())
  await page.getByText(today).first().waitFor()
  await context.close()

  // A page outside the layout, opened by its address.
  const other = await open(chi, '/transactions', { timezoneId })
  const paid = `${portal.url}/api/payments/success?transId=${transactionCode}`
  const isHere = async (at: Page): Promise<void> => {
    await at.goto(paid)
    const moment = at.locator('time')
    await moment.waitFor()
    expect(await moment.innerText()).toBe(
      here(Date.parse((await moment.getAttribute('datetime')) ?? '')),
    )
  }
  await isHere(other.page)
  await other.context.close()

  // In a tab that is signed in only by the cookie.
  const cookie = await visit(browser, { timezoneId })
  await cookie.page.goto(`${portal.url}/login`)
  await cookie.page.getByLabel('Email').fill(chi.email)
  await cookie.page.locator('input[type=password]').fill(chi.password)
  await cookie.page.keyboard.press('Enter')
  await cookie.page.waitForURL(`${portal.url}/`)
  await isHere(await cookie.context.newPage())
  await cookie.context.close()
})
