/**
 * The account page in a real browser: changes appear everywhere, and a session that is ended there
 * really ends.
 */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, visitAs } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** Opens a tab with a session of its own. */
async function signedIn(customer: TestCustomer, path: string) {
  const { email, password } = customer
  const answer = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  const { context, page, complaints } = await visitAs(browser, {
    language: 'en',
    customer: { token: answer.body.result.token.accessToken },
  })
  await page.goto(`${portal.url}${path}`)
  return { context, page, complaints }
}

test('a name, what invoices name, a time zone and an email address are changed', async () => {
  const an = await portal.customer()
  const { page, context, complaints } = await signedIn(an, '/')
  await page.getByRole('button', { name: `Account: ${an.email}` }).click()
  await page.getByRole('menuitem', { name: 'Account' }).click()
  await page.getByLabel('Full name').fill('Lê Bình')
  const profile = page.getByRole('region', { name: 'Profile' })
  await profile.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Account saved.').waitFor()

  const billing = page.getByRole('region', { name: 'Billing details' })
  await billing.getByLabel('Tax code').fill('<b>')
  await billing.getByLabel('Address').fill('1 Tràng Tiền')
  await billing.getByRole('button', { name: 'Save' }).click()
  await billing.getByText('Use letters without accents, digits, spaces and . / -').waitFor()
  await billing.getByLabel('Tax code').fill('0312345678-001')
  await billing.getByRole('button', { name: 'Save' }).click()
  await billing.getByText('Choose a place from the list.').waitFor()
  await billing.getByLabel('City or district').fill('ha noi')
  await page.getByRole('option', { name: /^Hà Nội/ }).click()
  expect(await billing.getByText('Choose a place from the list.').count()).toBe(0)
  await billing.getByLabel('Company').fill('Ánh Dương')
  const save = async () => {
    const saved = page.waitForResponse(
      (response) => response.request().method() === 'PUT' && response.ok(),
    )
    await billing.getByRole('button', { name: 'Save' }).click()
    await saved
  }
  await save()
  // Another tab saves meanwhile; fields that are not changed here keep its values.
  await portal.call('PUT', '/api/v1/account', { token: an.token, body: { company: 'Ánh Trăng' } })
  await billing.getByLabel('Tax code').fill('0399999999')
  await save()
  await page.reload()
  await expect.poll(() => billing.getByLabel('City or district').inputValue()).toBe('Hà Nội')
  const stored = ['Company', 'Tax code', 'Address'].map((label) =>
    billing.getByLabel(label).inputValue(),
  )
  expect(await Promise.all(stored)).toEqual(['Ánh Trăng', '0399999999', '1 Tràng Tiền'])

  const history = page.getByRole('region', { name: 'Sign-in history' })
  const before = await history.locator('time').first().innerText()
  const region = page.getByRole('region', { name: 'Language and time zone' })
  await region.getByLabel('Time zone').selectOption('Australia/Perth')
  await region.getByLabel('Language').selectOption('en')
  await region.getByRole('button', { name: 'Save' }).click()
  // Perth is an hour ahead of Vietnam all year round.
  const hourLater = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)
  await expect
    .poll(
      async () => hourLater(await history.locator('time').first().innerText()) - hourLater(before),
    )
    .toBe(3_600_000)
  await page.reload()
  await expect
    .poll(
      async () => hourLater(await history.locator('time').first().innerText()) - hourLater(before),
    )
    .toBe(3_600_000)

  const email = `e2e-${an.email}`
  await page.getByRole('button', { name: 'Change: Email address' }).click()
  const card = page.getByRole('region', { name: 'Email address' })
  await card.getByLabel('New email address').fill(email)
  await card.getByLabel('Current password', { exact: true }).fill('not this one')
  await card.getByRole('button', { name: 'Send the code' }).click()
  await card.getByText('This is not your current password.').waitFor()
  await card.getByLabel('Current password', { exact: true }).fill(an.password)
  await card.getByRole('button', { name: 'Send the code' }).click()
  const code = await eventually(
    'the code',
    async () => /\b\d{6}\b/.exec((await portal.inbox(email))[0]?.text ?? '')?.[0],
  )
  await card.getByLabel('6-digit code').fill(code === '000000' ? '000001' : '000000')
  await card.getByRole('button', { name: 'Confirm' }).click()
  await card.getByText('That code is not right.').waitFor()
  await expect.poll(() => card.getByLabel('6-digit code').inputValue()).toBe('')
  await page.keyboard.type(code)
  await card.getByRole('button', { name: 'Confirm' }).click()
  await card.getByText(email, { exact: true }).waitFor()
  await page.getByRole('button', { name: `Account: ${email}` }).waitFor()
  expect(complaints.filter((complaint) => !complaint.includes('422'))).toEqual([])
  await context.close()
})

test('who is signed out from another tab is led to the sign-in within five seconds', async () => {
  const an = await portal.customer()
  const [here, there] = [await signedIn(an, '/account'), await signedIn(an, '/invoice')]
  // Its channel is open: the event arrives over the socket, without a click.
  await eventually(
    'the channel',
    async () =>
      (await portal.app.db.selectFrom('channel_grant').select('socket_id').execute()).length >= 2,
  )
  await there.page.waitForLoadState('networkidle')
  await here.page.reload()
  await here.page.getByRole('button', { name: 'Sign out all others' }).click()
  await here.page.getByText('All other sessions are signed out.').waitFor()
  await there.page.waitForURL(/\/login\?next=%2Finvoice/, { timeout: 5000 })
  await expect
    .poll(
      async () =>
        await here.page.getByRole('region', { name: 'Sessions' }).getByRole('listitem').count(),
    )
    .toBe(1)
  await Promise.all([here.context.close(), there.context.close()])
})
