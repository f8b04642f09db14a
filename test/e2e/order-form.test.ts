/**
 * The order form in a real browser: it says what is missing, and asks before filled-in data is
 * lost.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  violations,
  visitAs,
  type Look,
  type Visit,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
let fresh: TestCustomer

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  fresh = await portal.customer()
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** A visitor with English texts unless the test asks for another language. */
const open = (look: Look = {}): Promise<Visit> =>
  visitAs(browser, { theme: 'light', language: 'en', ...look })
const go = (page: Page, path: string): Promise<void> => openPage(page, `${portal.url}${path}`)

describe('/wordpress/create', () => {
  const words = {
    en: {
      region: 'Choose a data center',
      plan: 'Choose a size plan',
      disk: 'Choose an SSD disk',
      low: (gb: number) => `SSD disk: at least ${gb} GB`,
      mariadb: 'Choose a MariaDB disk',
      user: 'Enter a user name',
      password: 'Enter a valid password',
      review: 'Review and confirm',
      userLabel: 'User name',
      passwordLabel: 'Password',
      custom: /^Custom/,
      customValue: 'SSD disk, number of GB',
      weak: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
    },
    vi: {
      region: 'Chọn trung tâm dữ liệu',
      plan: 'Chọn cấu hình',
      disk: 'Chọn ổ đĩa SSD',
      low: (gb: number) => `Ổ SSD: tối thiểu ${gb} GB`,
      mariadb: 'Chọn ổ đĩa MariaDB',
      user: 'Nhập tên đăng nhập',
      password: 'Nhập mật khẩu hợp lệ',
      review: 'Xem lại và xác nhận',
      userLabel: 'Tên đăng nhập',
      passwordLabel: 'Mật khẩu',
      custom: /^Tuỳ chọn/,
      customValue: 'Ổ đĩa SSD, số GB',
      weak: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
    },
  } as const

  test.each(['en', 'vi'] as const)(
    'what is missing is said at the button that waits for it, one thing after the other (%s)',
    async (language) => {
      const t = words[language]
      const { page, context } = await open({ language, customer: fresh })
      await go(page, '/wordpress/create')
      const summary = page.getByRole('complementary', { name: /Monthly cost|Chi phí mỗi tháng/ })
      const button = summary.getByRole('button', { name: t.review })
      const says = (text: string, enabled = false) =>
        expect
          .poll(async () => [
            await summary.getByText(text, { exact: true }).isVisible(),
            await button.isEnabled(),
          ])
          .toEqual([true, enabled])
      const choose = (name: RegExp, at = 0) =>
        page.getByRole('radio', { name }).nth(at).check({ force: true })

      await says(t.region)
      // Tokyo has the id 5, and therefore a minimum of 20 GB.
      await choose(/Tokyo/)
      await says(t.plan)
      await choose(/BASIC-1/)
      await says(t.disk)
      await choose(/^10 GB/)
      await says(t.low(20))
      await choose(t.custom)
      await page.getByRole('textbox', { name: t.customValue }).fill('19')
      await says(t.low(20))
      await page.getByRole('textbox', { name: t.customValue }).fill('')
      await says(t.disk)
      await page.getByRole('textbox', { name: t.customValue }).fill('20')
      await says(t.mariadb)
      await choose(/Hà Nội/)
      await page.getByRole('textbox', { name: t.customValue }).fill('9')
      await says(t.low(10))
      await choose(/^10 GB/)
      await says(t.mariadb)
      await choose(/^10 GB/, 1)
      await says(t.user)
      await page.getByLabel(t.userLabel).fill('binh')
      await says(t.password)
      const password = page.getByRole('region', { name: /WordPress admin|quản trị WordPress/ })
      expect(await password.getByRole('listitem').count()).toBe(3)
      for (const weak of ['Ab1!', 'abcdefgh1', 'abcdefgh!', 'Abcdefgh']) {
        await page.getByLabel(t.passwordLabel, { exact: true }).fill(weak)
        await says(t.password)
        expect(
          await page
            .getByText(language === 'vi' ? t.weak : /8 characters|8 kí tự/)
            .first()
            .isVisible(),
        ).toBe(true)
      }
      await page.getByLabel(t.passwordLabel, { exact: true }).fill('Another#1pass')
      await says(t.review, true)
      await button.click()
      await page.getByRole('dialog').getByText('218.000').first().waitFor()
      expect(await violations(page)).toEqual([])
      await context.close()
    },
  )

  test('a number that is none, or too many, is never read as another one', async () => {
    const { page, context } = await open({ customer: fresh })
    await go(page, '/wordpress/create')
    const summary = page.getByRole('complementary', { name: 'Monthly cost' })
    const choose = (name: RegExp) =>
      page.getByRole('radio', { name }).first().check({ force: true })
    await choose(/Hà Nội/)
    await choose(/BASIC-1/)
    await choose(/^Custom/)
    const disk = page.getByRole('textbox', { name: 'SSD disk, number of GB' })
    for (const [typed, said] of [
      ['15.5', 'Choose an SSD disk'],
      ['10240', 'SSD disk: at most 195 GB'],
    ] as const) {
      await disk.fill('')
      await disk.pressSequentially(typed)
      await summary.getByText(said, { exact: true }).waitFor()
      expect(await disk.inputValue()).toBe(typed)
    }
    const containers = page.getByRole('spinbutton')
    for (const [typed, left] of [
      ['2.5', '2'],
      ['-3', '2'],
      ['51', '50'],
      ['0', '1'],
    ] as const) {
      await containers.fill('')
      await containers.pressSequentially(typed)
      await containers.blur()
      await expect.poll(() => containers.inputValue(), { message: typed }).toBe(left)
    }
    await context.close()
  })

  test('leaving with filled fields asks first, and only then', async () => {
    const { page, context } = await open({ customer: fresh })
    await go(page, '/wordpress')
    await page.getByRole('link', { name: 'New WordPress' }).first().click()
    await page.waitForURL(/create$/)
    await page.goBack()
    await page.waitForURL(/\/wordpress$/)
    await page.goForward()
    await page.getByLabel('User name').fill('binh')
    await page.getByRole('link', { name: 'Overview' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Leave this page?' })
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByLabel('User name').inputValue()).toBe('binh')
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await dialog.getByRole('button', { name: 'Leave page' }).click()
    await page.waitForURL(`${portal.url}/`)
    await context.close()
  })
})
