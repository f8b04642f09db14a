/**
 * The main job by keyboard alone: register, activate, sign in, top up, order a WordPress server,
 * open it, sign out. STEPS=<file> writes the steps down as Markdown.
 */
import { writeFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, visit } from './browser.ts'
import { Keyboard } from './keyboard.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const person = {
  name: 'Trần Thị Bình',
  email: 'binh@example.vn',
  phone: '0912345678',
  password: 'Mot-con-vit-9',
}

test(
  'register, activate, sign in, top up, order, open, sign out',
  { timeout: 120_000 },
  async () => {
    const { page, context, complaints } = await visit(browser, { locale: 'vi-VN' })
    const keys = new Keyboard(page)
    const button = (name: string | RegExp) =>
      page.getByRole('button', { name }).filter({ visible: true }).first()
    const link = (name: string | RegExp) =>
      page.getByRole('link', { name }).filter({ visible: true }).first()
    const radio = (name: RegExp, at = 0) => page.getByRole('radio', { name }).nth(at)

    await page.goto(`${portal.url}/`)
    await page.waitForURL(/\/login/)
    await keys.go(link('Tạo tài khoản'))
    await keys.arrivesAt('Tạo tài khoản')
    await keys.fill(page.getByLabel('Họ và tên'), person.name)
    await keys.fill(page.getByLabel('Email'), person.email)
    await keys.fill(page.getByLabel('Điện thoại'), person.phone)
    await keys.fill(page.getByLabel('Mật khẩu', { exact: true }), person.password, true)
    await keys.press('Enter')

    // The code is the page's purpose, so its field has the focus.
    const field = page.getByLabel('Mã OTP').first()
    await page.getByRole('heading', { level: 1, name: 'Xác nhận số điện thoại' }).waitFor()
    await expect.poll(() => field.evaluate((one) => one === document.activeElement)).toBe(true)
    const code = await eventually(
      'the activation code',
      async () => /\b\d{6}\b/.exec((await portal.inbox('+84912345678'))[0]?.text ?? '')?.[0],
    )
    await keys.type(code, true)
    await keys.arrivesAt('Đăng nhập')
    await keys.fill(page.getByLabel('Email'), person.email)
    await keys.fill(page.getByLabel('Mật khẩu', { exact: true }), person.password, true)
    await keys.press('Enter')

    await keys.arrivesAt('Tổng quan')
    await keys.go(page.getByRole('main').getByRole('link', { name: 'Nạp ví' }).first())
    await keys.arrivesAt('Nạp ví')
    await keys.forward(radio(/^100\.000/))
    await keys.down(radio(/^500\.000/))
    await keys.forward(radio(/VietQR/))
    await keys.down(radio(/VN Pay/))
    await keys.go(button(/^Nạp 500\.000/))
    await page.waitForURL(/vpcpay/)
    await keys.go(button(/^(Thanh toán|Pay)/))
    await page.waitForURL(/\/api\/payments\/success/)
    await page.getByText('500.000').first().waitFor()
    await keys.go(link('Về trang tổng quan'))

    await keys.arrivesAt('Tổng quan')
    await keys.go(page.getByRole('main').getByRole('link', { name: 'Tạo WordPress' }).first())
    await keys.arrivesAt('Tạo máy chủ WordPress')
    await keys.forward(radio(/Hà Nội/))
    await keys.press('Space')
    await keys.forward(radio(/BASIC-1/))
    await keys.press('Space')
    for (const at of [0, 1]) {
      await keys.forward(radio(/^10 GB/, at))
      await keys.press('Space')
    }
    await keys.fill(page.getByLabel('Tên đăng nhập'), 'binh')
    await keys.fill(page.getByLabel('Mật khẩu', { exact: true }), 'Another#1pass', true)
    await keys.go(button('Xem lại và xác nhận'))
    await page.getByRole('dialog').getByText('Xác nhận thông tin').waitFor()
    await keys.go(page.getByRole('dialog').getByRole('button', { name: /^Xác nhận/ }))

    await keys.arrivesAt('Đang tạo máy chủ')
    // As long as a server takes to start.
    await keys.arrivesAt('Thông tin máy chủ', 90_000)
    await keys.forward(page.getByRole('tab', { selected: true }))
    await keys.back(button(/^Tài khoản/))
    await keys.press('Enter')
    await keys.down(page.getByRole('menuitem', { name: 'Đăng xuất' }))
    await keys.press('Enter')
    await keys.arrivesAt('Đăng nhập')
    expect(await page.evaluate(() => sessionStorage.getItem('accessToken'))).toBeNull()
    expect(complaints).toEqual([])
    await context.close()

    const file = process.env['STEPS']
    if (file !== undefined)
      writeFileSync(
        file,
        '# The main job by keyboard alone\n\n' +
          `${keys.steps.map((step, at) => `${at + 1}. ${step}`).join('\n')}\n`,
      )
  },
)
