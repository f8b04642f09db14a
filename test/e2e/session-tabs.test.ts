/**
 * One session in several tabs of a real browser: a second tab is signed in, sign-out and lock reach
 * every tab, and a remembered device is signed in after the browser was closed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserArguments, browserPath } from '../../scripts/browser.mjs'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { endVisits, openBrowser, settled, violations, visit } from './browser.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

async function englishCustomer(): Promise<TestCustomer> {
  const one = await portal.customer()
  await portal.call('PUT', '/api/v1/account', { token: one.token, body: { language: 'en' } })
  return one
}
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

async function signIn(page: Page, who: TestCustomer, remember = false): Promise<void> {
  await page.goto(`${portal.url}/login`)
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  if (remember) await page.getByRole('checkbox', { name: 'Remember this device' }).check()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await heading(page, 'Overview').waitFor()
}
/** Opens another tab of the same browser by an address. */
async function tab(context: BrowserContext, at: string, name: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${portal.url}${at}`)
  await heading(page, name).waitFor()
  return page
}
const leave = async (page: Page) => {
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign Out' }).click()
}
const rename = async (page: Page, name: string) => {
  const profile = page.getByRole('region', { name: 'Profile' })
  await profile.getByLabel('Full name').fill(name)
  await profile.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Account saved.').waitFor()
}
/**
 * Everything that a script in the page can read: its storages, and the cookies that are not
 * HttpOnly.
 */
const readable = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]))
const cookieOf = async (context: BrowserContext) =>
  (await context.cookies()).find(({ name }) => name.includes('portal_session'))

describe('tabs of one browser', () => {
  test('a second tab is signed in by the cookie alone, writes, and outlives a reload', async () => {
    const an = await englishCustomer()
    const { context, page, complaints } = await visit(browser)
    await signIn(page, an)
    const cookie = await cookieOf(context)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', expires: -1 })
    expect(await readable(page)).not.toContain(cookie?.value)
    const second = await tab(context, '/account', 'Account')
    expect(await second.evaluate(() => sessionStorage.getItem('accessToken'))).toBeNull()
    expect(await second.evaluate(() => sessionStorage.getItem('isLogin'))).toBe('1')
    await rename(second, 'Lê Bình')
    await second.reload()
    await rename(second, 'Lê Cường')
    // Its channel is open, so events arrive there.
    await portal.topUp(an, 200_000)
    await second
      .getByText('200.000 đ added to your wallet.')
      .filter({ visible: true })
      .first()
      .waitFor()
    // What the tab can read grants nothing without the cookie.
    const kept = await second.evaluate(() => JSON.parse(sessionStorage.getItem('session') ?? '{}'))
    for (const value of Object.values(kept as Record<string, string>))
      expect((await portal.call('GET', '/api/v1/auth/me', { token: value })).status).toBe(401)
    expect(complaints).toEqual([])
    await context.clearCookies()
    await second.goto(`${portal.url}/invoice`)
    await second.waitForURL(/\/login\?next=%2Finvoice/)
    // The first tab has its token.
    await page.goto(`${portal.url}/invoice`)
    await heading(page, 'Invoices').waitFor()
    await context.close()
  })

  test('signing out in one tab signs out every tab, and nothing is left of it', async () => {
    const an = await englishCustomer()
    const { context, page } = await visit(browser)
    await signIn(page, an, true)
    const [second, third] = [
      await tab(context, '/invoice', 'Invoices'),
      await tab(context, '/account', 'Account'),
    ]
    const session = await cookieOf(context)
    await leave(second)
    for (const one of [page, second, third]) {
      await one.waitForURL(/\/login/)
      expect(await one.evaluate(() => sessionStorage.length)).toBe(0)
    }
    await expect.poll(() => cookieOf(context)).toBeUndefined()
    const again = await portal.call('GET', '/api/v1/auth/me', {
      headers: { cookie: `${session?.name}=${session?.value}` },
    })
    expect(again.status).toBe(401)
    await page.goto(`${portal.url}/account`)
    await page.waitForURL(/\/login/)
    await context.close()
  })

  test('who signs out without a connection is not signed in again when it is back', async () => {
    const an = await englishCustomer()
    const { context, page } = await visit(browser)
    await signIn(page, an, true)
    await context.route('**/api/v1/auth/logout', (route) => route.abort())
    await leave(page)
    await page.waitForURL(/\/login/)
    expect(await cookieOf(context)).toBeDefined()
    await page.goto(`${portal.url}/account`)
    await page.waitForURL(/\/login/)
    await context.unroute('**/api/v1/auth/logout')
    await page.goto(`${portal.url}/account`)
    await page.waitForURL(/\/login/)
    await expect.poll(() => cookieOf(context)).toBeUndefined()
    await context.close()
  })

  test('a lock reaches every tab, a new one too; unlocking in one opens all of them', async () => {
    const an = await englishCustomer()
    const { context, page } = await visit(browser)
    await signIn(page, an)
    const second = await tab(context, '/account', 'Account')
    const before = await cookieOf(context)
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Lock Screen' }).click()
    const third = await context.newPage()
    const locked = (one: Page) => one.getByRole('heading', { name: 'Screen locked' })
    await locked(page).waitFor()
    await locked(second).waitFor()
    const by = { headers: { cookie: `${before?.name}=${before?.value}` } }
    await expect
      .poll(async () => (await portal.call('GET', '/api/v1/auth/me', by)).body.error?.code)
      .toBe('session_locked')
    await third.goto(`${portal.url}/invoice`)
    await locked(third).waitFor()
    await third.getByLabel('Password', { exact: true }).fill(an.password)
    await third.getByRole('button', { name: 'Unlock' }).click()
    await heading(third, 'Invoices').waitFor()
    await heading(page, 'Overview').waitFor()
    await heading(second, 'Account').waitFor()
    expect((await cookieOf(context))?.value).not.toBe(before?.value)
    expect((await portal.call('GET', '/api/v1/auth/me', by)).status).toBe(401)
    // Each tab writes with the credentials that replaced its own.
    await rename(second, 'Lê Dung')
    await page.goto(`${portal.url}/account`)
    await rename(page, 'Lê Giang')
    await context.close()
  })

  test('a tab at the sign-in goes on when another signs in; a new customer is in all', async () => {
    const [an, binh] = [await englishCustomer(), await englishCustomer()]
    const { context, page } = await visit(browser)
    const second = await context.newPage()
    await second.goto(`${portal.url}/account`)
    await second.waitForURL(/\/login/)
    await signIn(page, an)
    await second.waitForURL(`${portal.url}/account`)
    await second.getByText(an.email, { exact: true }).first().waitFor()
    await signIn(page, binh)
    await second.getByText(binh.email, { exact: true }).first().waitFor()
    expect(await second.getByText(an.email, { exact: true }).count()).toBe(0)
    await context.close()
  })

  test('what is typed in one tab outlives a sign-in of the same customer in another', async () => {
    const an = await englishCustomer()
    const { context, page } = await visit(browser)
    await signIn(page, an)
    const second = await context.newPage()
    await second.goto(`${portal.url}/support?about=new`)
    await second.getByLabel('Subject').fill('My site is slow')
    const begunAnew = second.waitForEvent('load')
    await signIn(page, an)
    await begunAnew
    await settled(second)
    await expect.poll(() => second.getByLabel('Subject').inputValue()).toBe('My site is slow')
    await context.close()
  })

  test('a new password in one tab leaves the others signed in', async () => {
    const an = await englishCustomer()
    const { context, page } = await visit(browser)
    await signIn(page, an)
    const second = await tab(context, '/account', 'Account')
    const card = second.getByRole('region', { name: 'Password' })
    await card.getByLabel('Current password', { exact: true }).fill(an.password)
    await card.getByLabel('New password', { exact: true }).fill('Another-horse-10')
    await card.getByRole('button', { name: 'Change password' }).click()
    await second.getByText('Password changed.').waitFor()
    await rename(second, 'Lê Hoa')
    // The tab's token was revoked, because somebody else may have it; the cookie still holds the
    // session.
    await page.goto(`${portal.url}/account`)
    await rename(page, 'Lê Khánh')
    await context.close()
  })
})

describe('a browser that is closed and opened again', () => {
  test.each([true, false])('remembered: %s', async (remember) => {
    const an = await englishCustomer()
    const folder = mkdtempSync(path.join(os.tmpdir(), 'browser-'))
    const open = async () =>
      await chromium.launchPersistentContext(folder, {
        executablePath: await browserPath(),
        args: browserArguments,
        locale: 'en-GB',
      })
    try {
      const first = await open()
      await signIn(await first.newPage(), an, remember)
      await first.close()
      const again = await open()
      const page = await again.newPage()
      await page.goto(`${portal.url}/account`)
      if (remember) {
        await heading(page, 'Account').waitFor()
        await rename(page, 'Lê Lan')
        const row = page.getByRole('listitem').filter({ hasText: 'This device' })
        await row.getByText('Remembered').waitFor()
        await settled(page)
        expect(await violations(page)).toEqual([])
      } else await page.waitForURL(/\/login\?next=%2Faccount/)
      await again.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
