/**
 * The session ends while a form is open: after signing in again the typed text is there, except for
 * the password, and nobody else gets it.
 */
import type { Browser, Page, Request, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, visit } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** Signs in on the page itself, in English. */
async function signIn(page: Page, { email, password }: TestCustomer): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
/** Each page's requests that have no response yet. */
const unanswered = new WeakMap<Page, Set<Request>>()
const underWay = (page: Page): Set<Request> => unanswered.get(page) ?? new Set()
function watch(page: Page): void {
  const requests = new Set<Request>()
  unanswered.set(page, requests)
  page.on('request', (request) => requests.add(request))
  page.on('requestfinished', (request) => requests.delete(request))
  page.on('requestfailed', (request) => requests.delete(request))
}
async function atPage(customer: TestCustomer, path: string, { live = true } = {}) {
  const { context, page } = await visit(browser)
  watch(page)
  // A proxy that swallows the live connection: it opens, but sends nothing.
  if (!live) await page.routeWebSocket(/./, () => undefined)
  // The customer's own language is Vietnamese; this browser keeps English.
  await portal.call('PUT', '/api/v1/account', { token: customer.token, body: { language: 'en' } })
  await page.goto(`${portal.url}${path}`)
  await signIn(page, customer)
  await page.waitForURL(`${portal.url}${path}`)
  return { context, page }
}

/** Ends every other session by the API, as from another device. */
async function revoke({ token }: TestCustomer): Promise<void> {
  const answer = await portal.call('POST', '/api/v1/account/sessions/revoke-others', { token })
  expect(answer.status).toBe(200)
}

/**
 * Presses Top up after the session has ended. The press itself must find the dead session: the
 * page's own requests are answered before the session ends, or are held until the press has led to
 * the sign-in.
 */
async function topUpWithDeadSession(page: Page, customer: TestCustomer): Promise<void> {
  const held: Route[] = []
  let isHolding = true
  // Except the call by which the press finds that the cookie holds no session either.
  const reads = (url: URL) =>
    url.pathname.startsWith('/api/') && url.pathname !== '/api/v1/auth/session'
  const hold = (route: Route) =>
    isHolding && route.request().method() === 'GET' ? void held.push(route) : route.continue()
  await page.route(reads, hold)
  const isHeld = (request: Request) => held.some((route) => route.request() === request)
  await expect.poll(() => [...underWay(page)].filter((request) => !isHeld(request))).toEqual([])
  await revoke(customer)
  await page
    .getByRole('button', { name: /^Top up 345/ })
    .filter({ visible: true })
    .first()
    .click()
  await page.waitForURL(/\/login\?next=/)
  isHolding = false
  for (const route of held) await route.continue()
  await page.unroute(reads, hold)
}

test('an order that was half filled in when the session was revoked is still there', async () => {
  const an = await portal.customer()
  const { context, page } = await atPage(an, '/wordpress/create')
  await page.getByRole('radio', { name: /Hà Nội/ }).check({ force: true })
  await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
  await page.getByLabel('User name').fill('binh')
  await page.getByLabel('Password', { exact: true }).fill('Another#1pass')
  await revoke(an)

  // Without any press, the live connection brings the news.
  await page.waitForURL(/\/login\?next=/)
  await page
    .getByText('You were signed out. Sign in to continue. What you typed is still there.')
    .waitFor()
  expect(await page.getByLabel('Email').inputValue()).toBe(an.email)
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Another#1pass')
  await signIn(page, an)
  await page.waitForURL(`${portal.url}/wordpress/create`)
  await expect.poll(() => page.getByLabel('User name').inputValue()).toBe('binh')
  expect(await page.getByRole('radio', { name: /Hà Nội/ }).isChecked()).toBe(true)
  expect(await page.getByRole('radio', { name: /BASIC-1/ }).isChecked()).toBe(true)
  expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')

  // Drafts are restored once: a user who leaves the page on purpose starts empty.
  await page.reload()
  await page.getByLabel('User name').waitFor()
  expect(await page.getByLabel('User name').inputValue()).toBe('')
  await context.close()
})

