/**
 * Status notices in a real browser: published at the desk, read on every page and on the public
 * one; and maintenance that closes the portal. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { NoticeOfDesk } from '../../contract/status.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { endVisits, judgeBothWidths, openBrowser, openPage, visitAs, wide } from './browser.ts'

let portal: TestPortal
let browser: Browser
let an: TestCustomer
let member: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  an = await portal.customer()
  member = await newMember(portal, 'operations')
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name }).waitFor()

test('an incident is published at the desk, read on every page, and ended', async () => {
  const desk = await visitAs(browser, { language: 'en', viewport: wide })
  const [name = '', value = ''] = (member.headers['cookie'] ?? '').split('=')
  await desk.context.addCookies([
    { name, value, url: `${portal.url}/api/operator`, httpOnly: true, sameSite: 'Strict' },
  ])
  await openPage(desk.page, `${portal.url}/operator/status`)
  await heading(desk.page, 'Status')
  await desk.page.getByRole('button', { name: 'Publish' }).click()
  const dialog = desk.page.getByRole('dialog')
  await dialog.getByLabel('Kind').selectOption('incident')
  await dialog.getByLabel('Title in English').fill('Slow disks in Hanoi')
  await dialog.getByLabel('Title in Vietnamese').fill('Ổ đĩa tại Hà Nội chậm')
  await dialog.getByLabel('Text in English').fill('Pages may take longer. We replace a disk.')
  await dialog
    .getByLabel('Text in Vietnamese')
    .fill('Trang có thể tải chậm. Chúng tôi đang thay ổ đĩa.')
  await judgeBothWidths(desk.page, 'desk-publish')
  await dialog.getByLabel('Reason').fill('Seen by the monitor')
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await desk.page.getByText('Incident · Now').waitFor()
  await judgeBothWidths(desk.page, 'desk-status')

  const customer = await visitAs(browser, { language: 'vi', viewport: wide, customer: an })
  await openPage(customer.page, portal.url)
  const bar = customer.page.getByRole('status').filter({ hasText: 'Ổ đĩa tại Hà Nội chậm' })
  await bar.waitFor()
  await judgeBothWidths(customer.page, 'bar-vi')
  await bar.getByRole('link', { name: 'Chi tiết' }).click()
  await heading(customer.page, 'Trạng thái')
  await customer.page.getByText('Đang có sự cố').waitFor()
  await judgeBothWidths(customer.page, 'page-vi')
  // A dismissed notice stays hidden on other pages.
  await openPage(customer.page, portal.url)
  await bar.getByRole('button', { name: /^Ẩn/ }).click()
  await bar.waitFor({ state: 'detached' })

  await desk.page.getByRole('button', { name: 'End', exact: true }).click()
  await dialog.getByLabel('Reason').fill('The disk is replaced')
  await dialog.getByRole('button', { name: 'End' }).click()
  await desk.page.getByText('Incident · Over').waitFor()
  expect([...desk.complaints, ...customer.complaints]).toEqual([])
})

test('maintenance that closes the portal leads to its page, and back when it is over', async () => {
  const { page } = await visitAs(browser, { language: 'en', viewport: wide, customer: an })
  await openPage(page, `${portal.url}/dns`)
  const published = await member.act<{ after: object }>('status.publish', {
    kind: 'maintenance',
    titleEn: 'New database',
    titleVi: 'Cơ sở dữ liệu mới',
    textEn: 'We move to a faster machine.',
    textVi: 'Chúng tôi chuyển sang máy nhanh hơn.',
    closes: 'yes',
    reason: 'Planned',
  })
  expect(published.status).toBe(200)
  await expect
    .poll(async () => {
      await page.reload()
      return page.url()
    })
    .toContain('/pages/maintenence')
  await heading(page, 'New database')
  await page.getByText('We move to a faster machine.').waitFor()
  await judgeBothWidths(page, 'closed-en')
  const told = await member.call<NoticeOfDesk[]>('GET', '/api/operator/status')
  const notice = told.body.result.find(({ when }) => when === 'now')?.id
  expect((await member.act('status.end', { notice, reason: 'Done' })).status).toBe(200)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(/\/dns$/)
})
