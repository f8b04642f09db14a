/** The database on a server's page: opened, browsed, changed, undone, queried, closed. */
import { readFile } from 'node:fs/promises'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepPicture,
  openBrowser,
  phone,
  sideways,
  violations,
  visitAs,
  wide,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
let customer: TestCustomer
let id: string
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  customer = await portal.customer()
  await portal.topUp(customer, 500_000)
  ;({ id } = await orderServer(portal, customer))
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const words = {
  en: { password: 'Your password', open: 'Open for 30 minutes', table: 'Open wp_posts' },
  vi: { password: 'Mật khẩu của bạn', open: 'Mở trong 30 phút', table: 'Mở bảng wp_posts' },
}
const open = async (language: 'en' | 'vi', viewport = wide, theme: 'light' | 'dark' = 'light') => {
  const visit = await visitAs(browser, { language, viewport, theme, customer })
  await visit.page.goto(`${portal.url}/wordpress/${id}?tab=database`)
  return visit
}
const enter = async (page: Page, language: 'en' | 'vi'): Promise<void> => {
  const { password, open: press, table } = words[language]
  // It may still be open for this session from the previous visit.
  const field = page.getByLabel(password)
  const tables = page.getByRole('button', { name: table })
  await field.or(tables).waitFor()
  if (await tables.isVisible()) return
  await field.fill(customer.password)
  await page.getByRole('button', { name: press }).click()
  await tables.waitFor()
}

test('a row is changed, put back, added and deleted; a statement reads and writes', async () => {
  const { page, complaints } = await open('en')
  await page.getByLabel('Your password').fill('wrong')
  await page.getByRole('button', { name: 'Open for 30 minutes' }).click()
  await page.getByText('This is not your current password.').waitFor()
  await enter(page, 'en')
  // By keyboard into a table and back, with the position in the list kept.
  const hasFocus = (of: Locator) => of.evaluate((element) => element === document.activeElement)
  const posts = page.getByRole('button', { name: 'Open wp_posts' })
  await posts.press('Enter')
  await expect.poll(() => hasFocus(page.getByRole('heading', { name: 'wp_posts' }))).toBe(true)
  await page.getByRole('button', { name: 'All tables' }).press('Enter')
  await expect.poll(() => hasFocus(posts)).toBe(true)
  await posts.click()
  const grid = page.getByRole('group', { name: 'wp_posts' })
  const dialog = page.getByRole('dialog')
  await grid.getByText('Hello world!').waitFor()
  await grid.getByRole('button', { name: 'Edit row' }).first().click()
  await dialog.getByLabel('post_title', { exact: true }).fill('a:1:{s:4:"màu";s:2:"đ";}')
  await dialog.getByText('What PHP has serialized here').waitFor()
  await keepPicture(page, 'database-row')
  await dialog.getByLabel('post_title', { exact: true }).fill('Từ bảng')
  await page.mouse.click(5, 5)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await grid.getByText('Từ bảng').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await grid.getByText('Hello world!').waitFor()

  await page.getByRole('button', { name: 'New row' }).click()
  await dialog.getByLabel('post_title', { exact: true }).fill('Thêm')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await grid.getByText('Thêm').waitFor()
  await page.getByLabel('Column').selectOption('post_title')
  await page.getByLabel('Value').fill('Thê')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('1–1 of 1').waitFor()
  await grid.getByRole('button', { name: 'Edit row' }).click()
  await dialog.getByRole('button', { name: 'Delete row' }).click()
  await dialog.getByRole('button', { name: 'Press once more to delete' }).click()
  await page.getByText('No rows.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await grid.getByText('Thêm').waitFor()

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(await readFile(await download.path(), 'utf8')).toContain('Hello world!')

  await page.getByText('SQL', { exact: true }).click()
  await page.getByLabel('SQL statement').fill('update wp_posts set post_title = 1')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('Switch “Allow changes” on first.').waitFor()
  await page.getByLabel('Allow changes').check()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('2 rows changed').waitFor()
  await page.getByLabel('SQL statement').fill('select user_login, user_pass from wp_users')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('group', { name: 'SQL statement' }).getByText('hidden').waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByLabel('Your password').waitFor()
  // The browser's console logs the server's refusal as a failed request.
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

test.each([
  ['wide', 'light', 'vi'],
  ['wide', 'dark', 'en'],
  ['phone', 'light', 'en'],
  ['phone', 'dark', 'vi'],
] as const)('%s, %s, %s: accessible, within the screen', async (size, theme, language) => {
  const { page } = await open(language, size === 'wide' ? wide : phone, theme)
  await enter(page, language)
  await keepPicture(page, `database-tables-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: words[language].table }).click()
  await page.getByRole('group', { name: 'wp_posts' }).waitFor()
  await keepPicture(page, `database-rows-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
  await page.getByText('SQL', { exact: true }).click()
  await page.getByRole('textbox').first().waitFor()
  await keepPicture(page, `database-sql-${size}-${theme}-${language}`)
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
})
