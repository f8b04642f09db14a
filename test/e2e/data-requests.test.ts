/**
 * A request about personal data in a real browser: made on the account page, answered at the desk,
 * read by the customer. With PICTURES=folder pictures are saved there.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../portal.ts'
import { newMember } from '../staff.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs, wide } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

test.each([
  ['en', 'light'],
  ['vi', 'dark'],
] as const)('a request is made, answered and read (%s, %s)', async (language, theme) => {
  const words = {
    en: {
      ask: 'Ask…',
      what: 'Your request',
      send: 'Send',
      open: 'answered by',
      title: 'Requests about your data',
      enter: 'Enter a request',
      who: 'Who asks',
      asked: 'What is asked',
      came: 'Came on',
      day: 'came',
      sent: 'Sent',
      overdue: 'Overdue',
      met: 'Mark as met',
      told: 'What was done, or why not',
      done: 'Done',
    },
    vi: {
      ask: 'Gửi yêu cầu…',
      what: 'Nội dung yêu cầu',
      send: 'Gửi',
      open: 'trả lời chậm nhất',
      title: 'Yêu cầu về dữ liệu của bạn',
      enter: 'Nhập yêu cầu',
      who: 'Người yêu cầu',
      asked: 'Nội dung yêu cầu',
      came: 'Ngày nhận',
      day: 'nhận',
      sent: 'Gửi',
      overdue: 'Quá hạn',
      met: 'Ghi nhận đã thực hiện',
      told: 'Đã làm gì, hoặc vì sao từ chối',
      done: 'Đã thực hiện',
    },
  }[language]
  const asked = `My name is Nguyễn Văn An (${language})`
  const look = { language, theme, viewport: wide }
  const an = await portal.customer()
  const { page, complaints } = await visitAs(browser, { customer: an, ...look })
  await openPage(page, `${portal.url}/account`)
  await page.getByRole('button', { name: words.ask }).click()
  const dialog = page.getByRole('dialog', { name: words.title })
  await dialog.getByLabel(words.what).fill(asked)
  await judgeBothWidths(page, `request-form-${language}-${theme}`)
  await dialog.getByRole('button', { name: words.send }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(words.open).waitFor()
  await judgeBothWidths(page, `request-open-${language}-${theme}`)

  const member = await newMember(portal, 'support')
  const desk = await visitAs(browser, look)
  const [name = '', value = ''] = (member.headers['cookie'] ?? '').split('=')
  await desk.context.addCookies([
    { name, value, url: `${portal.url}/api/operator`, httpOnly: true, sameSite: 'Strict' },
  ])
  await openPage(desk.page, `${portal.url}/operator/data-requests`)
  await desk.page.getByRole('button', { name: words.enter }).click()
  const form = desk.page.getByRole('dialog')
  await form.getByLabel(words.who).fill(an.email)
  await form.getByLabel(words.asked).fill(`Which letters did you send? (${language})`)
  await form.getByLabel(words.came).fill('2026-02-02')
  await judgeBothWidths(desk.page, `desk-request-form-${language}-${theme}`)
  await form.getByRole('button', { name: words.enter }).click()
  await form.waitFor({ state: 'detached' })
  await desk.page.getByText(words.overdue, { exact: true }).first().waitFor()
  // It was received at midnight in Vietnam, which is the previous day in UTC.
  const entered = desk.page.getByRole('listitem').filter({ hasText: `send? (${language})` })
  await entered.filter({ hasText: `${words.day} 2026-02-02` }).waitFor()
  await judgeBothWidths(desk.page, `desk-requests-${language}-${theme}`)
  const row = desk.page.getByRole('listitem').filter({ hasText: asked })
  await row.getByRole('button', { name: words.met }).click()
  await form.getByLabel(words.told).fill('Your name was changed')
  await form.getByRole('button', { name: words.met }).click()
  await form.waitFor({ state: 'detached' })

  await openPage(page, `${portal.url}/account`)
  await page.getByText(words.done, { exact: true }).waitFor()
  await page.getByText('Your name was changed').waitFor()
  await page.getByText(`${words.sent} 2026-02-02`).waitFor()
  await judgeBothWidths(page, `request-done-${language}-${theme}`)
  expect([complaints, desk.complaints]).toEqual([[], []])
})
