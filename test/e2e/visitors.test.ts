/** Who may visit a server, set on its page: a password, and denied networks. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, keepPicture, openBrowser, phone, visitAs, wide } from './browser.ts'

let portal: TestPortal
let browser: Browser
let customer: TestCustomer
let id: string
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  customer = await portal.customer()
  await portal.topUp(customer, 500_000)
  const body = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body })).body
    .result.id
  await eventually('the server', async () => (await server()).status === 'running')
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

interface Server {
  status: string
  url: string
}
const server = async (): Promise<Server> =>
  (await portal.call<Server>('GET', `/api/wp/${id}`, { token: customer.token })).body.result
const open = async (language: 'en' | 'vi', viewport = wide, theme: 'light' | 'dark' = 'light') => {
  const visit = await visitAs(browser, { language, viewport, theme, customer })
  await visit.page.goto(`${portal.url}/wordpress/${id}?tab=visitors`)
  return visit
}

test('a password is asked for, known, changed and taken away', async () => {
  const { page, complaints } = await open('en')
  await page.getByLabel('User name for visitors').fill('guests')
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Ask visitors for it' }).click()
  await page.getByText('Use 8 to 128 characters.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill('come in please')
  await page.getByRole('button', { name: 'Ask visitors for it' }).click()
  await page.getByText('Visitors are asked for a password. User name: guests').waitFor()
  const { url } = await server()
  const { page: visitor } = await visitAs(browser, { language: 'en' })
  const answers = async (status: number) => (await visitor.goto(url))?.status() === status
  await eventually('asked', () => answers(401))
  await keepPicture(visitor, 'visitor')
  const context = await browser.newContext({
    httpCredentials: { username: 'guests', password: 'come in please' },
  })
  const guest = await context.newPage()
  expect((await guest.goto(url))?.status()).toBe(200)
  await keepPicture(guest, 'guest')
  await page.getByRole('button', { name: 'Change' }).click()
  await keepPicture(page, 'visitors-wide-light-en-change')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Ask for no password' }).click()
  await page.getByText('Everybody can visit the site again.').waitFor()
  await eventually('open', () => answers(200))
  expect(complaints).toEqual([])
})

test('a wrong network is named, one’s own is refused, others are kept', async () => {
  const { page } = await open('vi')
  const list = page.getByLabel('Mỗi dòng một địa chỉ hoặc dải mạng')
  const save = page.getByRole('button', { name: 'Lưu', exact: true })
  await list.fill('192.0.2.1\nshop.vn')
  await save.click()
  await page.getByText('“shop.vn” không phải địa chỉ hay dải mạng').waitFor()
  await list.fill('127.0.0.0/8')
  await save.click()
  await page.getByText('chứa chính địa chỉ mà bạn đang dùng').waitFor()
  await list.fill('192.0.2.1, 198.51.100.77/24')
  await save.click()
  await page.getByText('Đã lưu 2 mục.').waitFor()
  expect(await list.inputValue()).toBe('192.0.2.1\n198.51.100.0/24')
  await page.reload()
  await eventually('kept', async () => (await list.inputValue()).includes('198.51.100.0/24'))
})

test.each([
  ['wide', 'light', 'vi'],
  ['wide', 'dark', 'en'],
  ['phone', 'light', 'en'],
  ['phone', 'dark', 'vi'],
] as const)('%s, %s, %s is shown', async (size, theme, language) => {
  const { page } = await open(language, size === 'wide' ? wide : phone, theme)
  await page.getByRole('textbox').first().waitFor()
  await keepPicture(page, `visitors-${size}-${theme}-${language}`)
})
