/**
 * The provider's own webhooks at the desk, in a real browser: added with a secret that is shown
 * once, tested, failed, sent again, paused and removed, in both languages, in both themes and on a
 * phone. With PICTURES=folder pictures are saved there.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { answersWith, openReceiver, type TestReceiver } from '../webhook-receiver.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage } from './browser.ts'
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let owner: TestMember
let operations: TestMember
let support: TestMember
let receiver: TestReceiver
beforeAll(async () => {
  ;[portal, browser, receiver] = await Promise.all([
    openTestPortal({
      mayFetch: (address) => address === '127.0.0.1',
      timing: { webhookSeconds: [0, 0, 0] },
    }),
    openBrowser(),
    openReceiver(),
  ])
  owner = await newMember(portal, 'owner')
  operations = await newMember(portal, 'operations')
  support = await newMember(portal, 'support')
})
afterAll(async () => {
  await endVisits(browser)
  await receiver?.close()
  await portal?.close()
})

test('an owner adds an address, tests it and sends again what failed', async () => {
  const { page, complaints } = await visitDesk(browser, portal, owner)
  await openPage(page, `${portal.url}/operator`)
  const nav = page.getByRole('navigation', { name: 'Desk' })
  await nav.getByRole('link', { name: 'Work' }).click()
  await page.getByRole('link', { name: 'Outgoing webhooks' }).click()
  await page.getByText('No address yet.').waitFor()
  await judgeBothWidths(page, 'outgoing-none-en-light')
  await page.getByRole('button', { name: 'Add an address' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('https://10.0.0.1/')
  await dialog.getByLabel('Topped up').check()
  await dialog.getByLabel('Dispute opened').check()
  await judgeBothWidths(page, 'outgoing-add-en-light')
  await dialog.getByLabel('Reason').fill('Accounting wants to know')
  await dialog.getByRole('button', { name: 'Add an address' }).click()
  await dialog.getByText('Write a public address').waitFor()
  await dialog.getByLabel('Address').fill(receiver.url)
  await dialog.getByRole('button', { name: 'Add an address' }).click()
  await page.getByText('whsec_').waitFor()
  await judgeBothWidths(page, 'outgoing-secret-en-light')
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByText('whsec_').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByText('Nothing was sent yet.').waitFor()

  receiver.answer = answersWith(500, 'the books are closed')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await dialog.getByRole('button', { name: 'Send a test' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Failed', { exact: true }).waitFor({ timeout: 40_000 })
  await page.getByRole('button', { name: 'Details: webhook.test' }).click()
  await page.getByText('the books are closed').waitFor()
  await judgeBothWidths(page, 'outgoing-failed-en-light')
  receiver.answer = answersWith(200)
  await page.getByRole('button', { name: 'Send failed ones again' }).click()
  await dialog.getByLabel('Reason').fill('The books are open again')
  await judgeBothWidths(page, 'outgoing-resend-en-light')
  await dialog.getByRole('button', { name: 'Send failed ones again' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Delivered', { exact: true }).waitFor({ timeout: 40_000 })
  // The refusal of the internal address.
  expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
})

test('operations pauses and resumes it, in Vietnamese and dark; support sees nothing', async () => {
  const { page, complaints } = await visitDesk(browser, portal, operations, {
    language: 'vi',
    theme: 'dark',
  })
  await openPage(page, `${portal.url}/operator/outgoing`)
  await judgeBothWidths(page, 'outgoing-vi-dark')
  await page.getByRole('link', { name: receiver.url }).click()
  expect(await page.getByRole('button', { name: 'Tạo khoá mới' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Tạm dừng' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Lý do').fill('Bảo trì hệ thống kế toán')
  await dialog.getByRole('button', { name: 'Tạm dừng' }).click()
  await page.getByText('Nhân viên đã tạm dừng.').waitFor()
  await judgeBothWidths(page, 'outgoing-paused-vi-dark')
  await page.getByRole('button', { name: 'Bật lại' }).click()
  await dialog.getByLabel('Lý do').fill('Bảo trì xong')
  await dialog.getByRole('button', { name: 'Bật lại' }).click()
  await page.getByText('Đang bật', { exact: true }).waitFor()
  expect(complaints).toEqual([])
  const other = await visitDesk(browser, portal, support)
  await openPage(other.page, `${portal.url}/operator/work`)
  expect(await other.page.getByRole('link', { name: 'Outgoing webhooks' }).count()).toBe(0)
})

test('an owner has it sent every event, and removes it, in Vietnamese', async () => {
  const { page, complaints } = await visitDesk(browser, portal, owner, { language: 'vi' })
  await openPage(page, `${portal.url}/operator/outgoing`)
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByRole('button', { name: 'Thay đổi' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Chọn tất cả' }).click()
  await judgeBothWidths(page, 'outgoing-change-vi-light')
  await dialog.getByLabel('Lý do').fill('CRM cần mọi sự kiện')
  await dialog.getByRole('button', { name: 'Thay đổi' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('customer.registered').waitFor()
  await judgeBothWidths(page, 'outgoing-all-vi-light')
  await page.getByRole('link', { name: 'Tất cả webhook gửi đi' }).click()
  await page.getByRole('button', { name: 'Xoá' }).click()
  await dialog.getByLabel('Lý do').fill('Không dùng nữa')
  await dialog.getByRole('button', { name: 'Xoá' }).click()
  await page.getByText('Chưa có địa chỉ nào.').waitFor()
  expect(complaints).toEqual([])
})
