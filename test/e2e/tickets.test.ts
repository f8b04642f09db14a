/**
 * Tickets in a real browser: a customer asks about a domain, the desk sends a canned answer, the
 * customer sees it live, rates it, closes the ticket, and then answers by mail. With
 * PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
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
import { visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
let support: TestMember
beforeAll(async () => {
  const env = {
    SUPPORT_MAIL: 'support@help.example.net',
    SUPPORT_MAIL_PORT: String(await freePort()),
  }
  ;[portal, browser] = await Promise.all([openTestPortal({ env }), openBrowser()])
  an = await portal.customer()
  support = await newMember(portal, 'support')
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor()
const deskOf = async (member: TestMember, look: Look): Promise<Page> =>
  (await visitDesk(browser, portal, member, look)).page

test('a question about a domain is answered from the desk and seen live', async () => {
  const claimed = await portal.call<{ id: string }>('POST', '/api/dns', {
    token: an.token,
    body: { name: 'tap-chi-cua-an.vn' },
  })
  expect(claimed.status, claimed.text).toBe(201)

  const { page, complaints } = await visitAs(browser, {
    language: 'vi',
    viewport: wide,
    customer: an,
  })
  await openPage(page, `${portal.url}/support`)
  await heading(page, 'Hỗ trợ')
  await page.getByText('Bạn chưa gửi yêu cầu nào.').waitFor()
  await judgeBothWidths(page, 'support-empty-vi')
  await openPage(page, `${portal.url}/dns/domain/${claimed.body.result.id}`)
  await page.getByRole('link', { name: 'Nhờ hỗ trợ' }).click()
  await heading(page, 'Tạo yêu cầu')
  await page.getByText('Tên miền tap-chi-cua-an.vn').waitFor()
  await page.getByRole('button', { name: 'Gửi', exact: true }).click()
  // A missing value is reported at its field.
  await page.locator('[aria-invalid=true]').first().waitFor()
  await page.getByLabel('Tiêu đề').fill('Tên miền chưa hoạt động')
  await page
    .getByLabel('Chúng tôi có thể giúp gì cho bạn?')
    .fill('Tôi đã đổi nameserver từ hôm qua.\nTrang vẫn chưa mở được.')
  await page.locator('input[type=file]').setInputFiles({
    name: 'ảnh lỗi.html',
    mimeType: 'text/html',
    buffer: Buffer.from('<script>alert(1)</script>'),
  })
  await page.getByRole('button', { name: 'Bỏ ảnh lỗi.html' }).waitFor()
  await judgeBothWidths(page, 'support-new-vi')
  await page.getByRole('button', { name: 'Gửi', exact: true }).click()
  await heading(page, /^#\d+ Tên miền chưa hoạt động$/)
  await page.getByRole('button', { name: 'Tải ảnh lỗi.html' }).waitFor()

  const desk = await deskOf(support, { language: 'en' })
  await openPage(desk, `${portal.url}/operator/tickets/canned`)
  await heading(desk, 'Canned answers')
  const menu = desk.getByRole('button', { name: `Your session: ${support.name}` })
  await menu.click()
  const off = desk.getByRole('menuitem', { name: 'Stop letters about work' })
  await off.waitFor()
  await judgeBothWidths(desk, 'desk-menu-en')
  if (!(await off.isVisible())) await menu.click()
  await off.click()
  await menu.click()
  await desk.getByRole('menuitem', { name: 'Get letters about work' }).click()
  await desk.getByRole('button', { name: 'New canned answer' }).click()
  const dialog = desk.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Delegation takes a day')
  await dialog.getByLabel('Text in English').fill('Hello {name}, {object} needs a day.')
  await dialog
    .getByLabel('Text in Vietnamese')
    .fill('Chào {name}, {object} cần một ngày để cập nhật ({reference}).')
  await desk.keyboard.press('Escape')
  await desk.getByRole('alert').filter({ hasText: 'Close without saving' }).waitFor()
  await dialog.getByRole('button', { name: 'Keep editing' }).click()
  await desk.mouse.click(5, 5)
  await dialog.getByRole('button', { name: 'Save canned answer' }).click()
  await desk.getByText('Hello {name}, {object} needs a day.').waitFor()
  await judgeBothWidths(desk, 'desk-canned-en')

  await desk.getByRole('link', { name: 'Tickets', exact: true }).click()
  await heading(desk, 'Tickets')
  await desk.getByRole('link', { name: /Tên miền chưa hoạt động/ }).waitFor()
  await judgeBothWidths(desk, 'desk-tickets-en')
  await desk.getByRole('link', { name: /Tên miền chưa hoạt động/ }).click()
  await desk.getByText('Domain tap-chi-cua-an.vn').waitFor()
  // What is being written is there again after a reload, as what it was.
  await desk.getByRole('radio', { name: 'Note' }).check({ force: true })
  await desk.getByLabel('A note for the staff').fill('Half a thought')
  await openPage(desk, desk.url())
  expect(await desk.getByLabel('A note for the staff').inputValue()).toBe('Half a thought')
  await desk.getByLabel('A note for the staff').fill('')
  await desk.getByRole('radio', { name: 'Answer' }).check({ force: true })
  await desk.getByLabel('Canned answer').selectOption('Delegation takes a day')
  const answer = desk.getByLabel('Your answer')
  expect(await answer.inputValue()).toMatch(
    /^Chào Nguyễn Văn An, tap-chi-cua-an\.vn cần một ngày để cập nhật \(#\d+\)\.$/,
  )
  await judgeBothWidths(desk, 'desk-ticket-en')
  await desk.getByRole('button', { name: 'Send answer' }).click()
  await desk.getByRole('listitem').filter({ hasText: 'Chào Nguyễn Văn An' }).waitFor()
  await desk.getByRole('radio', { name: 'Note' }).check({ force: true })
  await desk.getByLabel('A note for the staff').fill('The parent zone has old name servers.')
  await desk.getByRole('button', { name: 'Save note' }).click()
  await desk.getByText('Note for the staff').waitFor()

  // The customer has not touched the page since.
  await page.getByText('Chào Nguyễn Văn An', { exact: false }).waitFor()
  expect(await page.getByText('The parent zone').count()).toBe(0)
  await page.getByRole('button', { name: 'Có', exact: true }).click()
  await page.getByText('Cảm ơn bạn.').waitFor()
  await judgeBothWidths(page, 'support-ticket-vi')
  await page.getByRole('button', { name: 'Đóng yêu cầu' }).click()
  await page.getByRole('button', { name: 'Mở lại' }).waitFor()
  await page.getByRole('link', { name: 'Tất cả yêu cầu' }).click()
  await page.getByRole('link', { name: /Tên miền chưa hoạt động.*Đã đóng/ }).waitFor()
  expect(complaints).toEqual([])

  // The letter is answered in the sandbox's inbox.
  const inbox = await visitAs(browser, { viewport: wide })
  await openPage(inbox.page, `${portal.sandboxUrl}/inbox?to=${encodeURIComponent(an.email)}`)
  const letter = inbox.page.getByRole('listitem').filter({ hasText: 'Chào Nguyễn Văn An' })
  await letter.getByRole('link', { name: /Answer/ }).click()
  await inbox.page.getByRole('textbox').fill('Cảm ơn, trang đã mở được.')
  await inbox.page.getByRole('button', { name: /Send/ }).click()
  await inbox.page.getByRole('heading', { name: /Inbox/ }).waitFor()

  const english = await visitAs(browser, {
    language: 'en',
    theme: 'dark',
    viewport: wide,
    customer: an,
  })
  await openPage(english.page, `${portal.url}/support`)
  await english.page.getByRole('link', { name: /Tên miền chưa hoạt động/ }).waitFor()
  await judgeBothWidths(english.page, 'support-list-en-dark')
  await english.page.getByRole('link', { name: /Tên miền chưa hoạt động/ }).click()
  // The answer has reopened the ticket.
  const answered = english.page
    .getByRole('listitem')
    .filter({ hasText: 'Cảm ơn, trang đã mở được.' })
  await answered.getByText('by email', { exact: false }).waitFor()
  await judgeBothWidths(english.page, 'support-ticket-en-dark')
  const dark = await deskOf(support, { language: 'vi', theme: 'dark' })
  await openPage(dark, `${portal.url}/operator/tickets`)
  await heading(dark, 'Yêu cầu hỗ trợ')
  await dark.getByRole('link', { name: /Tên miền chưa hoạt động/ }).click()
  await dark.getByText('Câu trả lời hữu ích').waitFor()
  await judgeBothWidths(dark, 'desk-ticket-vi-dark')
})
