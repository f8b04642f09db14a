/**
 * A coupon in a real browser: made at the desk, typed by a customer before the order is paid, and
 * shown on the invoice. With PICTURES=folder pictures are saved there.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../portal.ts'
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

const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
let portal: TestPortal
let browser: Browser
let finance: TestMember
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal({ catalogText: shipped }), openBrowser()])
  finance = await newMember(portal, 'finance')
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const deskOf = (look: Look = {}) => visitDesk(browser, portal, finance, look)

test('a coupon is made at the desk, and lists are whole in both looks', async () => {
  const { page, complaints } = await deskOf()
  await openPage(page, `${portal.url}/operator/coupons`)
  await page.getByRole('button', { name: 'Make coupon' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Code').fill('tet-2027')
  await dialog.getByLabel('Amount off, at most').fill('50000')
  await dialog.getByLabel('Percent off').fill('20')
  await dialog.getByLabel('How many orders may use it').fill('20')
  const plans = dialog.getByRole('group', { name: 'Plans' })
  for (const name of ['BASIC-1', 'BASIC-2']) await plans.getByLabel(name, { exact: true }).check()
  await dialog.getByLabel('Reason').fill('Tết 2027')
  await judgeBothWidths(page, 'coupon-make-en-light')
  await dialog.getByRole('button', { name: 'Make coupon' }).click()
  await page.getByText('TET2027').waitFor()
  await page.getByText(/for BASIC-1, BASIC-2/).waitFor()
  await judgeBothWidths(page, 'coupons-en-light')
  expect(complaints).toEqual([])
  const other = await deskOf({ language: 'vi', theme: 'dark' })
  await openPage(other.page, `${portal.url}/operator/coupons`)
  await other.page.getByText('TET2027').waitFor()
  await judgeBothWidths(other.page, 'coupons-vi-dark')
  expect(other.complaints).toEqual([])
})

test.each([
  {
    look: { language: 'en', theme: 'light' },
    user: 'User name',
    review: 'Review and confirm',
    have: 'I have a coupon',
    label: 'Coupon code',
    apply: 'Apply',
    wrong: 'This coupon is not valid, or is used up.',
    applied: 'Coupon TET2027: 43.600 đ off the first month.',
    confirm: 'Confirm · 174.400 đ',
    ready: 'Your server is ready',
  },
  {
    look: { language: 'vi', theme: 'dark' },
    user: 'Tên đăng nhập',
    review: 'Xem lại và xác nhận',
    have: 'Tôi có mã giảm giá',
    label: 'Mã giảm giá',
    apply: 'Áp dụng',
    wrong: 'Mã giảm giá không hợp lệ hoặc đã hết lượt dùng.',
    applied: 'Mã TET2027: giảm 43.600 đ cho tháng đầu tiên.',
    confirm: 'Xác nhận · 174.400 đ',
    ready: 'Máy chủ đã sẵn sàng',
  },
] as const)(
  'a customer types it before paying, in $look.language',
  async (words) => {
    const an = await portal.customer()
    await portal.topUp(an, 500_000)
    const { page, complaints } = await visitAs(browser, {
      ...words.look,
      customer: an,
      viewport: wide,
    })
    await openPage(page, `${portal.url}/wordpress/create`)
    await page.getByRole('radio').first().check({ force: true })
    await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
    for (const group of await page.getByRole('radio', { name: /10 GB/ }).all())
      await group.check({ force: true })
    await page.getByLabel(words.user).fill('an')
    await page.locator('#order input[type=password]').fill('Mat-khau-9!')
    await page.getByRole('button', { name: words.review }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: words.have }).click()
    await dialog.getByLabel(words.label).fill('GUESSED')
    await dialog.getByRole('button', { name: words.apply }).click()
    await dialog.getByText(words.wrong).waitFor()
    await dialog.getByLabel(words.label).fill('tet 2027')
    await dialog.getByRole('button', { name: words.apply }).click()
    await dialog.getByText(words.applied).waitFor()
    await judgeBothWidths(page, `coupon-order-${words.look.language}-${words.look.theme}`)
    await dialog.getByRole('button', { name: words.confirm }).click()
    await page.getByRole('heading', { name: words.ready }).waitFor({ timeout: 90_000 })
    const { balance } = await portal.app.ledger.balanceOf(portal.app.db, an.id)
    expect(balance).toBe(500_000n - 174_400n)
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  },
  180_000,
)
