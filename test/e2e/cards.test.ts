/**
 * Cards in a real browser: from an empty wallet through the provider's form, the bank's challenge
 * and a refusal to the new balance.
 */
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { stripeBrowser, testCards } from '../stripe-browser.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  phone,
  settled,
  sideways,
  violations,
  visit,
  visitAs,
  wide,
  type Look,
  type Visit,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** Signed in, with Australian English unless the test asks for another language. */
const open = (customer: TestCustomer, look: Look = {}): Promise<Visit> =>
  visitAs(browser, { theme: 'light', language: 'aud', ...look, customer })
const formOf = (page: Page): FrameLocator =>
  page.frameLocator('iframe[title="Secure payment input frame"]')
async function type(page: Page, number: string): Promise<void> {
  const form = formOf(page)
  await form.getByLabel('Card number').fill(number)
  await form.getByLabel('Expiration date').fill('1234')
  await form.getByLabel('Security code').fill('123')
}
const submit = (page: Page) => page.getByRole('button', { name: 'Link this card' }).click()
const balanceOf = async ({ token }: TestCustomer): Promise<number> =>
  (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result.balance

async function linked(customer: TestCustomer, number: string): Promise<void> {
  const secret = await portal.call<{ client_secret: string }>('GET', '/api/v1/auth/card', {
    token: customer.token,
  })
  const { payment_method: methodId } = await stripeBrowser(
    portal.sandboxUrl,
    portal.keysOf('stripe')['publishableKey'] ?? '',
  ).confirm(secret.body.result.client_secret, { number })
  await portal.call('PUT', '/api/payments/stripe/attach', {
    token: customer.token,
    body: { methodId },
  })
}

test('from /payment over /link-card to the new balance', { timeout: 120_000 }, async () => {
  const an = await portal.customer({ region: 'AUD' })
  const { page, context, complaints } = await open(an)
  await page.goto(`${portal.url}/payment`)
  await settled(page)
  expect(await page.getByText('Credit Card').count()).toBe(0)
  await page.getByLabel('Amount in AUD').fill('20')
  // Without a linked card there is nothing to choose: the page navigates before the radio could
  // appear checked.
  await page.getByRole('radio', { name: /Credit Card/ }).click()
  await page.waitForURL(/\/link-card\?amount=20$/)
  await settled(page)
  // The Back button keeps the amount and does not navigate forward by itself.
  await page.goBack()
  await page.waitForURL(/\/payment\?amount=20$/)
  await settled(page)
  expect(await page.getByLabel('Amount in AUD').inputValue()).toBe('20')
  await page.getByRole('radio', { name: /Credit Card/ }).click()
  await page.waitForURL(/\/link-card\?amount=20$/)
  await settled(page)

  await type(page, '4242424242424241')
  await submit(page)
  await formOf(page).getByText('Your card number is invalid.').waitFor()
  await type(page, testCards.declined)
  await submit(page)
  await page.getByRole('alert').getByText('Your card was declined.').waitFor()
  await type(page, testCards.visa)
  await submit(page)
  await page.getByText('Success! Your payment method has been saved').waitFor()
  await page.getByText('Attached method payment !').waitFor()

  await page.waitForURL(/\/payment\?amount=20&type=card$/)
  await settled(page)
  const confirm = page.getByRole('button', { name: /^Confirm / })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByRole('radio', { name: /Visa/ }).check()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: /^Confirm/ }).click()
  await page.waitForURL(/\/payments\/stripe\/success\?transId=[0-9A-Z]{26}$/)
  await page.getByRole('heading', { name: 'Top-up complete' }).waitFor()
  expect(await violations(page)).toEqual([])
  expect(await balanceOf(an)).toBe(2000)
  await page.getByRole('link', { name: 'Back to overview' }).click()
  // The closed bell contains the same words.
  await page.getByText('20.00').filter({ visible: true }).first().waitFor()
  // The only reported problem is the refused card's response.
  expect(complaints.filter((complaint) => !complaint.includes('402'))).toEqual([])
  await context.close()
})

test(
  "a refused card or challenge says so, and the same payment succeeds with the bank's yes",
  { timeout: 120_000 },
  async () => {
    const an = await portal.customer({ region: 'USD' })
    await linked(an, testCards.linkedThenDeclined)
    await linked(an, testCards.asksAlways)
    const { page, context } = await open(an, { language: 'en' })
    await page.goto(`${portal.url}/payment?amount=12.50&type=card`)
    await settled(page)
    const pay = async (last4: string) => {
      await page.getByRole('radio', { name: new RegExp(last4) }).check()
      await page.getByRole('button', { name: /^Confirm/ }).click()
    }
    const refusal = page.getByRole('main').getByRole('alert')
    await pay('0341')
    await refusal.getByText('Fail! Please try again !').waitFor()
    const bank = page.frameLocator('iframe[title="3-D Secure"]')
    await pay('3184')
    await bank.getByRole('button', { name: /Refuse/ }).click()
    await refusal.getByText('We are unable to authenticate your payment method.').waitFor()
    await pay('3184')
    await bank.getByRole('button', { name: /Confirm/ }).click()
    await page.getByRole('heading', { name: 'Top-up complete' }).waitFor()
    await eventually('the balance', async () => (await balanceOf(an)) === 1250)
    const { n } = await portal.app.db
      .selectFrom('payment')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(n).toBe(1n)
    await context.close()
  },
)

