/**
 * Sentences of the error catalogue that no other browser test shows, each provoked on its screen:
 * by refusals, by a lost network, by a hesitating provider.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { stripeBrowser, testCards } from '../stripe-browser.ts'
import { simulatedWordpress } from '../simulated-wordpress.ts'
import { endVisits, keepBothWidths, openBrowser, settled, visitAs, type Visit } from './browser.ts'

let folder: string
let portal: TestPortal
let browser: Browser
/** A connection to the database of the card provider's stand-in. */
let provider: pg.Client
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-sentences-'))
  // As root, the sites' own users read the files that sites are made from.
  fs.chmodSync(folder, 0o755)
  // Long enough for its progress to be seen.
  const wordpress = simulatedWordpress(folder, { bootMs: 2_000 })
  ;[portal, browser] = await Promise.all([openTestPortal({ wordpress }), openBrowser()])
  provider = new pg.Client(portal.databaseUrl)
  await provider.connect()
})
afterAll(async () => {
  await endVisits(browser)
  await provider?.end()
  await portal?.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

async function open(language: 'en' | 'vi', path: string, customer?: TestCustomer): Promise<Visit> {
  const one = await visitAs(browser, { language, ...(customer === undefined ? {} : { customer }) })
  await one.page.goto(`${portal.url}${path}`)
  await settled(one.page)
  // The toaster is loaded, so that a page without a connection can still show messages.
  if (customer) await one.page.waitForLoadState('networkidle')
  return one
}
/** A notification, with its title. */
const notified = (page: Page, title: string, text: string, withinMs = 20_000) =>
  page
    .locator('[data-sonner-toast]')
    .filter({ has: page.getByText(title, { exact: true }) })
    .filter({ has: page.getByText(text, { exact: true }) })
    .first()
    .waitFor({ timeout: withinMs })
const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name }).filter({ visible: true }).first().click()

describe('before signing in', () => {
  test('registering, the code, and the code once more', async () => {
    const taken = await portal.customer()
    const { page, context } = await open('en', '/register')
    await page.getByLabel('Full name').fill('Trần Thị Bình')
    await page.getByLabel('Email').fill(taken.email)
    await page.getByLabel('Phone').fill('0987 654 321')
    // The error replaces the hint, which says the same.
    const hint = page.getByText('8 to 128 characters.', { exact: true })
    expect(await hint.count()).toBe(1)
    await page.getByLabel('Password', { exact: true }).fill('con-vit')
    await press(page, 'Create account')
    await page.getByText('Use 8 to 128 characters.').waitFor()
    expect(await hint.count()).toBe(0)
    await page.getByLabel('Password', { exact: true }).fill('Mot-con-vit-9')
    await press(page, 'Create account')
    await page.getByText('An account with this email already exists.').first().waitFor()
    await page.getByLabel('Email').fill('binh@example.vn')
    await press(page, 'Create account')
    await notified(page, 'Success !', 'Create account success,now confirm your phone number !')
    await page.waitForURL(/check-otp/)

    const code = await eventually(
      'the code',
      async () => /\b\d{6}\b/.exec((await portal.inbox('+84987654321'))[0]?.text ?? '')?.[0],
    )
    // Six digits are submitted by themselves: at first, and after a mistake.
    const field = page.getByLabel('One-time code').first()
    const type = (digits: string) => field.fill(digits)
    const waits = () =>
      field.evaluate((one) => one === document.activeElement && !(one as HTMLInputElement).value)
    await expect.poll(waits).toBe(true)
    await page.keyboard.type(code === '000000' ? '000001' : '000000')
    await page.getByRole('main').getByRole('alert').waitFor()
    await expect.poll(waits).toBe(true)
    const said = (await page.getByRole('main').getByRole('alert').textContent()) ?? ''
    await notified(page, 'Error !', said)

    // As the server has it: one may be asked for at once, and then once a minute.
    await press(page, 'Send the code again')
    await notified(page, 'Success !', 'OTP sent your phone number !')
    await page.goto(`${portal.url}/check-otp`)
    await page.getByLabel('Email').fill('binh@example.vn')
    await press(page, 'Send the code again')
    await page.locator('[data-sonner-toast] [role=alert]').waitFor()

    // The second SMS waits until the minute of the first one ends; the first code stays valid
    // meanwhile.
    await type(code)
    await notified(page, 'Success !', 'Success, now login to system !')
    await page.waitForURL(/\/login/)
    await context.close()
  })

  test('who mistyped the phone number mends it where the code is asked for', async () => {
    const { page, context } = await open('vi', '/register')
    await page.getByLabel('Họ và tên').fill('Lê Văn Cường')
    await page.getByLabel('Email').fill('cuong@example.vn')
    await page.getByLabel('Điện thoại').fill('0977 654 320')
    await page.getByLabel('Mật khẩu', { exact: true }).fill('Mot-con-vit-9')
    await press(page, 'Tạo tài khoản')
    await page.waitForURL(/check-otp/)
    await press(page, 'Sai số điện thoại?')
    await page.getByLabel('Điện thoại').fill('0977 654 321')
    await page.getByLabel('Mật khẩu', { exact: true }).fill('khong-phai-no')
    await press(page, 'Gửi mã tới số này')
    await page.getByText('Đăng nhập thất bại, vui lòng thử lại !').waitFor()
    await page.getByLabel('Mật khẩu', { exact: true }).fill('Mot-con-vit-9')
    await press(page, 'Gửi mã tới số này')
    await notified(page, 'Thành công !', 'Đã gửi OTP tới số điện thoại của bạn !')
    const code = await eventually(
      'the code',
      async () => /\b\d{6}\b/.exec((await portal.inbox('+84977654321'))[0]?.text ?? '')?.[0],
    )
    await page.getByLabel('Mã OTP').first().fill(code)
    await page.waitForURL(/\/login/)
    await context.close()
  })
})

