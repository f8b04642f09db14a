/** Failures between screen and server, which cost the customer neither money nor typed text. */
import type { Browser, Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manyServers } from '../many-rows.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  keepBothWidths,
  openBrowser,
  settled,
  violations,
  visitAs,
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

async function open(path: string, customer: TestCustomer): Promise<Visit> {
  const one = await visitAs(browser, { language: 'en', customer })
  await one.page.goto(`${portal.url}${path}`)
  await settled(one.page)
  return one
}
const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name }).filter({ visible: true }).first().click()
const confirmation = (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name: /^Confirm/ })
const servers = async ({ token }: TestCustomer) =>
  (await portal.call<{ id: string }[]>('GET', '/api/wp', { token })).body.result

async function choose(page: Page): Promise<void> {
  await page.getByRole('radio', { name: /Hà Nội/ }).check({ force: true })
  await page.getByRole('radio', { name: /BASIC-1/ }).check({ force: true })
  for (const at of [0, 1])
    await page
      .getByRole('radio', { name: /^10 GB/ })
      .nth(at)
      .check({ force: true })
  await page.getByLabel('User name').fill('binh')
}
async function review(page: Page): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill('Another#1pass')
  await press(page, 'Review and confirm')
  await confirmation(page).waitFor()
}
/**
 * Watched from before the press, because with an empty wallet the server's page is replaced by the
 * top-up at once.
 */
const leadsTo = (page: Page, url: RegExp) =>
  Promise.all([page.waitForURL(url), confirmation(page).click()])
/** The next order reaches the server, and `answer` intercepts its response. */
const interceptOrder = (page: Page, answer: (route: Route) => Promise<void>) =>
  page.route(
    (url) => url.pathname === '/api/wp',
    async (route) => {
      if (route.request().method() !== 'POST') return await route.fallback()
      await route.fetch()
      await answer(route)
    },
    { times: 1 },
  )

test.each([
  [
    'breaks off',
    (route: Route) =>
      route.fulfill({
        status: 201,
        contentType: 'application/json',
        body: '{"statusCode":201,"mess',
      }),
  ],
  [
    'is a proxy’s own, that waited too long',
    (route: Route) =>
      route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>504</h1>' }),
  ],
])('an order whose answer %s is placed once, however often it is confirmed', async (_, answer) => {
  const an = await portal.customer()
  const { page, context } = await open('/wordpress/create', an)
  await choose(page)
  await review(page)
  await interceptOrder(page, answer)
  await confirmation(page).click()
  await page.getByRole('alert').first().waitFor()
  expect(await servers(an)).toHaveLength(1)
  const [placed] = await servers(an)
  await press(page, 'Review and confirm')
  await leadsTo(page, new RegExp(`/wordpress-progress/${placed?.id}`))
  expect(await servers(an)).toHaveLength(1)
  await context.close()
})

test('an order waits out maintenance without its password, and is placed once', async () => {
  const an = await portal.customer()
  const { page, context } = await open('/wordpress/create', an)
  await choose(page)
  await review(page)
  const away = { statusCode: 503, message: 'We will be back soon.', error: { code: 'unavailable' } }
  await interceptOrder(page, (route) => route.fulfill({ status: 503, json: away }))
  await confirmation(page).click()
  await page.waitForURL(/\/pages\/maintenence/)
  await press(page, 'Try again')
  await page.waitForURL(`${portal.url}/wordpress/create`)
  await expect.poll(() => page.getByLabel('User name').inputValue()).toBe('binh')
  expect(await page.getByRole('radio', { name: /BASIC-1/ }).isChecked()).toBe(true)
  await review(page)
  await leadsTo(page, /\/wordpress-progress\//)
  expect(await servers(an)).toHaveLength(1)
  await context.close()
})

test('what was confirmed cannot be called off: the dialog stays until the answer', async () => {
  const an = await portal.customer()
  const { page, context } = await open('/wordpress/create', an)
  await choose(page)
  await review(page)
  let answer = () => {}
  const held = new Promise<void>((resolve) => (answer = resolve))
  await interceptOrder(page, async (route) => {
    await held
    await route.fulfill({ status: 504, body: '' })
  })
  await confirmation(page).click()
  const dialog = page.getByRole('dialog')
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.mouse.click(5, 5)
  expect(await dialog.isVisible()).toBe(true)
  answer()
  await page.getByRole('alert').first().waitFor()
  await expect.poll(() => dialog.isVisible()).toBe(false)
  await context.close()
})

test('a busy button keeps the focus, sends once, and can be pressed again', async () => {
  const an = await portal.customer()
  await portal.call('POST', '/api/v1/auth/login', {
    body: { email: an.email, password: an.password },
  })
  const { page, context } = await open('/account', an)
  let calls = 0
  let answer = () => {}
  /** The next call to this path waits for `answer`, and then fails. */
  const hold = async (path: string, method: string) => {
    calls = 0
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route(
      (url) => url.pathname === path,
      async (route) => {
        if (route.request().method() !== method) return await route.fallback()
        calls++
        await held
        await route.fulfill({ status: 504, body: '' })
      },
    )
  }
  const hasFocus = (button: Locator) =>
    button.evaluate((element) => element === document.activeElement)
  const fails = async (button: Locator, field?: Locator) => {
    await expect.poll(() => calls).toBe(1)
    expect(await button.isDisabled()).toBe(true)
    expect(await hasFocus(button)).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Space')
    await button.dblclick({ force: true })
    await field?.press('Enter')
    await button.focus()
    answer()
    await expect.poll(() => button.isDisabled()).toBe(false)
    expect(await hasFocus(button)).toBe(true)
    expect(calls).toBe(1)
    await page.keyboard.press('Enter')
    await expect.poll(() => calls).toBe(2)
  }
  await hold('/api/v1/account', 'PUT')
  const profile = page.getByRole('region', { name: 'Profile' })
  await profile.getByRole('button', { name: 'Save' }).press('Enter')
  await fails(profile.getByRole('button', { name: 'Save' }), profile.getByLabel('Full name'))

  await hold('/api/v1/account/sessions/revoke-others', 'POST')
  const others = page.getByRole('button', { name: 'Sign out all others' })
  await others.press('Enter')
  await fails(others)

  await page.goto(`${portal.url}/dns`)
  await hold('/api/dns', 'POST')
  await press(page, 'Create domain')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('hoa-sen.vn')
  const confirm = dialog.getByRole('button', { name: 'Confirm' })
  await confirm.press('Enter')
  await expect.poll(() => calls).toBe(1)
  expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Cancel' }).dispatchEvent('click')
  await fails(confirm, dialog.getByRole('textbox'))
  await context.close()
})

test('offline, what is not loaded yet says so, and comes by itself when online', async () => {
  const an = await portal.customer()
  await manyServers(portal.app.db, an.id, 'vuon', 12)
  const { page, context } = await open('/wordpress', an)
  const view = (name: string) => page.getByRole('link', { name: `View ${name}`, exact: true })
  const heading = page.getByRole('heading', { level: 1 })
  // The screen of a server is there, and its data in the cache.
  await view('vuon-12').click()
  await heading.filter({ hasText: 'Server information' }).waitFor()
  await settled(page)
  await page.getByRole('link', { name: 'List Wordpress' }).click()
  await view('vuon-11').waitFor()
  const note = page.getByText('You are offline, and this is not loaded yet.')
  await context.setOffline(true)
  await page.getByText('You are offline. What you see may be out of date.').waitFor()
  expect(await note.count()).toBe(0)
  // Part of a screen.
  await page.getByRole('searchbox').fill('vuon-3')
  await note.waitFor()
  await keepBothWidths(page, 'offline-part')
  await context.setOffline(false)
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
  expect(await note.count()).toBe(0)
  // A whole one.
  await context.setOffline(true)
  await view('vuon-3').click()
  await note.waitFor()
  await keepBothWidths(page, 'offline-page')
  expect(await violations(page)).toEqual([])
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'vuon-3', exact: true }).waitFor()
  expect(await note.count()).toBe(0)
  await context.close()
})

