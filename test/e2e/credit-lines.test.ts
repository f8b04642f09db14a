/**
 * A credit line in a real browser: given at the desk, shown on the wallet's pages, and listed with
 * what is owed. With PICTURES=folder pictures are saved there.
 */
import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { days } from '../../server/platform/clock.ts'
import { transaction } from '../../server/platform/db.ts'
import { orderServer } from '../ordered-servers.ts'
import { payers } from '../payers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import {
  endVisits,
  judgeBothWidths,
  type Look,
  openBrowser,
  openPage,
  visitAs,
  wide,
} from './browser.ts'
import { pressAct, visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let finance: TestMember
let an: TestCustomer
let late: TestCustomer
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  finance = await newMember(portal, 'finance')
  an = await portal.customer()
  late = await portal.customer()
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const deskOf = (look: Look = {}) => visitDesk(browser, portal, finance, look)
/** Lends a renewal's charge that is due this many days from now. */
const lend = (customer: TestCustomer, key: string, dueInDays: number) =>
  transaction(portal.app.db, (tx) =>
    portal.app.ledger.charge(tx, {
      key: `invoice:${key}`,
      customerId: customer.id,
      product: 'wordpress',
      amount: 218_000n,
      currency: 'VND',
      details: { invoice: 'VN-2026-000123', subject: 'calm-bay-0001' },
      lendUntil: () => new Date(Date.now() + days(dueInDays)),
    }),
  )

test('a line is given at the desk, and the customer reads it', async () => {
  const { page, complaints } = await deskOf()
  await openPage(page, `${portal.url}/operator/customers/${an.id}`)
  await pressAct(page, 'Set credit line')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Limit in VND').fill('500000')
  await dialog.getByLabel('Days until what is lent is due').fill('14')
  await dialog.getByLabel('Reason').fill('An agency that always pays')
  await judgeBothWidths(page, 'credit-line-set-en-light')
  await dialog.getByRole('button', { name: 'Set credit line' }).click()
  await page.getByText('500.000 đ, due after 14 days').first().waitFor()
  await finance.act('credit_line.set', {
    customer: late.id,
    limit: 1_000_000,
    currency: 'VND',
    reason: 'An agency too',
  })
  expect(await lend(an, '6f9619ff-8b86-4011-b42d-00c04fc964ff', 10)).toMatchObject({
    lent: 218_000n,
  })
  await lend(late, '6f9619ff-8b86-4011-b42d-00c04fc964fa', -2.5)
  await page.reload()
  await page.getByText('Owed').first().waitFor()
  await judgeBothWidths(page, 'credit-line-customer-en-light')
  expect(complaints).toEqual([])
})

test.each([
  { language: 'en', theme: 'light', overdue: '3 days overdue', stopped: /something is overdue/ },
  { language: 'vi', theme: 'dark', overdue: 'quá hạn 3 ngày', stopped: /có khoản quá hạn/ },
] as const)('what is owed is listed by age, in $language', async (words) => {
  const { page, complaints } = await deskOf({ language: words.language, theme: words.theme })
  await openPage(page, `${portal.url}/operator/credit`)
  await page.getByText(words.overdue).waitFor()
  await judgeBothWidths(page, `credit-debts-${words.language}-${words.theme}`)
  await openPage(page, `${portal.url}/operator/customers/${late.id}`)
  await page.getByText(words.stopped).first().waitFor()
  await judgeBothWidths(page, `credit-line-late-${words.language}-${words.theme}`)
  expect(complaints).toEqual([])
})

test.each([
  {
    language: 'en',
    theme: 'light',
    title: 'Credit line',
    owes: /^You owe 218\.000\sđ on your/,
    summary: 'Summary',
    pays: 'Pays what you owe',
  },
  {
    language: 'vi',
    theme: 'dark',
    title: 'Hạn mức công nợ',
    owes: /^Bạn đang nợ 218\.000\sđ/,
    summary: 'Tóm tắt giao dịch',
    pays: 'Trả khoản đang nợ',
  },
] as const)('the wallet says what is owed and until when, in $language', async (words) => {
  for (const customer of [an, late]) {
    const name = `${customer === an ? 'owes' : 'late'}-${words.language}-${words.theme}`
    const { page, complaints } = await visitAs(browser, { ...words, customer, viewport: wide })
    await openPage(page, `${portal.url}/transactions`)
    const card = page.getByRole('region', { name: words.title })
    await card.getByText('218.000 đ').first().waitFor()
    await judgeBothWidths(page, `credit-wallet-${name}`)
    await openPage(page, `${portal.url}/`)
    await page.getByText(words.owes).waitFor()
    await openPage(page, `${portal.url}/payment?amount=500000`)
    const summary = page.getByRole('complementary', { name: words.summary })
    await summary.getByText(words.pays).waitFor()
    // Money lent on the line is repaid first.
    await summary.getByText('282.000 đ', { exact: true }).waitFor()
    await openPage(page, `${portal.url}/`)
    await judgeBothWidths(page, `credit-dashboard-${name}`)
    expect(complaints).toEqual([])
  }
})

test('a renewal that the wallet is short of is paid by the line, at a press', async () => {
  const binh = await portal.customer()
  await portal.topUp(binh, 218_000)
  const { id } = await orderServer(portal, binh)
  await sql`update subscription set anchor_at = anchor_at - interval '34 days',
    period_start = period_start - interval '34 days', period_end = period_end - interval '34 days',
    next_at = next_at - interval '34 days'
    where customer_id = ${binh.id}`.execute(portal.app.db)
  await portal.app.bills.sweep()
  const open = async () =>
    (
      await portal.call<{ amount_due: number; hosted_invoice_url: string }[]>(
        'GET',
        '/api/payments/stripe/invoices',
        { token: binh.token },
      )
    ).body.result.find(({ amount_due: due }) => due > 0)
  const url = new URL((await open())?.hosted_invoice_url ?? '').pathname
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: binh })
  await openPage(page, `${portal.url}${url}`)
  await page.getByRole('link', { name: 'Top up' }).waitFor()
  expect(await page.getByRole('button', { name: /from wallet/ }).count()).toBe(0)

  // Set directly in the ledger, without starting the job that pays open invoices: it might run
  // before the customer pays.
  const line = (limit: bigint) =>
    transaction(portal.app.db, (tx) =>
      portal.app.ledger.setCreditLine(tx, {
        customerId: binh.id,
        currency: 'VND',
        limit,
        termDays: 14,
      }),
    )
  // The line lends all of it or nothing.
  await line(100_000n)
  await openPage(page, `${portal.url}${url}`)
  await page.getByRole('link', { name: 'Top up' }).waitFor()
  await line(300_000n)
  await openPage(page, `${portal.url}${url}`)
  await page.getByText(/^Your wallet is short by .* Your credit line lends 218\.000/).waitFor()
  expect(await page.getByRole('link', { name: 'Top up' }).count()).toBe(0)
  await page.getByRole('button', { name: /^Pay 218\.000.* from wallet/ }).click()
  await page.getByRole('button', { name: /from wallet/ }).waitFor({ state: 'detached' })
  expect(await open()).toBeUndefined()
  const server = await portal.call<{ status: string }>('GET', `/api/wp/${id}`, {
    token: binh.token,
  })
  expect(server.body.result.status).toBe('running')
  expect(complaints).toEqual([])
})

// Last, because it pays the debt that the other tests read.
test('a transfer that pays what is owed says so where it arrives', async () => {
  const begun = await payers['bank (SePay)']?.begin(portal, an)
  const { page, complaints } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/payment/transfer/${begun?.code}`)
  await begun?.pay()
  await page.getByText(/^150\.000\sđ of it paid what you owed\.$/).waitFor()
  expect(complaints).toEqual([])
})