describe('money', () => {
  test("a top-up whose gateway is away: 'Please try again !', for eight seconds", async () => {
    const an = await portal.customer()
    const { page, context } = await open('en', '/payment?amount=100000', an)
    await page.getByRole('radio', { name: /VN Pay/ }).check({ force: true })
    await context.setOffline(true)
    await press(page, /^Top up/)
    await notified(page, 'Error !', 'Please try again !')
    const began = Date.now()
    await page.locator('[data-sonner-toast]').waitFor({ state: 'detached' })
    const shownMs = Date.now() - began
    expect(shownMs).toBeGreaterThan(7000)
    expect(shownMs).toBeLessThan(12_000)
    await context.close()
  })

  const secretOf = async ({ token }: TestCustomer): Promise<string> =>
    (await portal.call<{ client_secret: string }>('GET', '/api/v1/auth/card', { token })).body
      .result.client_secret
  const confirm = (secret: string, number: string) =>
    stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '').confirm(
      secret,
      { number },
    )
  async function linked(customer: TestCustomer, number: string): Promise<void> {
    const { payment_method: methodId } = await confirm(await secretOf(customer), number)
    await portal.call('PUT', '/api/payments/stripe/attach', {
      token: customer.token,
      body: { methodId },
    })
  }
  /** The provider keeps the payment in processing, as banks in some countries do. */
  const keepProcessing = (kind: 'setup_intent' | 'payment_intent', id?: string) =>
    provider.query(
      `update sandbox.stripe_objects set data = jsonb_set(data, '{status}', '"processing"')
       where kind = $1 and ($2::text is null or id = $2) and data->>'status' <> 'succeeded'`,
      [kind, id ?? null],
    )

  test('linking a card that is processed, that has failed, that cannot be attached', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const waiting = await secretOf(an)
    const { page, context } = await open(
      'en',
      `/link-card?setup_intent_client_secret=${waiting}`,
      an,
    )
    await page
      .getByRole('alert')
      .getByText('Failed to process payment details. Please try another payment method.')
      .waitFor()
    await keepProcessing('setup_intent', waiting.split('_secret_')[0])
    await page.reload()
    await page
      .getByText("Processing payment details. We'll update you when processing is complete")
      .waitFor()

    const done = await secretOf(an)
    await confirm(done, testCards.visa)
    await page.route('**/api/payments/stripe/attach', (route) => route.abort('connectionfailed'))
    await page.goto(`${portal.url}/link-card?setup_intent_client_secret=${done}`)
    await page.getByText('Success! Your payment method has been saved').waitFor()
    await notified(page, 'Error !', 'Can not attach method payment !')
    await context.close()
  })

  test('paying by card: the provider refuses the request, hesitates, and is content', async () => {
    const an = await portal.customer({ region: 'AUD' })
    for (const number of [testCards.visa, testCards.asksAlways]) await linked(an, number)
    const { page, context } = await open('vi', '/payment?amount=20&type=card', an)
    const pay = async (last4: string) => {
      await page.getByRole('radio', { name: new RegExp(last4) }).check()
      await press(page, /^Xác nhận/)
    }
    // Another tab was faster: the provider is already processing it.
    await page.route('**/v1/payment_intents/*/confirm', async (route) => {
      await keepProcessing('payment_intent')
      await route.continue()
    })
    await context.route('**/v1/payment_intents/*/confirm', async (route) => {
      await keepProcessing('payment_intent')
      await route.continue()
    })
    await pay('4242')
    await notified(
      page,
      'Lỗi !',
      'You cannot confirm this PaymentIntent because it has a status of processing.',
    )
    await page.unrouteAll()
    await context.unrouteAll()
    await page.goto(`${portal.url}/payment?amount=30&type=card`)
    await settled(page)

    await pay('3184')
    const bank = page.frameLocator('iframe[title="3-D Secure"]')
    await bank.getByRole('button', { name: /Confirm/ }).waitFor()
    await keepProcessing('payment_intent')
    await bank.getByRole('button', { name: /Confirm/ }).click()
    await notified(page, 'Không thành công !', 'Có lỗi xảy ra vui lòng thử lại !')

    await page.goto(`${portal.url}/payment?amount=40&type=card`)
    await settled(page)
    await pay('4242')
    await notified(page, 'Thành công!', 'Xác nhận thanh toán thành công !')
    await context.close()
  })
})

