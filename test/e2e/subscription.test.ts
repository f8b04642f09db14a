/**
 * A subscription on its server's page: its facts, both ways to cancel it, undoing that, and an
 * unpaid one.
 */
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepBothWidths,
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
let name: string

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  customer = await portal.customer()
  await portal.topUp(customer, 218_000)
  await eventually(
    'the money',
    async () =>
      (await portal.app.ledger.balanceOf(portal.app.db, customer.id)).balance === 218_000n,
  )
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
  name = await eventually(
    'the server',
    async () => {
      const { result } = (
        await portal.call<{ status: string; name: string }>('GET', `/api/wp/${id}`, {
          token: customer.token,
        })
      ).body
      return result.status === 'running' && result.name
    },
    90,
  )
  const { token } = customer
  await portal.call('POST', `/api/wp/${id}/backups`, { token })
  await eventually(
    'a backup that stays',
    async () => {
      const { body: answer } = await portal.call<{ state: string }[]>(
        'GET',
        `/api/wp/${id}/backups`,
        { token },
      )
      return answer.result.some(({ state }) => state === 'proven')
    },
    90,
  )
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

async function open(address: string, language: 'en' | 'vi', viewport = wide) {
  const { page, context } = await visitAs(browser, { language, viewport, customer })
  await page.goto(`${portal.url}${address}`)
  return { page, context }
}
async function accessible(page: Page): Promise<void> {
  // A target half under the sticky header would count as too small.
  await page.evaluate(() => scrollTo(0, 0))
  expect(await violations(page)).toEqual([])
  expect(await sideways(page)).toBe(0)
}

test('cancelled with the end of the month, taken back, unpaid, and gone', async () => {
  const { page, context } = await open(`/wordpress/${id}`, 'en')
  const panel = page.getByRole('region', { name: 'Subscription' })
  await panel.getByText('Renews on').waitFor()
  expect(await panel.innerText()).toContain('218.000')
  await panel.getByRole('button', { name: 'Cancel subscription' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('for unused time to your wallet').waitFor()
  await accessible(page)
  // Cancelling now is a deletion and asks for the server's name; cancelling at the end of the month
  // does not.
  expect(await dialog.getByRole('textbox').count()).toBe(0)
  await dialog.getByRole('radio', { name: /^Now/ }).check()
  await dialog.getByText('You can download its backups from this page for 7 days').waitFor()
  const gone = dialog.getByRole('button', { name: 'Delete now' })
  await dialog.getByLabel(`Type ${name} to confirm`).fill('another')
  await dialog.getByRole('textbox').press('Enter')
  expect(await gone.isDisabled()).toBe(true)
  await accessible(page)
  await keepBothWidths(page, 'cancel-now', false)
  await dialog.getByRole('radio', { name: /^At period end/ }).check()
  await dialog.getByRole('button', { name: 'Cancel at period end' }).click()
  await panel.getByText('Cancelled: this server is deleted on').waitFor()
  await panel.getByText('Ends on').waitFor()
  await panel.getByRole('button', { name: 'Resume subscription' }).click()
  await panel.getByText('Renews on').waitFor()

  // A month later, as the sweep would find it.
  await sql`update subscription set anchor_at = anchor_at - interval '34 days',
    period_start = period_start - interval '34 days', period_end = period_end - interval '34 days',
    next_at = next_at - interval '34 days'`.execute(portal.app.db)
  await portal.app.bills.sweep()
  await panel.getByText('Payment overdue').waitFor()
  await panel.getByText('We suspend the server on').waitFor()
  await accessible(page)
  await context.close()

  const dashboard = await open('/', 'vi', phone)
  await dashboard.page.getByText('1 hoá đơn chưa thanh toán').waitFor()
  await dashboard.page.getByText('Số dư ví sẽ hết trong vòng 24 giờ.').waitFor()
  await accessible(dashboard.page)
  await dashboard.context.close()

  const narrow = await open(`/wordpress/${id}`, 'vi', { width: 360, height: 740 })
  const small = narrow.page.getByRole('region', { name: 'Gói dịch vụ' })
  await small.getByText('Quá hạn thanh toán').waitFor()
  await accessible(narrow.page)
  await small.getByRole('button', { name: 'Huỷ gói dịch vụ' }).click()
  await narrow.page.getByText('Bạn không còn nợ khoản nào.').waitFor()
  await accessible(narrow.page)
  const sheet = narrow.page.getByRole('dialog')
  await sheet.getByLabel(`Nhập ${name} để xác nhận`).fill(name)
  // The deletion is reported only after the panel was read.
  const heard = Promise.withResolvers<void>()
  await narrow.page.route(`**/api/wp/${id}`, async (route) => {
    const response = await route.fetch()
    if (response.status() === 404) await heard.promise
    await route.fulfill({ response })
  })
  await sheet.getByRole('button', { name: 'Xoá ngay' }).click()
  await narrow.page.getByText(`Đã huỷ gói dịch vụ: ${name} đang được xoá.`).waitFor()
  const ended = await small.filter({ hasText: 'Đã kết thúc' }).innerText()
  expect(ended).not.toContain('Đã trả đến')
  await eventually(
    'the server being gone',
    async () =>
      (await portal.call('GET', `/api/wp/${id}`, { token: customer.token })).status === 404,
    60,
  )
  heard.resolve()
  await narrow.page.getByText('Máy chủ này đã bị xoá').waitFor()
  await narrow.context.close()
})
