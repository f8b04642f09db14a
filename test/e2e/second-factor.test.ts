/**
 * The second factor in a real browser: an app is set up and asked for, a passkey of Chromium's
 * virtual authenticator, what is asked for again, and the letter's link. With PICTURES=folder
 * pictures are saved there.
 */
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stepOf, totpAt } from '../../server/auth/totp.ts'
import {
  eventually,
  freePort,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../portal.ts'
import {
  endVisits,
  keepBothWidths,
  openBrowser,
  openPage,
  phone,
  resize,
  settled,
  sideways,
  violations,
  visitAs,
  wide,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  // Passkeys need a host name; an IP address is not allowed.
  const port = await freePort()
  const env = { PORT: String(port), PORTAL_URL: `http://localhost:${port}` }
  ;[portal, browser] = await Promise.all([openTestPortal({ env }), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

async function customer(language: 'en' | 'vi' = 'en'): Promise<TestCustomer> {
  const one = await portal.customer()
  await portal.call('PUT', '/api/v1/account', { token: one.token, body: { language } })
  return one
}
async function enterPassword(page: Page, who: TestCustomer): Promise<void> {
  await page.goto(`${portal.url}/login`)
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
const overview = (page: Page) => page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
const card = (page: Page, name: string) => page.getByRole('region', { name })

/** A virtual authenticator that verifies its user by itself, like a fingerprint reader. */
async function withAuthenticator(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return session
}

test('an app is set up, asked for, and asked again; a recovery code stands in for it', async () => {
  const an = await customer()
  const { page, context, complaints } = await visitAs(browser, { language: 'en' })
  await enterPassword(page, an)
  await overview(page)
  await page.goto(`${portal.url}/account`)
  await card(page, 'Second factor').getByText('Off', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Open: Second factor' }).click()
  const app = card(page, 'Authenticator app')
  await app.getByLabel('Current password', { exact: true }).fill(an.password)
  await app.getByRole('button', { name: 'Set up' }).click()
  const secret = await app.locator('code').innerText()
  await app.getByRole('img', { name: /QR code/ }).waitFor()
  await settled(page)
  expect(await violations(page)).toEqual([])
  await keepBothWidths(page, 'app-set-up')
  const now = new Date()
  await app.getByLabel('6-digit code').fill(totpAt(secret, stepOf(now)))
  await app.getByRole('button', { name: 'Confirm' }).click()
  const codes = page.getByRole('dialog', { name: 'Keep these codes' })
  await codes.waitFor()
  const kept = await codes.getByRole('listitem').allInnerTexts()
  expect(kept).toHaveLength(10)
  await keepBothWidths(page, 'codes')
  await codes.getByRole('button', { name: 'I have kept them' }).click()
  await card(page, 'Recovery codes').getByText('10 codes left').waitFor()
  expect(await violations(page)).toEqual([])
  await keepBothWidths(page, 'security-on')
  await openPage(page, `${portal.url}/account`)
  await card(page, 'Second factor').getByText('On', { exact: true }).waitFor()
  await resize(page, phone)
  expect(await page.locator('main').getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'Profile',
    'Email address',
    'Phone number',
    'Password',
    'Second factor',
    'Sessions',
    'Screen lock',
    'Language and time zone',
    'Billing details',
    'Team',
    'API and webhooks',
    'Your data',
    'Requests about your data',
    'Close the account',
    'Sign-in history',
  ])
  await resize(page, wide)

  // Another browser, which knows only the password.
  const other = await visitAs(browser, { language: 'en' })
  await enterPassword(other.page, an)
  await other.page.getByText('Enter the code of your authenticator app.').waitFor()
  await settled(other.page)
  expect(await violations(other.page)).toEqual([])
  await keepBothWidths(other.page, 'sign-in-step')
  await other.page.getByLabel('6-digit code').fill('000000')
  await other.page.getByText('That code is not right.').first().waitFor()
  await other.page.getByRole('button', { name: 'Use a recovery code' }).click()
  await other.page.getByLabel('Recovery code').fill(kept[0] ?? '')
  await other.page.getByRole('checkbox', { name: 'Trust this device' }).check()
  await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await overview(other.page)
  // A trusted device is not asked the next time, except for dangerous actions.
  await other.page.getByRole('button', { name: /^Account/ }).click()
  await other.page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await other.page.waitForURL(/\/login/)
  await enterPassword(other.page, an)
  await overview(other.page)
  await other.page.goto(`${portal.url}/account/security`)
  await card(other.page, 'Trusted devices').getByRole('listitem').waitFor()
  const turnOff = async (): Promise<void> => {
    await card(other.page, 'Authenticator app')
      .getByRole('button', { name: /^Turn off/ })
      .click()
    await other.page
      .getByRole('dialog', { name: 'Turn the app off?' })
      .getByRole('button', { name: 'Turn off' })
      .click()
  }
  await turnOff()
  const again = other.page.getByRole('dialog', { name: 'Please confirm it is you' })
  await again.waitFor()
  expect(await violations(other.page)).toEqual([])
  await keepBothWidths(other.page, 'ask-again')
  // Another tab locks the session: no question appears over the lock view.
  const locking = await other.context.newPage()
  await openPage(locking, `${portal.url}/account`)
  await locking.getByRole('button', { name: /^Account/ }).click()
  await locking.getByRole('menuitem', { name: 'Lock Screen' }).click()
  await again.waitFor({ state: 'detached' })
  await other.page.getByLabel('Password', { exact: true }).fill(an.password)
  await other.page.getByRole('button', { name: 'Unlock' }).click()
  await turnOff()
  await again.waitFor()
  await again.getByRole('button', { name: 'Use a recovery code' }).click()
  await again.getByLabel('Recovery code').fill(kept[1] ?? '')
  await again.getByRole('button', { name: 'Confirm' }).click()
  await other.page.getByText('The app is off.').waitFor()
  await expect.poll(() => card(other.page, 'Trusted devices').count()).toBe(0)
  expect(complaints.filter((one) => !/40[13]|422/.test(one))).toEqual([])
  await Promise.all([context.close(), other.context.close()])
})

test('a passkey is added, signs in without a password, and is asked for again', async () => {
  const an = await customer()
  const { page, context } = await visitAs(browser, { language: 'en' })
  const authenticator = await withAuthenticator(page)
  await enterPassword(page, an)
  await overview(page)
  await openPage(page, `${portal.url}/account/security`)
  const passkeys = card(page, 'Passkeys')
  await passkeys.getByLabel('Name').fill('Laptop')
  await passkeys.getByLabel('Current password', { exact: true }).fill(an.password)
  await passkeys.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await passkeys.getByText('Laptop', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
  await page.waitForURL(/\/login/)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await overview(page)
  await openPage(page, `${portal.url}/account/security`)
  await passkeys.getByRole('button', { name: 'Remove: Laptop' }).click()
  await page
    .getByRole('dialog', { name: 'Remove this passkey?' })
    .getByRole('button', { name: 'Remove' })
    .click()
  // The passkey was used a moment ago, so it is not asked for again.
  await passkeys.getByText('No passkey yet.').waitFor()
  await authenticator.detach()
  await context.close()
})

test('the link of the letter signs out everything and leads to a new password', async () => {
  const an = await customer()
  const { page, context } = await visitAs(browser, { language: 'en', customer: an })
  await openPage(page, `${portal.url}/account/security`)
  // A sign-in from a place that the account does not know.
  await portal.app.db.deleteFrom('known_origin').where('customer_id', '=', an.id).execute()
  const thief = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email: an.email, password: an.password } },
  )
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes('/auth/not-me')),
  )
  const link = /https?:\S+/.exec(letter.text)?.[0] ?? ''
  await openPage(page, link)
  expect(await violations(page)).toEqual([])
  await keepBothWidths(page, 'not-me')
  // Opening the link did nothing, because mail programs open links too.
  const { token } = { token: thief.body.result.token.accessToken }
  expect((await portal.call('GET', '/api/v1/auth/me', { token })).status).toBe(200)
  await page.getByRole('button', { name: 'Sign out everything' }).click()
  await page.waitForURL(/\/auth\/pass-recovery\?email=/)
  expect((await portal.call('GET', '/api/v1/auth/me', { token })).status).toBe(401)
  await openPage(page, link)
  await page.getByRole('button', { name: 'Sign out everything' }).click()
  await page.getByText('This link has expired or was used already.').waitFor()
  await context.close()
})

test.each([
  ['en', 'light'],
  ['vi', 'dark'],
  ['vi', 'light'],
  ['en', 'dark'],
] as const)('the page fits every look (%s, %s)', async (language, theme) => {
  const an = await customer(language)
  const { page, context, complaints } = await visitAs(browser, { language, theme, customer: an })
  await openPage(page, `${portal.url}/account/security`)
  for (const size of [wide, phone, { width: 320, height: 640 }]) {
    await resize(page, size)
    expect(await sideways(page)).toBeLessThanOrEqual(0)
    expect(await violations(page)).toEqual([])
  }
  await keepBothWidths(page, `security-${language}-${theme}`)
  await openPage(page, `${portal.url}/account`)
  await keepBothWidths(page, `account-${language}-${theme}`)
  const visitor = await visitAs(browser, { language, theme })
  await openPage(visitor.page, `${portal.url}/login`)
  await resize(visitor.page, { width: 320, height: 640 })
  expect(await sideways(visitor.page)).toBeLessThanOrEqual(0)
  expect(await violations(visitor.page)).toEqual([])
  await keepBothWidths(visitor.page, `login-${language}-${theme}`)
  expect(complaints).toEqual([])
  await Promise.all([context.close(), visitor.context.close()])
})