describe('servers', () => {
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }

  /** Fills the form in, and opens the review. */
  async function review(page: Page, plan: RegExp): Promise<void> {
    await page.getByRole('radio', { name: /Hà Nội/ }).check({ force: true })
    await page.getByRole('radio', { name: plan }).check({ force: true })
    for (const at of [0, 1])
      await page
        .getByRole('radio', { name: /^10 GB/ })
        .nth(at)
        .check({ force: true })
    await page.getByLabel('User name').fill('binh')
    await page.getByLabel('Password', { exact: true }).fill('Another#1pass')
    await press(page, 'Review and confirm')
    await confirmation(page).waitFor()
  }
  const confirmation = (page: Page) =>
    page.getByRole('dialog').getByRole('button', { name: /^Confirm/ })

  test("an order that nobody answers: 'Fail to create Wordpress!'", async () => {
    const { page, context } = await open('en', '/wordpress/create', await portal.customer())
    await review(page, /BASIC-1/)
    await context.setOffline(true)
    await confirmation(page).click()
    await notified(page, 'Error !', 'Fail to create Wordpress!')
    await context.close()
  })

  test('an order that the server refuses says what it said: the plan was withdrawn', async () => {
    const { page, context } = await open('en', '/wordpress/create', await portal.customer())
    await review(page, /PRO-16/)
    await portal.reopen({
      changeCatalog: (catalog) => ({
        ...catalog,
        plans: catalog.plans.filter(({ name }) => name !== 'PRO-16'),
      }),
    })
    const refused = page.waitForResponse(
      (answer) => answer.url().endsWith('/api/wp') && answer.status() === 422,
    )
    await confirmation(page).click()
    const { message } = (await (await refused).json()) as { message: string }
    await notified(page, 'Error !', message)
    // The focus moves to the message.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('order-refusal')
    await portal.reopen()
    await context.close()
  })

  test(
    "the progress in Vietnamese, and 'Let's Panel WordPress now !' in English",
    { timeout: 180_000 },
    async () => {
      const an = await portal.customer()
      const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
        token: an.token,
        body: order,
      })
      const { id } = placed.body.result
      await eventually('the refused payment', async () => {
        const { body } = await portal.call<{ invoice: { amount_due: number } | null }>(
          'GET',
          `/api/wp/${id}`,
          { token: an.token },
        )
        return (body.result.invoice?.amount_due ?? 0) > 0
      })
      const [vi, en] = [
        await open('vi', `/wordpress-progress/${id}`, an),
        await open('en', `/wordpress-progress/${id}`, an),
      ]
      const working = vi.page
        .getByText('Quá trình đang diễn ra, vui lòng đợi trong giây lát')
        .first()
        .waitFor()
      await vi.page.locator('a[href="/payment?amount=218000"]').waitFor()
      await portal.topUp(an, 300_000)
      await working
      await notified(en.page, 'Success !', "Let's Panel WordPress now !", 90_000)
      await en.page.waitForURL(`${portal.url}/wordpress/${id}`)
      await vi.page.getByRole('heading', { level: 1, name: 'Thông tin máy chủ' }).waitFor()
      await vi.context.close()

      // The wallet's balance is too small for any of these.
      const { page, context } = en
      await page.getByRole('tab', { name: 'Disk', exact: true }).click()
      await press(page, 'Upgrade')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('New size, GB').fill('9')
      await dialog.getByText('The disk must be at least 10GB!').waitFor()
      await dialog.getByLabel('New size, GB').fill('190')
      // The shortfall is shown before the confirmation, with a link to the top-up.
      await dialog.getByText(/^Wallet 82\.000\sđ · short by about /).waitFor()
      const topUp = dialog.getByRole('link', { name: /^Top up / })
      expect(await topUp.getAttribute('href')).toMatch(/^\/payment\?amount=[1-9]\d{5}$/)
      await keepBothWidths(page, 'disk-short', false)
      await dialog.getByRole('button', { name: 'Upgrade' }).click()
      await notified(page, 'Error !', 'Update Disk Fail !')
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Configuration' }).click()
      await press(page, 'Buy PRO-16')
      await dialog.getByRole('button', { name: 'Buy' }).click()
      await notified(page, 'Error !', 'Update Size Fail !')
      await page.keyboard.press('Escape')

      await page.getByRole('tab', { name: 'Runtime Logs' }).click()
      await page
        .getByText(/GET \//)
        .first()
        .waitFor()
      await page.getByRole('tab', { name: 'General info' }).click()
      await context.setOffline(true)
      await page.getByRole('tab', { name: 'Runtime Logs' }).click()
      await page
        .getByRole('alert')
        .getByText(`Fail ! Can not connect to /api/wp/${id}/log`)
        .waitFor()
      await context.close()
    },
  )
})

