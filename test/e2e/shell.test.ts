/**
 * The layout around every screen, in a real browser: the sign-in, the menu, the bell, the palette,
 * and remembered choices.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import {
  endVisits,
  openBrowser,
  openPage,
  settled,
  violations,
  visitAs,
  type Look,
  type Visit,
} from './browser.ts'

let portal: TestPortal
let browser: Browser
/** A customer with money. */
let rich: TestCustomer
/** A customer without anything. */
let fresh: TestCustomer

beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
  ;[rich, fresh] = [await portal.customer(), await portal.customer()]
  await portal.topUp(rich, 300_000)
  await eventually(
    'the money',
    async () => (await portal.app.ledger.balanceOf(portal.app.db, rich.id)).balance === 300_000n,
  )
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** A visitor with English texts unless the test asks for another language. */
const open = (look: Look = {}): Promise<Visit> =>
  visitAs(browser, { theme: 'light', language: 'en', ...look })
const go = (page: Page, path: string): Promise<void> => openPage(page, `${portal.url}${path}`)

const signInTexts = {
  en: {
    email: 'Email',
    password: 'Password',
    button: 'Sign in',
    wrong: 'Login fail, please try again !',
  },
  vi: {
    email: 'Email',
    password: 'Mật khẩu',
    button: 'Đăng nhập',
    wrong: 'Đăng nhập thất bại, vui lòng thử lại !',
  },
} as const

