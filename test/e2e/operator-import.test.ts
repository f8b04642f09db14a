/**
 * Customers of another panel at the desk in a real browser: previewed, imported, and one comes by
 * the letter. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs, type Look } from './browser.ts'
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let finance: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  finance = await newMember(portal, 'finance')
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const importPage = async (look: Look = {}) => {
  const one = await visitDesk(browser, portal, finance, look)
  await openPage(one.page, `${portal.url}/operator/customers/import`)
  return one
}
async function choose(page: Page, label: string, lines: readonly string[]): Promise<void> {
  await page.getByLabel(label).setInputFiles({
    name: 'clients.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(lines.join('\n')),
  })
}

test('a file is previewed and imported, and a customer comes by the letter', async () => {
  const { page, complaints } = await visitDesk(browser, portal, finance)
  await openPage(page, `${portal.url}/operator/customers`)
  await page.getByRole('link', { name: 'Import customers' }).click()
  await page.getByRole('heading', { level: 1, name: 'Import customers' }).waitFor()
  await page.getByText('Nothing was imported yet.').waitFor()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Choose a file first.').waitFor()

  await choose(page, 'CSV file', ['email,region', 'nobody,VN', 'a@example.vn,MARS'])
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('2 rows are bad: nothing can be imported.').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0)
  await judgeBothWidths(page, 'import-bad-en-light')

  const an = await portal.customer()
  await choose(page, 'CSV file', [
    'ID,First Name,Last Name,Email,Phone Number,Currency,Credit,Client Group',
    '1001,Lan,Pham,lan@example.vn,0912345601,VND,1250000.00,gold',
    '1002,Kim,Lee,kim@example.com,,AUD,12.50,',
    `1003,An,Nguyen,${an.email},,VND,99.00,`,
  ])
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Columns that are not read: Client Group').waitFor()
  await judgeBothWidths(page, 'import-preview-en-light')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Send each customer a letter').selectOption('yes')
  await dialog.getByLabel('Reason').fill('Moved from WHMCS')
  await judgeBothWidths(page, 'import-dialog-en-light')
  await dialog.getByRole('button', { name: 'Import customers' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('2 accounts created').waitFor()
  await page.getByText('0 of 2 have chosen a password').waitFor()
  expect(complaints).toEqual([])

  const letter = await eventually(
    'the letter',
    async () => (await portal.inbox('lan@example.vn'))[0],
  )
  const customer = await visitAs(browser, { language: 'vi' })
  await openPage(customer.page, /https?:\S+/.exec(letter.text)?.[0] ?? '')
  expect(await customer.page.getByLabel('Email').inputValue()).toBe('lan@example.vn')
  await judgeBothWidths(page, 'import-list-en-light')
})

test('the page in Vietnamese and dark, and the customer’s page', async () => {
  const { page, complaints } = await importPage({ language: 'vi', theme: 'dark' })
  await page.getByText('0/2 khách đã đặt mật khẩu').waitFor()
  await choose(page, 'Tệp CSV', [
    'email;region;balance;note',
    'rich@example.vn;VN;9.000.000 đ;x',
    'eu@example.com;EURO;12,50;y',
  ])
  await page.getByRole('button', { name: 'Xem trước' }).click()
  await page.getByText('cần người thứ hai duyệt').waitFor()
  await judgeBothWidths(page, 'import-preview-vi-dark')
  await openPage(page, `${portal.url}/operator/customers`)
  await page.getByRole('searchbox').or(page.getByRole('textbox')).first().fill('1001')
  await page.keyboard.press('Enter')
  await page.getByText('Mã cũ').first().waitFor()
  await judgeBothWidths(page, 'import-search-vi-dark')
  await page.getByRole('link', { name: /Lan Pham/ }).click()
  await page.getByText('Chưa đặt mật khẩu').waitFor()
  await judgeBothWidths(page, 'import-customer-vi-dark')
  expect(complaints).toEqual([])
})