describe('domains', () => {
  test('one that another tab deleted, one that nobody may have: the server says so', async () => {
    const an = await portal.customer()
    const created = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: an.token,
      body: { name: 'tiem-may.com.vn' },
    })
    const { page, context } = await open('en', '/dns', an)
    const dialog = page.getByRole('dialog')
    const refusal = async (status: number, name: RegExp) => {
      const refused = page.waitForResponse(
        (answer) => answer.url().includes('/api/dns') && answer.status() === status,
      )
      await dialog.getByRole('button', { name }).click()
      return (await (await refused).json()) as {
        message: string
        error: { fields?: Record<string, string> }
      }
    }
    await press(page, /^Delete/)
    await dialog.getByRole('button', { name: /^Delete/ }).waitFor()
    await portal.call('DELETE', `/api/dns/${created.body.result.id}`, { token: an.token })
    await notified(page, 'Error !', (await refusal(404, /^Delete/)).message)
    await page.keyboard.press('Escape')

    await press(page, 'Create domain')
    await dialog.getByLabel('Domain').fill('com.vn')
    const { error } = await refusal(422, /Confirm/)
    const [text = ''] = Object.values(error.fields ?? {})
    expect(text).not.toBe('')
    await notified(page, 'Error !', text)
    await context.close()
  })

  test('that cannot be added or deleted, because nobody answers', async () => {
    const an = await portal.customer()
    const created = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: an.token,
      body: { name: 'tiem-banh.com.vn' },
    })
    expect(created.status).toBe(201)
    const { page, context } = await open('en', '/dns', an)
    const dialog = page.getByRole('dialog')
    await press(page, 'Create domain')
    await dialog.getByLabel('Domain').fill('tiem-hoa.com.vn')
    await context.setOffline(true)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await notified(page, 'Error !', 'Fail to add domain!')
    await context.setOffline(false)
    await page.keyboard.press('Escape')
    await press(page, /^Delete/)
    await dialog.getByRole('button', { name: /^Delete/ }).waitFor()
    await context.setOffline(true)
    await dialog.getByRole('button', { name: /^Delete/ }).click()
    await notified(page, 'Error !', 'Fail to delete domain!')
    await context.close()
  })
})
