/**
 * The desk's pages about money in a real browser: a dispute is answered, and every page is opened
 * in Vietnamese, dark and on a phone. With PICTURES=folder pictures are saved there.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Invoice } from '../../contract/billing.ts'
import { cardsOf } from '../card-holder.ts'
import { manyTickets, newerTopUps } from '../many-rows.ts'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { stripeBrowser } from '../stripe-browser.ts'
import {
  endVisits,
  judgeBothWidths,
  type Look,
  openBrowser,
  openPage,
  visitAs,
  wide,
} from './browser.ts'
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let finance: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  finance = await newMember(portal, 'finance')
  const cards = cardsOf(
    () => portal,
    () => stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? ''),
  )
  const an = await portal.customer({ region: 'AUD' })
  const { payment } = await cards.paid(an, 4200)
  await cards.dashboard({ action: 'dispute', payment })
  await cards.balances(an, 0)
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)

test('a dispute is found, read and answered', async () => {
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator`)
  const nav = page.getByRole('navigation', { name: 'Desk' })
  await nav.getByRole('link', { name: 'Money' }).click()
  await page.getByRole('link', { name: 'Disputes' }).click()
  await page.getByText('Needs evidence').waitFor()
  await judgeBothWidths(page, 'disputes-en-light')
  await page.getByRole('link', { name: 'Nguyễn Văn An' }).click()
  await page.getByRole('heading', { level: 1, name: /42\.00/ }).waitFor()
  await page.getByRole('button', { name: 'Send evidence' }).click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByLabel('Evidence for the bank')
    .fill('Ordered on 1 June and signed in to every day since; the log is kept.')
  await dialog.getByLabel('Reason').fill('Ticket 4711')
  await judgeBothWidths(page, 'dispute-answer-en-light')
  await dialog.getByRole('button', { name: 'Send evidence' }).click()
  await page.getByText('Ordered on 1 June').waitFor()
  await judgeBothWidths(page, 'dispute-en-light')
  expect(complaints).toEqual([])
})

test('a file of a gateway is imported and says what does not agree', async () => {
  await portal.topUp(await portal.customer(), 250_000)
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator/payouts`)
  await page.getByRole('button', { name: 'Import pay-out' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Gateway', { exact: true }).selectOption('vnpay')
  await dialog.getByLabel('File of the gateway').setInputFiles({
    name: 'november.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('transaction,amount,fee\nNOBODY,120000,5000\n'),
  })
  await dialog.getByLabel('Name of the pay-out').fill('November, first')
  await dialog.getByLabel('Currency').selectOption('VND')
  await dialog.getByLabel('Amount').fill('115000')
  await dialog.getByLabel('Day at the bank').fill('2026-11-24')
  await dialog.getByLabel('Reason').fill('Statement of 25 November')
  await judgeBothWidths(page, 'payout-import-en-light')
  await dialog.getByRole('button', { name: 'Import pay-out' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('1 difference').waitFor()
  await judgeBothWidths(page, 'payouts-en-light')
  await page.getByRole('link', { name: /November, first/ }).click()
  await page.getByText('Nothing of this is known here.').waitFor()
  await judgeBothWidths(page, 'payout-en-light')

  await page.getByRole('link', { name: 'Reconciliation' }).click()
  await page.getByText('Line of a pay-out does not agree').waitFor()
  await judgeBothWidths(page, 'reconciliation-en-light')
  await page.getByRole('button', { name: 'Close as explained' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('Sold at the counter')
  await page.getByRole('dialog').getByRole('button', { name: 'Close as explained' }).click()
  await page.getByText('Everything agrees.').waitFor()
  expect(complaints).toEqual([])
})

test('a file for accounting is downloaded', async () => {
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator/exports`)
  await page.getByLabel('From').fill('2030-01-01')
  await page.getByText('The first day comes before the last one.').waitFor()
  await page.getByLabel('From').fill('2026-01-01')
  await page.getByLabel('To').fill('2030-12-31')
  await judgeBothWidths(page, 'exports-en-light')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download: Journal' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('journal-2026-01-01-2030-12-31.csv')
  expect(complaints).toEqual([])
})

test('a voucher is made, and a customer uses it in the wallet', async () => {
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator/vouchers`)
  await page.getByRole('button', { name: 'Make voucher' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Code').fill('welcome-2027')
  await dialog.getByLabel('Amount').fill('50000')
  await dialog.getByLabel('How many customers may use it').fill('20')
  await dialog.getByLabel('Reason').fill('Fair of January')
  await judgeBothWidths(page, 'voucher-make-en-light')
  await dialog.getByRole('button', { name: 'Make voucher' }).click()
  await page.getByText('WELCOME2027').waitFor()
  await judgeBothWidths(page, 'vouchers-en-light')
  expect(complaints).toEqual([])

  const binh = await portal.customer()
  const looks = [
    { language: 'en', theme: 'light' },
    { language: 'vi', theme: 'dark' },
  ] as const
  for (const look of looks) {
    const own = await visitAs(browser, { ...look, customer: binh, viewport: wide })
    await openPage(own.page, `${portal.url}/payment`)
    const words = look.language === 'en' ? ['Voucher code', 'Use it'] : ['Mã voucher', 'Sử dụng']
    await own.page.getByLabel(words[0] ?? '').fill('welcome 2027')
    await own.page.getByRole('button', { name: words[1] ?? '' }).click()
    if (look.language === 'en')
      // The closed bell contains it as well.
      await own.page
        .getByText('đ added to your wallet', { exact: false })
        .filter({ visible: true })
        .first()
        .waitFor()
    else await own.page.getByText('Bạn đã dùng voucher này rồi.').waitFor()
    await judgeBothWidths(own.page, `voucher-use-${look.language}-${look.theme}`)
    expect(own.complaints.filter((text) => !text.includes('422'))).toEqual([])
  }
})

test('in Vietnamese and dark every page is whole', async () => {
  const { page, complaints } = await deskOf(finance, { language: 'vi', theme: 'dark' })
  for (const name of ['suspense', 'payouts', 'reconciliation', 'vouchers', 'exports', 'disputes']) {
    await openPage(page, `${portal.url}/operator/${name}`)
    await judgeBothWidths(page, `${name}-vi-dark`)
  }
  await page.getByText('Tất cả', { exact: true }).click()
  await page.getByRole('link', { name: 'Nguyễn Văn An' }).click()
  await page.getByText('Đã trừ khỏi ví').waitFor()
  await judgeBothWidths(page, 'dispute-vi-dark')
  expect(complaints).toEqual([])
})

test('money that matches nothing waits, is decided either way, and was sent back', async () => {
  for (const [movement, amount] of [
    ['FT26331000017', 250_000n],
    ['FT26331000018', 1_900_000n],
  ] as const)
    await portal.app.topUps.settlement.settle(
      { name: 'bank', displayName: 'Vietcombank', credits: 'received' },
      {
        eventId: movement,
        reference: null,
        providerTransactionId: movement,
        status: 'succeeded',
        amount,
        currency: 'VND',
        occurredAt: null,
        detail: '',
      },
    )
  const looks = [
    { theme: 'light', language: 'en' },
    { theme: 'dark', language: 'vi' },
  ] as const
  for (const look of looks) {
    const { page } = await deskOf(finance, look)
    await openPage(page, `${portal.url}/operator/suspense`)
    await page.getByText('FT26331000018').waitFor()
    await judgeBothWidths(page, `suspense-waiting-${look.language}-${look.theme}`)
    await page.context().close()
  }
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator/suspense`)
  const row = page.getByRole('listitem').filter({ hasText: 'FT26331000017' })
  await row.getByRole('button', { name: 'Sent back' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('Transferred back at the bank')
  await judgeBothWidths(page, 'suspense-return-en-light')
  await dialog.getByRole('button', { name: 'Sent back' }).click()
  await row.waitFor({ state: 'detached' })
  await page.getByText('FT26331000018').waitFor()
  expect(complaints).toEqual([])
})

test('an invoice is found, read and saved as a PDF, and so is its credit note', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 300_000)
  const { id } = await orderServer(portal, an)
  const token = an.token
  const { subscription_id: subscription } = await portal.app.db
    .selectFrom('site')
    .select('subscription_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const cancelled = { token, body: { when: 'now' } }
  await portal.call('POST', `/api/subscriptions/${subscription}/cancel`, cancelled)
  const listed = await portal.call<Invoice[]>('GET', '/api/payments/stripe/invoices', { token })
  const number = listed.body.result.find(({ kind }) => kind === 'order')?.number ?? ''
  const looks = [
    { language: 'en', theme: 'light', notes: 'Credit notes', pdf: 'Download PDF' },
    { language: 'vi', theme: 'dark', notes: 'Phiếu hoàn tiền', pdf: 'Tải PDF' },
  ] as const
  for (const { notes, pdf, ...look } of looks) {
    const { page, complaints } = await deskOf(finance, look)
    await openPage(page, `${portal.url}/operator/customers?q=${number}`)
    await page.getByRole('link', { name: number }).click()
    await page.getByRole('heading', { level: 1, name: number }).waitFor()
    await judgeBothWidths(page, `invoice-${look.language}-${look.theme}`)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: pdf }).click(),
    ])
    expect(file.suggestedFilename()).toBe(`${number}.pdf`)
    await page.getByRole('region', { name: notes }).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: /VN-CN-/ }).waitFor()
    await judgeBothWidths(page, `credit-note-${look.language}-${look.theme}`)
    // From there by the customer's page back to the invoice.
    await page.getByRole('link', { name: 'Nguyễn Văn An' }).click()
    await page.getByRole('link', { name: number, exact: true }).click()
    await page.getByRole('heading', { level: 1, name: number }).waitFor()
    expect(complaints).toEqual([])
  }
})

test('older top-ups and tickets are loaded; an old top-up is found and given back', async () => {
  const an = await portal.customer()
  const { transactionCode: old } = await portal.topUp(an, 70_000)
  await newerTopUps(portal.app.db, old, 70)
  await manyTickets(portal.app.db, an.id, 'open', 60)
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator/customers/${an.id}`)
  const topUps = page.getByRole('region', { name: 'Top-ups', exact: true })
  await topUps.getByRole('button', { name: 'Load more' }).click()
  await page.waitForFunction(() => document.querySelectorAll('li').length > 50)
  expect(await topUps.getByRole('listitem').count()).toBe(50)
  await judgeBothWidths(page, 'top-ups-more-en-light')
  await topUps.getByRole('button', { name: 'Load more' }).click()
  await topUps.getByText(`${old} · `).waitFor()
  expect(await topUps.getByRole('listitem').count()).toBe(71)
  expect(await topUps.getByRole('button', { name: 'Load more' }).count()).toBe(0)

  await openPage(page, `${portal.url}/operator/customers?q=${old}`)
  await page.getByRole('link', { name: old }).click()
  const found = page.getByRole('region', { name: 'The top-up that you looked for' })
  await found.getByText(old).waitFor()
  await judgeBothWidths(page, 'top-up-found-en-light')
  await found.getByRole('button', { name: 'Refund' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('Ticket 4711')
  await page.getByRole('dialog').getByRole('button', { name: 'Refund' }).click()
  await found.getByText('70.000 đ given back').waitFor()

  await openPage(page, `${portal.url}/operator/tickets`)
  const more = page.getByRole('button', { name: 'Load more' })
  await more.click()
  await more.waitFor({ state: 'detached' })
  expect(await page.getByRole('link', { name: /^#1\d{3} Ticket / }).count()).toBe(60)
  expect(complaints).toEqual([])
})