test(
  'a card is linked without a payment: it is in the list, and the form is ready for another',
  { timeout: 60_000 },
  async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { page, context } = await open(an)
    await page.goto(`${portal.url}/link-card`)
    await page.getByText('No card is linked yet.').waitFor()
    await type(page, testCards.asksOnce)
    await submit(page)
    await page
      .frameLocator('iframe[title="3-D Secure"]')
      .getByRole('button', { name: /Confirm/ })
      .click()
    await page.getByText('Success! Your payment method has been saved').waitFor()
    await page.getByRole('listitem').filter({ hasText: '3155' }).getByText('Default').waitFor()
    await settled(page)
    expect(await formOf(page).getByLabel('Card number').inputValue()).toBe('')
    expect(await violations(page)).toEqual([])
    await context.close()
  },
)

test(
  'a linked card is made the default, and unlinked after a question',
  { timeout: 60_000 },
  async () => {
    const an = await portal.customer({ region: 'AUD' })
    for (const number of [testCards.visa, testCards.amex]) await linked(an, number)
    const { page, context } = await open(an)
    await page.goto(`${portal.url}/link-card`)
    await settled(page)
    const visa = page.getByRole('listitem').filter({ hasText: '4242' })
    await visa.getByRole('button', { name: /Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Make default' }).click()
    await visa.getByText('Default').waitFor()
    await visa.getByRole('button', { name: /Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Unlink' }).click()
    const question = page.getByRole('dialog', { name: 'Unlink this card?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await visa.count()).toBe(1)
    await visa.getByRole('button', { name: /Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Unlink' }).click()
    // Without a connection it fails at once, and does not run later by itself.
    await context.setOffline(true)
    await question.getByRole('button', { name: 'Unlink' }).click()
    await page
      .getByText('The portal cannot be reached.')
      .filter({ visible: true })
      .first()
      .waitFor()
    let unlinks = 0
    page.on('request', (request) => (unlinks += request.method() === 'DELETE' ? 1 : 0))
    await context.setOffline(false)
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await openPage(page, `${portal.url}/link-card`)
    expect([unlinks, await visa.count()]).toEqual([0, 1])
    await visa.getByRole('button', { name: /Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Unlink' }).click()
    await question.getByRole('button', { name: 'Unlink' }).click()
    await visa.waitFor({ state: 'detached' })
    expect(await page.getByRole('listitem').filter({ hasText: '0005' }).count()).toBe(1)
    await context.close()
  },
)

test(
  'signing in fetches the secret for linking a card, signing out forgets it',
  { timeout: 60_000 },
  async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { page, context } = await visit(browser)
    await page.goto(`${portal.url}/login`)
    await page.getByLabel('Email').fill(an.email)
    await page.getByLabel('Password', { exact: true }).fill(an.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${portal.url}/`)
    const kept = () => page.evaluate(() => sessionStorage.getItem('client_secret'))
    const secret = await eventually('the secret', async () => (await kept()) ?? undefined)
    expect(secret).toMatch(/^seti_\w+_secret_\w+$/)
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(/\/login/)
    expect(await kept()).toBeNull()
    // A later sign-in of another customer in the same tab does not continue it either.
    await context.route('**/api/v1/auth/card', (route) => route.fulfill({ status: 500 }))
    const left = await page.context().newPage()
    await left.goto(`${portal.url}/login`)
    await left.evaluate((of) => sessionStorage.setItem('client_secret', of ?? ''), secret)
    const binh = await portal.customer({ region: 'AUD' })
    await left.getByLabel('Email').fill(binh.email)
    await left.getByLabel('Password', { exact: true }).fill(binh.password)
    await left.getByRole('button', { name: 'Sign in' }).click()
    await left.waitForURL(`${portal.url}/`)
    expect(await left.evaluate(() => sessionStorage.getItem('client_secret'))).toBeNull()
    await context.close()
  },
)

test(
  'without the provider’s script the page stays usable and can be tried again',
  { timeout: 60_000 },
  async () => {
    const an = await portal.customer({ region: 'AUD' })
    const { page, context } = await open(an)
    let away = true
    await page.route('**/stripe.js', (route) => (away ? route.abort() : route.continue()))
    await page.goto(`${portal.url}/link-card`)
    const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    await alert.waitFor()
    expect(await violations(page)).toEqual([])
    away = false
    await alert.getByRole('button').click()
    await formOf(page).getByLabel('Card number').waitFor()
    await context.close()
  },
)

test.each([
  { theme: 'light', viewport: wide, language: 'aud' },
  { theme: 'dark', viewport: wide, language: 'vi' },
  { theme: 'light', viewport: phone, language: 'vi' },
  { theme: 'dark', viewport: phone, language: 'en' },
] as const)(
  'the card screens stand in $theme, $viewport.width px, $language',
  { timeout: 120_000 },
  async (look) => {
    const rich = await portal.customer({ region: 'AUD' })
    for (const number of [testCards.visa, testCards.mastercard, testCards.amex, testCards.jcb])
      await linked(rich, number)
    const vietnamese = await portal.customer()
    const found: Record<string, unknown> = {}
    for (const [customer, path] of [
      [rich, '/link-card'],
      [rich, '/payment?amount=20&type=card'],
      [vietnamese, '/link-card'],
    ] as const) {
      const { page, context, complaints } = await open(customer, look)
      await page.goto(`${portal.url}${path}`)
      await settled(page)
      if (customer === rich && path === '/link-card')
        await formOf(page).locator('#number').waitFor()
      const over = await sideways(page)
      const folder = process.env['SCREENSHOTS']
      if (folder !== undefined)
        await page.screenshot({
          path:
            `${folder}/${look.theme}-${look.viewport.width}-${path.replaceAll(/\W+/g, '-')}-` +
            `${customer === rich}.png`,
          fullPage: true,
        })
      const wrong = [
        ...(await violations(page)),
        ...complaints,
        ...(over > 0 ? ['scrolls sideways'] : []),
      ]
      if (wrong.length > 0) found[path] = wrong
      await context.close()
    }
    expect(found).toEqual({})
  },
)