describe('signing in', () => {
  test.each(['en', 'vi'] as const)(
    'a wrong password is answered in words (%s)',
    async (language) => {
      const t = signInTexts[language]
      const { page, context } = await open({ language })
      await go(page, '/login')
      await page.getByLabel(t.email).fill(fresh.email)
      await page.getByLabel(t.password, { exact: true }).fill('not-the-password')
      await page.getByRole('button', { name: t.button }).click()
      // The message appears once, not on the page and in a toast.
      await page.getByText(t.wrong, { exact: true }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/login')
      await context.close()
    },
  )

  test('the keyboard alone is enough, and leads back to where one wanted to go', async () => {
    const { page, context } = await open()
    await page.goto(`${portal.url}/invoice`)
    await page.waitForURL(/\/login\?next=/)
    await settled(page)
    const focus = () => page.evaluate(() => document.activeElement?.getAttribute('type') ?? '')
    for (let presses = 0; (await focus()) !== 'email'; presses += 1) {
      expect(presses).toBeLessThan(15)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.type(fresh.email)
    for (let presses = 0; (await focus()) !== 'password'; presses += 1) {
      expect(presses).toBeLessThan(4)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.type(fresh.password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${portal.url}/invoice`)
    // From here on in Vietnamese, the customer's language.
    await page.getByRole('heading', { level: 1, name: 'Hoá đơn' }).waitFor()
    await context.close()
  })

  test('the guard keeps every screen, and a path of another host is no return path', async () => {
    const { page, context } = await open()
    for (const path of [
      '/',
      '/transactions',
      '/payment',
      '/invoice',
      '/wordpress',
      '/wordpress/create',
      '/hosting',
    ]) {
      await page.goto(`${portal.url}${path}`)
      await page.waitForURL(/\/login/)
      expect(new URL(page.url()).searchParams.get('next')).toBe(path === '/' ? null : path)
    }
    await go(page, '/login?next=//evil.example/')
    await page.getByLabel('Email').fill(fresh.email)
    await page.getByLabel('Password', { exact: true }).fill(fresh.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${portal.url}/`)
    await context.close()
  })

  test('a forgotten password is replaced, even if the page is loaded again', async () => {
    const mine = await portal.customer()
    const { page, context } = await open({ viewport: { width: 390, height: 844 } })
    await go(page, `/auth/pass-recovery?email=${encodeURIComponent(mine.email)}`)
    await page.getByRole('button', { name: 'Send code' }).click()
    const code = page.getByRole('textbox', { name: 'One-time code' })
    await code.waitFor()
    // A phone drops the page while its user reads the mail.
    await page.reload()
    await code.waitFor()
    expect(await code.evaluate((input) => input === document.activeElement)).toBe(true)
    await page.getByRole('button', { name: /^Send again in/ }).waitFor()
    const sent = await eventually('the code', async () =>
      (await portal.inbox(mine.email)).flatMap(({ text }) => /\b\d{6}\b/.exec(text) ?? []).at(0),
    )
    await code.fill(sent)
    await page.getByLabel('New password', { exact: true }).fill('Mot-mat-khau-moi-9')
    const kept = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, location.href]))
    expect(await kept()).not.toMatch(new RegExp(`${sent}|Mot-mat-khau`))
    await page.getByRole('button', { name: 'Set new password' }).click()
    await page.waitForURL(`${portal.url}/login`)
    await context.close()
    const { status } = await portal.call('POST', '/api/v1/auth/login', {
      body: { email: mine.email, password: 'Mot-mat-khau-moi-9' },
    })
    expect(status).toBe(200)
  })

  test('a locked screen opens with the password only', async () => {
    const mine = await portal.customer()
    await portal.call('PUT', '/api/v1/account', { token: mine.token, body: { language: 'en' } })
    const { page, context } = await open({ customer: mine })
    await go(page, '/invoice')
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Lock Screen' }).click()
    await page.getByRole('heading', { name: 'Screen locked' }).waitFor()
    const token = (await page.evaluate(() => sessionStorage.getItem('accessToken'))) ?? ''
    const said = async (of: string) =>
      (await portal.call('GET', '/api/v1/auth/me', { token: of })).body.error?.code
    await expect.poll(() => said(token)).toBe('session_locked')
    // The lock does not depend on the browser's mark.
    await page.evaluate(() => sessionStorage.removeItem('isLockScreen'))
    await page.reload()
    await page.getByRole('heading', { name: 'Screen locked' }).waitFor()
    await page.getByLabel('Password', { exact: true }).fill('not-the-password')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByText('Password invalid, please try again !').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(mine.password)
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/invoice')
    const renewed = (await page.evaluate(() => sessionStorage.getItem('accessToken'))) ?? ''
    expect(await said(renewed)).toBeUndefined()
    expect(await said(token)).toBe('unauthenticated')
    await context.close()
  })

  test('whose session ended is told so, with the email filled in; a sign-out is not', async () => {
    const mine = await portal.customer()
    await portal.call('PUT', '/api/v1/account', { token: mine.token, body: { language: 'en' } })
    const { page, context } = await open({ customer: mine })
    await go(page, '/invoice')
    const token = (await page.evaluate(() => sessionStorage.getItem('accessToken'))) ?? ''
    await portal.call('POST', '/api/v1/auth/logout', { token })
    // Without any press, the live connection brings the news.
    await page.waitForURL(/\/login/)
    await page.getByText('You were signed out. Sign in to continue.').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe(mine.email)
    await page.getByLabel('Password', { exact: true }).fill(mine.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign Out' }).click()
    await page.waitForURL(/\/login/)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.getByText('You were signed out').count()).toBe(0)
    expect(await page.getByLabel('Email').inputValue()).toBe('')
    await context.close()
  })
})