test('a tab that cannot be fetched loads the page anew, once, and opens', async () => {
  const an = await portal.customer()
  const body = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'binh',
    password: 'Another#1pass',
    replicate: 1,
  }
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { token: an.token, body }))
    .body.result
  const { page, context } = await open(`/wordpress/${id}`, an)
  await page.route(/\/assets\/LogsTab-/, (route) => route.abort(), { times: 1 })
  await page.evaluate(() => Object.assign(window, { before: true }))
  await page.getByRole('tab', { name: 'Runtime Logs' }).click()
  await page.getByText('Logs appear when the server runs.').waitFor()
  expect(await page.evaluate(() => 'before' in window)).toBe(false)
  // A chunk that is gone for good: the page says so, after one reload.
  await page.route(/\/assets\/PlansTab-/, (route) => route.abort())
  await page.getByRole('tab', { name: 'Configuration' }).click()
  await page.waitForURL(/\/pages\/error500/)
  await context.close()
})

test('a palette not fetched costs the screen nothing, and is fetched when wanted', async () => {
  const an = await portal.customer()
  const one = await visitAs(browser, { language: 'en', customer: an })
  await one.page.route(/\/assets\/AfterStart-/, (route) => route.abort(), { times: 1 })
  await one.page.goto(portal.url)
  await settled(one.page)
  await one.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await one.page.waitForLoadState('networkidle')
  await one.page.keyboard.press('Control+k')
  await one.page.getByRole('combobox').waitFor()
  await one.page.keyboard.type('invo')
  await expect.poll(() => one.page.getByRole('combobox').inputValue()).toBe('invo')
  await one.context.close()
})

test('what of a list could not be loaded is said, and asked for again', async () => {
  const an = await portal.customer()
  await portal.app.db
    .insertInto('sign_in')
    .values(
      Array.from({ length: 12 }, () => ({
        customer_id: an.id,
        at: new Date(),
        ip: '203.0.113.7',
        user_agent: 'Firefox',
        outcome: 'failed',
      })),
    )
    .execute()
  const { page, context } = await open('/account', an)
  const away = (route: Route) => route.abort('connectionfailed')
  const history = page.getByRole('region', { name: 'Sign-in history' })
  const older = (url: URL) => url.searchParams.has('cursor')
  await page.route(older, away)
  await history.getByRole('button', { name: 'Show more' }).click()
  await history.getByRole('alert').getByText('The portal cannot be reached.').waitFor()
  await page.unroute(older)
  await history.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => history.getByRole('listitem').count()).toBeGreaterThan(11)
  expect(await history.getByRole('alert').count()).toBe(0)

  const choosable = (url: URL) => url.pathname === '/api/wp' && url.searchParams.has('limit')
  await page.route(choosable, away)
  await page.goto(`${portal.url}/account/programs`)
  const tokens = page.getByRole('region', { name: 'Tokens', exact: true })
  await tokens.getByRole('button', { name: 'New token' }).click()
  await tokens.getByLabel('Servers', { exact: true }).selectOption('Read and change')
  await tokens.getByLabel('Only some servers').check()
  await tokens.getByRole('alert').getByText('The portal cannot be reached.').waitFor()
  await page.unroute(choosable)
  await tokens.getByRole('button', { name: 'Try again' }).click()
  await tokens.getByText('You have no server').waitFor()
  await context.close()
})
