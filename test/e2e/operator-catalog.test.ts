/**
 * The catalogue at the desk in a real browser: read, edited with errors, previewed, published,
 * undone, and approved by a second member. With PICTURES=folder pictures are saved there.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import { endVisits, judgeBothWidths, type Look, openBrowser, openPage } from './browser.ts'
import { visitDesk } from './desk.ts'

const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
let portal: TestPortal
let browser: Browser
let owner: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal({ catalogText: shipped }), openBrowser()])
  owner = await newMember(portal, 'owner')
  const an = await portal.customer()
  await portal.topUp(an, 2_000_000)
  for (const size of [1, 1, 3])
    await portal.call('POST', '/api/wp', {
      token: an.token,
      body: {
        size,
        region: 1,
        disk: 10_240,
        mariadb_disk_size: 10_240,
        user: 'an',
        password: 'Mat-khau-9!',
        replicate: 1,
      },
    })
  await eventually('all are paid', async () => {
    const { length } = await portal.app.db
      .selectFrom('subscription')
      .select('id')
      .where('status', '=', 'active')
      .execute()
    return length === 3
  })
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)
/** The section with the fields of a plan. */
const planOf = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })

test('prices are edited, looked at before, published and undone', async () => {
  const { page, complaints } = await deskOf(owner)
  await openPage(page, `${portal.url}/operator`)
  const nav = page.getByRole('navigation', { name: 'Desk' })
  await nav.getByRole('link', { name: 'Catalogue' }).click()
  await page.getByText('BASIC-1').waitFor()
  await judgeBothWidths(page, 'catalog-en-light')
  await page.getByRole('button', { name: 'Edit' }).click()
  const basic = planOf(page, 'BASIC-1')
  await basic.getByLabel('Price VND', { exact: true }).fill('cheap')
  await basic.getByLabel('CPU').fill('')
  await page.getByRole('button', { name: 'Look at what changes' }).first().click()
  await page.getByText('Some fields need another value.').waitFor()
  await basic.getByText('Enter a price above 0 in VND, such as 8900.').waitFor()
  await basic.getByText('Please fill this in.').waitFor()
  await judgeBothWidths(page, 'catalog-edit-faults-en-light')
  await basic.getByLabel('CPU').fill('1')
  await basic.getByLabel('Price VND', { exact: true }).fill('99000')
  await planOf(page, 'PRO-4').getByLabel('Sold').uncheck()
  // The draft survives a reload.
  await page.reload()
  await page.getByRole('button', { name: 'Look at what changes' }).first().click()
  await page.getByText('1 server keeps it at the price that it has').waitFor()
  await page.getByText('436.000 đ').waitFor()
  await page.getByText('476.000 đ').waitFor()
  await page.getByText('Dearer: 2 subscriptions of 1 customer').waitFor()
  await judgeBothWidths(page, 'catalog-preview-en-light')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('Energy costs more from spring on')
  await judgeBothWidths(page, 'catalog-publish-en-light')
  await dialog.getByRole('button', { name: 'Publish catalogue' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Energy costs more from spring on').waitFor()
  await page.getByText('2 changes').click()
  await judgeBothWidths(page, 'catalog-published-en-light')
  await page.getByRole('button', { name: 'Sell by it again' }).click()
  await page.getByText('99.000 đ').first().waitFor()
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.getByLabel('Reason').fill('The old price was right')
  await dialog.getByRole('button', { name: 'Publish catalogue' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('brings version 1 back').waitFor()
  // The browser logs the response with the errors.
  expect(complaints.filter((one) => !one.includes('status of 422'))).toEqual([])
})

test('a version of a later day waits, and a large rise is approved by who sees it', async () => {
  const { page, complaints } = await deskOf(owner, { language: 'vi', theme: 'dark' })
  await openPage(page, `${portal.url}/operator/catalog/edit`)
  await planOf(page, 'BASIC-2').getByLabel('Giá khuyến mãi VND').fill('189000')
  await planOf(page, 'BASIC-2').getByLabel('Giá VND', { exact: true }).fill('250000')
  await page.getByRole('button', { name: 'Tạo gói mới từ gói này' }).first().click()
  await judgeBothWidths(page, 'catalog-edit-vi-dark')
  await page.getByRole('button', { name: 'Xem những gì thay đổi' }).first().click()
  await page.getByText('cần người thứ hai duyệt').waitFor()
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  // Until the new preview has arrived, the shown one is of another time.
  const publish = page.getByRole('button', { name: 'Công bố', exact: true })
  expect(await publish.isEnabled()).toBe(true)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const previews = '**/api/operator/catalog/preview'
  await page.route(previews, async (route) => {
    asked.resolve()
    await answered.promise
    await route.continue()
  })
  await page.getByLabel('Có hiệu lực từ').fill(`${day}T08:00`)
  await asked.promise
  expect(await publish.isDisabled()).toBe(true)
  answered.resolve()
  await eventually('the answer', () => publish.isEnabled())
  await page.unroute(previews)
  await judgeBothWidths(page, 'catalog-preview-vi-dark')
  await publish.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Lý do').fill('Theo quyết định giá quý hai')
  await dialog.getByRole('button', { name: 'Công bố danh mục' }).click()
  // No other member could approve it, and the dialog says so.
  await dialog.getByText('Hiện chưa có ai khác được phép duyệt việc này').waitFor()
  await judgeBothWidths(page, 'catalog-nobody-approves-vi-dark')
  await dialog.getByRole('button', { name: 'Đã hiểu' }).click()
  await dialog.waitFor({ state: 'detached' })
  const second = await newMember(portal, 'owner')
  const other = await deskOf(second, { language: 'vi', theme: 'dark' })
  await openPage(other.page, `${portal.url}/operator/approvals`)
  await other.page.getByRole('link', { name: 'Xem những gì thay đổi' }).click()
  await other.page.getByText('Bản sao của BASIC-1').first().waitFor()
  await judgeBothWidths(other.page, 'catalog-proposed-vi-dark')
  await other.page.goBack()
  await other.page.getByRole('button', { name: 'Duyệt' }).click()
  await other.page.getByRole('dialog').getByRole('button', { name: 'Duyệt' }).click()
  await other.page.getByRole('dialog').waitFor({ state: 'detached' })
  await openPage(other.page, `${portal.url}/operator/catalog`)
  await other.page.getByText('đang chờ và có hiệu lực từ').waitFor()
  await judgeBothWidths(other.page, 'catalog-waiting-vi-dark')
  await other.page.getByRole('button', { name: 'Rút lại' }).click()
  const withdrawal = other.page.getByRole('dialog')
  await withdrawal.getByLabel('Lý do').fill('Chờ thêm một quý')
  await withdrawal.getByRole('button', { name: 'Rút lại' }).click()
  await withdrawal.waitFor({ state: 'detached' })
  await other.page.getByText('đang chờ và có hiệu lực từ').waitFor({ state: 'detached' })
  // The trail describes it in words.
  await openPage(other.page, `${portal.url}/operator/trail`)
  await other.page.getByText('BASIC-2 price VND: 189000 → 250000').first().waitFor()
  expect([complaints, other.complaints]).toEqual([[], []])
})