describe('the frame', () => {
  test('the back button walks the screens, with focus at each heading', async () => {
    const { page, context } = await open({ customer: rich })
    await go(page, '/')
    const main = page.getByRole('navigation', { name: 'Main' })
    await main.getByRole('link', { name: 'Transactions' }).click()
    await page.getByRole('heading', { level: 1, name: 'Transaction Log' }).waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    await page.getByRole('radio', { name: 'Spent' }).click({ force: true })
    await page.waitForURL(/direction=out/)
    await main.getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
    await page.goBack()
    await page.waitForURL(/transactions\?direction=out/)
    expect(await page.getByRole('radio', { name: 'Spent' }).isChecked()).toBe(true)
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await context.close()
  })

  test('theme and language stay chosen, here and in another tab', async () => {
    const { page, context } = await open({ customer: rich })
    await go(page, '/')
    await page.getByRole('button', { name: /^Theme/ }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await page.getByRole('button', { name: /^Language/ }).click()
    await page.getByRole('menuitemradio', { name: 'Tiếng Việt' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tổng quan' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Tổng quan' }).waitFor()
    const look = (one: Page) =>
      one.evaluate(() => [
        document.documentElement.lang,
        document.documentElement.classList.contains('dark'),
      ])
    expect(await look(page)).toEqual(['vi', true])
    const other = await context.newPage()
    await other.goto(`${portal.url}/login`)
    await other.getByRole('heading', { level: 1, name: 'Đăng nhập' }).waitFor()
    expect(await look(other)).toEqual(['vi', true])
    await context.close()
  })

  test('the sidebar hides, stays hidden, and comes again', async () => {
    const { page, context } = await open({ customer: rich })
    await go(page, '/')
    const menu = page.getByRole('navigation', { name: 'Main' }).filter({ visible: true })
    const hide = page.getByRole('button', { name: 'Hide the sidebar' })
    await menu.waitFor()
    await hide.click()
    await expect.poll(() => menu.count()).toBe(0)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    expect(await menu.count()).toBe(0)
    expect(await violations(page)).toEqual([])
    expect(await hide.getAttribute('aria-pressed')).toBe('true')
    await hide.click()
    await menu.waitFor()
    await context.close()
  })

  test.each(['en', 'vi'] as const)(
    'the bell is empty, then rings by itself (%s)',
    async (language) => {
      const customer = await portal.customer()
      const { page, context, complaints } = await open({ language, customer })
      const opened = page
        .waitForEvent('websocket')
        .then((socket) =>
          socket.waitForEvent('framereceived', ({ payload }) =>
            String(payload).includes('subscription_succeeded'),
          ),
        )
      await go(page, '/')
      await opened
      const words =
        language === 'en'
          ? { bell: 'Notifications', none: 'No notification !' }
          : { bell: 'Thông báo', none: 'Không có thông báo !' }
      const bell = page
        .getByRole('banner')
        .getByRole('button', { name: new RegExp(`^${words.bell}`) })
      await bell.click()
      await page.getByText(words.none).waitFor()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Escape')
      await portal.topUp(customer, 200_000)
      const text =
        language === 'en' ? '200.000 đ added to your wallet.' : 'Đã cộng 200.000 đ vào ví.'
      // A toast appears, the balance changes, the bell counts.
      await page.getByText(text).filter({ visible: true }).first().waitFor()
      await page
        .getByRole('main')
        .getByText('200.000 đ', { exact: true })
        .filter({ visible: true })
        .first()
        .waitFor()
      await expect.poll(() => bell.getAttribute('aria-label')).toMatch(/1/)
      await bell.click()
      await page
        .getByRole('dialog', { name: new RegExp(words.bell) })
        .getByText(text)
        .waitFor()
      await expect.poll(() => bell.getAttribute('aria-label')).toBe(words.bell)
      expect(complaints).toEqual([])
      await context.close()
    },
  )

  test('of presses in one moment the last counts, once, and back is one step', async () => {
    const { page, context } = await open({ language: 'en', customer: rich })
    await go(page, '/')
    const steps = await page.evaluate(() => history.length)
    await page.evaluate(() => {
      for (const to of ['/dns', '/invoice', '/invoice'])
        document.querySelector<HTMLElement>(`nav a[href="${to}"]`)?.click()
    })
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/invoice')
    expect(await page.evaluate(() => history.length)).toBe(steps + 1)
    await page.goBack()
    await page.waitForURL((url) => url.pathname === '/')
    await context.close()
  })

  test('the palette finds without accents and goes there, however often it is opened', async () => {
    const { page, context } = await open({ language: 'vi', customer: rich })
    await go(page, '/')
    const search = page.locator('header button[aria-keyshortcuts]')
    const field = page.getByRole('combobox')
    for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(10, 500)]) {
      await search.focus()
      await page.keyboard.press('Control+k')
      await field.waitFor()
      // Only the field takes the focus.
      await page.keyboard.press('Tab')
      await page.keyboard.type('tong')
      await page.getByRole('option', { name: /Tổng quan/ }).waitFor()
      expect(await field.inputValue()).toBe('tong')
      await leave()
      await page.locator('#commands').waitFor({ state: 'detached' })
      await expect
        .poll(() => search.evaluate((button) => button === document.activeElement))
        .toBe(true)
    }
    // Fifteen down: beyond the options that are rendered at first; the position among all is
    // announced.
    await page.keyboard.press('Control+k')
    await field.waitFor()
    for (let down = 0; down < 15; down++) await page.keyboard.press('ArrowDown')
    // Checked together, because lists that load meanwhile insert options.
    const reached = () =>
      page.locator('dialog').evaluate((dialog) => {
        const chosen = dialog.querySelector('[role=option][aria-selected=true]')
        return {
          place: Number(chosen?.getAttribute('aria-posinset')),
          of: Number(chosen?.getAttribute('aria-setsize')),
          drawn: dialog.querySelectorAll('[role=option]').length,
          told: dialog.querySelector('input')?.getAttribute('aria-activedescendant') === chosen?.id,
        }
      })
    await expect.poll(async () => (await reached()).place).toBeGreaterThanOrEqual(16)
    expect((await reached()).told).toBe(true)
    await page.locator('#commands').evaluate((list) => list.scrollTo(0, 1))
    await expect.poll(async () => (({ drawn, of }) => drawn === of)(await reached())).toBe(true)
    for (let down = 0; down < 60; down++) await page.keyboard.press('ArrowDown')
    await expect
      .poll(async () => (({ place, of }) => of > 20 && place === of)(await reached()))
      .toBe(true)
    await page.keyboard.type('nap vi')
    await page.getByRole('option', { name: /Nạp ví/ }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/payment$/)
    // A dialog that waits for an answer keeps the keyboard.
    await go(page, '/dns')
    await page.locator('main button').first().click()
    const dialog = page.locator('dialog:modal')
    await dialog.waitFor()
    await page.keyboard.press('Control+k')
    expect(await field.count()).toBe(0)
    await dialog.getByRole('textbox').fill('vuon.example')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await context.close()
  })

  test('what is typed before the palette is there stands in it, and nowhere else', async () => {
    const { page, context } = await open({ language: 'vi', customer: rich })
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await context.route(/\/Palette-.*\.js$/, async (route) => {
      ask()
      await answered
      await route.continue()
    })
    await go(page, '/')
    await page.getByRole('link', { name: 'Tổng quan' }).first().focus()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('nap vx')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('i')
    // A link has the focus: a key that is meant for the palette must not follow it.
    await page.keyboard.press('Enter')
    await asked
    answer()
    await page.getByRole('option', { name: /Nạp ví/ }).waitFor()
    expect(await page.getByRole('combobox').inputValue()).toBe('nap vi')
    expect(new URL(page.url()).pathname).toBe('/')
    await page.keyboard.press('Escape')
    await page.getByRole('combobox').waitFor({ state: 'detached' })
    await context.close()
  })
})

test('what the page asks for before the program is there is asked for once, and used', async () => {
  const { page, context } = await open({ customer: rich })
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname + search)
  })
  await go(page, '/')
  const early = [
    '/api/v1/auth/me',
    '/api/config',
    '/api/payments/stripe?limit=100',
    '/api/payments/stripe/invoices?limit=50',
    '/api/wp?limit=20',
    '/api/wallet/runway',
    '/api/payments/stripe/invoices/unpaid',
  ]
  expect(asked.slice(0, early.length)).toEqual(early)
  // Until the channel opens, which causes another read.
  const channel = '/api/notifications?limit=100'
  await expect.poll(() => asked).toContain(channel)
  const opening = asked.slice(0, asked.indexOf(channel))
  for (const address of early) expect(opening.filter((one) => one === address)).toEqual([address])
  // theme.js provides its responses under this name; used ones are removed.
  expect(
    await page.evaluate(() => (Reflect.get(window, '__earlyReads') as { answers: object }).answers),
  ).toEqual({})
  await context.close()
})
