/** Links that lead to what is to be done, also through a registration. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { smallestOrder } from '../ordered-servers.ts'
import { eventually, openTestPortal, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, openPage, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const password = 'Mot-con-vit-9'

/** From the sign-in, without an account, to whichever page follows the sign-in. */
async function registerAndSignIn(page: Page, { email, phone }: { email: string; phone: string }) {
  await page.waitForURL(/\/login\?/)
  await page.getByRole('link', { name: 'Create account' }).click()
  await page.getByLabel('Full name').fill('Trần Thị Bình')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Phone').fill(phone)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Billing region').selectOption('VN')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(/\/check-otp/)
  const code = await eventually(
    'the activation code',
    async () => /\b\d{6}\b/.exec((await portal.inbox(phone))[0]?.text ?? '')?.[0],
  )
  // Six digits submit the form by themselves.
  await page.getByLabel('One-time code').first().fill(code)
  await page.waitForURL(/\/login/)
  await expect.poll(() => page.getByLabel('Email').inputValue()).toBe(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test("a plan of the provider's own site is still chosen after the registration", async () => {
  const { page, context, complaints } = await visitAs(browser, { language: 'en' })
  await page.goto(`${portal.url}/wordpress/create?plan=basic-2&region=6&coupon=TET-2027`)
  await registerAndSignIn(page, { email: 'chi@example.vn', phone: '+84912345601' })
  await page.waitForURL(/\/wordpress\/create\?/)
  // The customer's language follows the region.
  const plan = page.getByRole('radio', { name: /BASIC-2/ })
  await expect.poll(() => plan.isChecked()).toBe(true)
  expect(await page.locator('input[name=region]:checked').getAttribute('value')).toBe('6')

  // What is chosen afterwards stays, and the coupon waits for its button.
  await page.getByRole('radio', { name: /BASIC-1/ }).check()
  for (const group of await page.getByRole('radio', { name: /10 GB/ }).all())
    await group.check({ force: true })
  await page.getByLabel('Tên đăng nhập').fill('an')
  await page.getByLabel('Mật khẩu', { exact: true }).fill('Mat-khau-9!')
  await page.getByRole('button', { name: 'Xem lại và xác nhận' }).click()
  const dialog = page.getByRole('dialog')
  const coupon = dialog.getByRole('textbox')
  await coupon.waitFor()
  expect(await coupon.inputValue()).toBe('TET-2027')
  await dialog.getByText(/BASIC-1/).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

test('an invitation waits for who must register first, and no other site follows', async () => {
  const { page, context } = await visitAs(browser, { language: 'en' })
  await page.goto(`${portal.url}/account/team#not-a-token`)
  await registerAndSignIn(page, { email: 'dung@example.vn', phone: '+84912345602' })
  await page.waitForURL(/\/account\/team#not-a-token/)
  await context.close()

  const stranger = await visitAs(browser, { language: 'en' })
  await openPage(stranger.page, `${portal.url}/register?next=//evil.example/`)
  const link = stranger.page.getByRole('link', { name: 'Sign in' })
  expect(await link.getAttribute('href')).toBe('/login')
  await stranger.context.close()
})

test('“Pay now” leads to what is unpaid, which the list names', async () => {
  const an = await portal.customer()
  const { page, context, complaints } = await visitAs(browser, { language: 'en', customer: an })
  const order = async () => {
    const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: an.token,
      body: smallestOrder,
    })
    const { id } = placed.body.result
    return (await portal.call<{ name: string }>('GET', `/api/wp/${id}`, { token: an.token })).body
      .result.name
  }
  await portal.topUp(an, 250_000)
  const paid = await order()
  await eventually('the first order is paid', async () =>
    (
      await portal.call<{ status: string }[]>('GET', '/api/payments/stripe/invoices', {
        token: an.token,
      })
    ).body.result.some(({ status }) => status === 'paid'),
  )
  const first = await order()
  await openPage(page, portal.url)
  await page.getByRole('link', { name: 'Pay now' }).click()
  await page.waitForURL(/\/invoice\/hosted\//)
  await page.getByText(first).first().waitFor()

  const second = await order()
  await openPage(page, portal.url)
  await page.getByRole('link', { name: 'Pay now' }).click()
  await page.waitForURL(/\/invoice\?status=open$/)
  const rows = page.getByRole('row')
  for (const name of [first, second]) await rows.filter({ hasText: name }).waitFor()
  expect(await rows.filter({ hasText: paid }).count()).toBe(0)
  await page.reload()
  await rows.filter({ hasText: first }).waitFor()
  expect(await rows.filter({ hasText: paid }).count()).toBe(0)
  await page.getByText('All', { exact: true }).click()
  await rows.filter({ hasText: paid }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  expect(complaints).toEqual([])
  await context.close()
}, 180_000)

test('who closes an account with money in the wallet asks for it in a ticket', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 50_000)
  const { page, context } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/account`)
  await page.getByRole('button', { name: 'Close…' }).click()
  await page.getByRole('link', { name: 'ask us to give back what is in your wallet' }).click()
  await page.waitForURL(/\/support\?/)
  await expect
    .poll(() => page.getByLabel('Subject').inputValue())
    .toBe('Give back what is in my wallet, so that I can close the account')
  await context.close()
})