test('a call of a dead session keeps the form, and another customer finds none', async () => {
  const [an, binh] = [await portal.customer(), await portal.customer()]
  const { context, page } = await atPage(an, '/payment', { live: false })
  await page.getByRole('textbox', { name: /Amount/ }).fill('345000')
  await page.getByRole('radio', { name: /VN Pay/ }).check({ force: true })
  await topUpWithDeadSession(page, an)
  await signIn(page, an)
  await page.waitForURL(`${portal.url}/payment`)
  await expect
    .poll(() => page.getByRole('textbox', { name: /Amount/ }).inputValue())
    .toBe('345.000')
  expect(await page.getByRole('radio', { name: /VN Pay/ }).isChecked()).toBe(true)

  await topUpWithDeadSession(page, an)
  await portal.call('PUT', '/api/v1/account', { token: binh.token, body: { language: 'en' } })
  await signIn(page, binh)
  await page.waitForURL(`${portal.url}/payment`)
  await page.getByRole('textbox', { name: /Amount/ }).waitFor()
  expect(await page.getByRole('textbox', { name: /Amount/ }).inputValue()).toBe('')
  expect(await page.evaluate(() => sessionStorage.getItem('drafts'))).toBeNull()
  await context.close()
})

test('a locked screen gives the form back, and signing out forgets it', async () => {
  const an = await portal.customer()
  const { context, page } = await atPage(an, '/project/create')
  await page
    .getByRole('link', { name: 'PAAS', exact: true })
    .and(page.locator('[aria-current=page]'))
    .waitFor()
  await page.getByLabel('Project Name').fill('shop-one')
  const lock = async () => {
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Lock Screen' }).click()
    await page.getByRole('heading', { name: 'Screen locked' }).waitFor()
  }
  await lock()
  expect(await page.content()).not.toContain('shop-one')
  await page.getByLabel('Password', { exact: true }).fill(an.password)
  await page.getByRole('button', { name: 'Unlock' }).click()
  await expect.poll(() => page.getByLabel('Project Name').inputValue()).toBe('shop-one')

  await lock()
  await page.getByRole('button', { name: 'Use another account' }).click()
  await page.waitForURL(/\/login/)
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  await context.close()
})

const busy = (code: string) => ({
  status: 503,
  json: { statusCode: 503, message: 'Please wait.', error: { code } },
})

test('a registration waits out an outage, without its password', async () => {
  const { context, page } = await visit(browser)
  await page.goto(`${portal.url}/register`)
  await page.getByLabel('Full name').fill('Nguyễn An')
  await page.getByLabel('Email').fill('an.cho@example.com')
  await page.getByLabel('Password', { exact: true }).fill('Another#1pass')
  await page.getByLabel('Phone').fill('0912345678')
  await page.route('**/api/v1/auth/register', (route) => route.fulfill(busy('unavailable')), {
    times: 1,
  })
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(/\/pages\/maintenence/)
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('Another#1pass')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(`${portal.url}/register`)
  await expect.poll(() => page.getByLabel('Full name').inputValue()).toBe('Nguyễn An')
  expect(await page.getByLabel('Email').inputValue()).toBe('an.cho@example.com')
  expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('')
  await context.close()
})

test('a busy server takes nobody away who types in a dialog; forms are kept', async () => {
  const an = await portal.customer()
  const made = await portal.call<{ id: string }>('POST', '/api/dns', {
    token: an.token,
    body: { name: 'outage.com.vn' },
  })
  const { context, page } = await atPage(an, `/dns/domain/${made.body.result.id}`)
  const profile = (status: number) =>
    page.waitForResponse((one) => one.url().endsWith('/auth/me') && one.status() === status)
  /** Money arrives, and the page reads the balance again. */
  const readAgain = async (status: number) => {
    const answered = profile(status)
    await portal.topUp(an, 10_000)
    await answered
  }
  const busyReads = () =>
    page.route('**/api/v1/auth/me', (route) => route.fulfill(busy('unavailable')))
  await page.getByRole('button', { name: 'More' }).last().click()
  await page.getByRole('menuitem', { name: 'Import records from a file' }).click()
  const field = page.getByRole('dialog').locator('textarea')
  await field.fill('www 300 IN A 203.0.113.7')
  const visited: string[] = []
  page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname))
  await busyReads()
  await readAgain(503)
  await page.unroute('**/api/v1/auth/me')
  await readAgain(200)
  expect([visited, await field.inputValue()]).toEqual([[], 'www 300 IN A 203.0.113.7'])

  await page.goto(`${portal.url}/project/create`)
  await page.getByLabel('Project Name').fill('shop-two')
  await busyReads()
  await readAgain(503)
  await page.waitForURL(/\/pages\/maintenence/)
  await page.unroute('**/api/v1/auth/me')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.waitForURL(`${portal.url}/project/create`)
  await expect.poll(() => page.getByLabel('Project Name').inputValue()).toBe('shop-two')
  await context.close()
})
