/**
 * The whole journey in a browser: register, activate, sign in, top up through VNPay, order
 * WordPress, watch it start, sign in to its wp-admin.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, visit } from './browser.ts'

let portal: TestPortal
let browser: Browser

beforeAll(async () => {
  portal = await openTestPortal({ wordpress: 'real' })
  browser = await openBrowser()
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const person = {
  name: 'Trần Thị Bình',
  email: 'binh@example.vn',
  phone: '0912 345 678',
  password: 'Mot-con-vit-9',
}
const admin = { user: 'binh', password: 'Another#1pass' }

test(
  'a visitor becomes a customer with a running WordPress server',
  { timeout: 180_000 },
  async () => {
    const { page, context, complaints } = await visit(browser)

    // A visitor without a session is sent to the sign-in.
    await page.goto(`${portal.url}/wordpress`)
    await page.waitForURL(/\/login/)
    await page.getByRole('link', { name: 'Create account' }).click()

    await page.getByLabel('Full name').fill(person.name)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Phone').fill(person.phone)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByLabel('Billing region').selectOption('VN')
    await page.getByRole('button', { name: 'Create account' }).click()

    await page.waitForURL(/\/check-otp/)
    await page.getByText('Create account success,now confirm your phone number !').waitFor()
    const code = await eventually(
      'the activation code',
      async () => /\b\d{6}\b/.exec((await portal.inbox('+84912345678'))[0]?.text ?? '')?.[0],
    )
    await page.getByLabel('One-time code').first().fill(code)
    // Six digits may submit the form by themselves.
    const confirm = page.getByRole('button', { name: 'Confirm' })
    if (await confirm.isVisible()) await confirm.click({ timeout: 2000 }).catch(() => undefined)

    await page.waitForURL(/\/login/)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.pathname === '/' || url.pathname === '/wordpress')

    // From here on in the region's language: Vietnamese.
    await page.goto(`${portal.url}/payment`)
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('vi')
    await page.getByRole('radio', { name: /^500\.000/ }).check({ force: true })
    await page.getByRole('radio', { name: /VN Pay/ }).check({ force: true })
    await page
      .getByRole('button', { name: /Nạp 500\.000/ })
      .first()
      .click()
    await page.waitForURL(/vpcpay/)
    await page
      .getByRole('button', { name: /^(Thanh toán|Pay)/ })
      .first()
      .click()
    await page.waitForURL(/\/api\/payments\/success\?transId=/)
    await page.getByText('500.000').first().waitFor()
    const balance = await eventually('the balance', async () => {
      const { balance: held } = await portal.app.ledger.balanceOf(portal.app.db, await customerId())
      return held === 500_000n ? held : undefined
    })
    expect(balance).toBe(500_000n)

    await page.goto(`${portal.url}/wordpress/create`)
    await page.getByRole('radio', { name: /Hà Nội/ }).check({ force: true })
    await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
    const disks = page.getByRole('radio', { name: /^10 GB/ })
    await disks.nth(0).check({ force: true })
    await disks.nth(1).check({ force: true })
    await page.getByLabel('Tên đăng nhập').fill(admin.user)
    await page.getByLabel('Mật khẩu', { exact: true }).fill('weak')
    await page
      .getByText('Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !')
      .waitFor()
    await page.getByLabel('Mật khẩu', { exact: true }).fill(admin.password)
    await page.getByRole('button', { name: 'Xem lại và xác nhận' }).first().click()
    await page.getByRole('dialog').getByText('Xác nhận thông tin').waitFor()
    // Limits of the plan are shown before the payment.
    await page.getByRole('dialog').getByText('tối đa 100 thư mỗi giờ').waitFor()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Xác nhận/ })
      .click()

    await page.waitForURL(/\/wordpress-progress\//, { timeout: 20_000 })
    await page.waitForURL(/\/wordpress\/[0-9a-f-]{36}/, { timeout: 90_000 })
    await page.getByRole('heading', { name: 'Thông tin máy chủ' }).waitFor()
    await page.getByText('Hà Nội').first().waitFor()

    // The site answers on its own host name, and the ordered sign-in opens wp-admin.
    const site =
      (await page.getByRole('link', { name: 'Xem trang' }).first().getAttribute('href')) ?? ''
    expect(site).toMatch(/^http:\/\/[a-z0-9-]+\.localhost:\d+\/?$/)
    const wordpress = await context.newPage()
    await wordpress.goto(new URL('/wp-admin/', site).href)
    // WordPress moves the focus there shortly after the page has loaded; text typed before would
    // end up in the wrong field.
    await wordpress.locator('#user_login:focus').waitFor()
    await wordpress.locator('#user_login').fill(admin.user)
    await wordpress.locator('#user_pass').fill(admin.password)
    await wordpress.locator('#wp-submit').click()
    await wordpress.waitForURL(/\/wp-admin\/$/)
    await wordpress.locator('#wpadminbar').waitFor()
    await wordpress.close()

    // The live log shows what just happened.
    await page.getByRole('tab', { name: 'Nhật ký' }).click()
    await page
      .getByText(/POST \/wp-login\.php/)
      .first()
      .waitFor()

    await page.goto(`${portal.url}/transactions`)
    await page.getByText('+500.000').first().waitFor()
    await page.getByText('−218.000').first().waitFor()
    await portal.ledgerHolds()
    expect(complaints).toEqual([])
  },
)

async function customerId(): Promise<string> {
  const { id } = await portal.app.db
    .selectFrom('customer')
    .select('id')
    .where('email', '=', person.email)
    .executeTakeFirstOrThrow()
  return id
}
