/** Every screen, opened in a real browser against a real portal: both themes, both widths, both languages; and what a visitor does with them. */
import AxeBuilder from '@axe-core/playwright'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, openTestHouse, type TestCustomer, type TestHouse } from '../house.ts'
import { openBrowser, settled, visit, type Visit } from './browser.ts'

type Theme = 'light' | 'dark'
type Language = 'en' | 'vi'

let house: TestHouse
let browser: Browser
/** Has money, a running server, one that waits for payment, and a payment done. */
let rich: TestCustomer
/** Has nothing. */
let fresh: TestCustomer
const made = { running: '', unpaid: '', unpaidInvoice: '', payment: '' }

const wide = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

async function order(customer: TestCustomer, size: number): Promise<string> {
  const body = { size, region: 1, disk: 10_240, mariadb_disk_size: 10_240, user: 'binh', password: 'Another#1pass', replicate: 1 }
  const answer = await house.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body.result.id
}

beforeAll(async () => {
  ;[house, browser] = await Promise.all([openTestHouse(), openBrowser()])
  rich = await house.customer()
  fresh = await house.customer()
  made.payment = (await house.topUp(rich, 300_000)).transactionCode
  await eventually('the money', async () => (await house.house.ledger.balanceOf(house.house.db, rich.id)).balance === 300_000n)
  made.running = await order(rich, 1)
  await eventually(
    'the server',
    async () => {
      const { body } = await house.call<{ status: string }>('GET', `/api/wp/${made.running}`, { token: rich.token })
      return body.result.status === 'running'
    },
    90,
  )
  made.unpaid = await order(rich, 5)
  made.unpaidInvoice = await eventually('the unpaid invoice', async () => {
    const { body } = await house.call<{ amount_due: number; hosted_invoice_url: string }[]>('GET', '/api/payments/stripe/invoices', {
      token: rich.token,
    })
    const url = body.result.find((invoice) => invoice.amount_due > 0)?.hosted_invoice_url
    return url === undefined ? undefined : new URL(url).pathname
  })
})
afterAll(async () => {
  await browser?.close()
  await house?.close()
})

interface Look {
  theme?: Theme
  language?: Language
  viewport?: { width: number; height: number }
  customer?: TestCustomer
}

/** A visitor with these choices made before; signed in when a customer is given. Nothing moves, so that colours are settled. */
async function open({ theme = 'light', language = 'en', viewport = wide, customer }: Look = {}): Promise<Visit> {
  const options: BrowserContextOptions = { viewport, colorScheme: theme, reducedMotion: 'reduce', locale: 'en-GB' }
  const one = await visit(browser, options)
  await one.context.addInitScript(
    ({ keep, token }) => {
      for (const [key, value] of Object.entries(keep)) if (localStorage.getItem(key) === null) localStorage.setItem(key, value)
      if (token === undefined || sessionStorage.getItem('seeded') !== null) return
      sessionStorage.setItem('seeded', '1')
      sessionStorage.setItem('accessToken', token)
      sessionStorage.setItem('isLogin', '1')
    },
    { keep: { theme, language }, token: customer?.token },
  )
  return one
}

/** Opens an address and waits until the screen stands: its heading is there and nothing is grey any more. */
async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${house.url}${path}`)
  await settled(page)
}

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze()
  return found.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

const visitorScreens = (): string[] => [
  '/login',
  '/register',
  '/check-otp?email=binh@example.vn',
  '/auth/pass-recovery',
  made.unpaidInvoice,
  `/api/payments/success?transId=${made.payment}`,
  '/pages/error404',
  '/pages/error500',
  '/pages/error503',
  '/pages/maintenence',
  '/pages/coming-soon?product=svm',
  '/legal/terms',
  '/legal/nothing',
]
const customerScreens = (): string[] => [
  '/',
  '/transactions',
  '/payment?amount=500000',
  '/invoice',
  '/wordpress',
  '/wordpress/create',
  `/wordpress/${made.running}`,
  ...['logs', 'disk', 'mariadb', 'plans', 'domain'].map((tab) => `/wordpress/${made.running}?tab=${tab}`),
  `/wordpress-progress/${made.unpaid}`,
  '/hosting',
  '/hosting/create',
  `/hosting/${made.running}`,
  '/paas',
  '/project/create',
  '/web-service/create?project=demo',
  '/dns',
  '/account',
  '/docs',
  '/docs/top-up',
  '/docs/nothing',
  made.unpaidInvoice,
  `/api/payments/success?transId=${made.payment}`,
  // Last, because it locks.
  '/auth/lockscreen',
]

// Each of the choices is met once; all eight looks, with their pictures, are `npm run bench screens`.
describe.each([
  { theme: 'light', viewport: wide, language: 'en' },
  { theme: 'dark', viewport: phone, language: 'vi' },
] as const)('$theme, $viewport.width px, $language', (look) => {
  test.each([
    { who: 'a visitor', screens: visitorScreens, signedIn: false },
    { who: 'a customer', screens: customerScreens, signedIn: true },
  ])('every screen of $who opens without complaint and is accessible', { timeout: 120_000 }, async ({ screens, signedIn }) => {
    const { page, context, complaints } = await open({ ...look, ...(signedIn ? { customer: rich } : {}) })
    const found: Record<string, unknown> = {}
    for (const path of screens()) {
      await go(page, path)
      const language = await page.locator('html').getAttribute('lang')
      const dark = await page.evaluate(() => document.body.classList.contains('dark'))
      const wrong = [
        ...(await violations(page)),
        ...complaints.splice(0),
        ...((await sideways(page)) > 0 ? ['scrolls sideways'] : []),
        ...(language === look.language ? [] : [`language ${language}`]),
        ...(dark === (look.theme === 'dark') ? [] : ['wrong theme']),
      ]
      if (wrong.length > 0) found[path] = wrong
    }
    await context.close()
    expect(found).toEqual({})
  })
})

test.each(['en', 'vi'] as const)('no screen scrolls sideways at 360 px (%s)', async (language) => {
  const found: Record<string, number> = {}
  for (const [screens, customer] of [
    [visitorScreens(), undefined],
    [customerScreens(), rich],
  ] as const) {
    const { page, context } = await open({ language, viewport: { width: 360, height: 740 }, ...(customer ? { customer } : {}) })
    for (const path of screens) {
      await go(page, path)
      const over = await sideways(page)
      if (over > 0) found[path] = over
    }
    await context.close()
  }
  expect(found).toEqual({})
})

const signInTexts = {
  en: { email: 'Email', password: 'Password', button: 'Sign in', wrong: 'Login fail, please try again !' },
  vi: { email: 'Email', password: 'Mật khẩu', button: 'Đăng nhập', wrong: 'Đăng nhập thất bại, vui lòng thử lại !' },
} as const

describe('signing in', () => {
  test.each(['en', 'vi'] as const)('a wrong password is answered in words (%s)', async (language) => {
    const t = signInTexts[language]
    const { page, context } = await open({ language })
    await go(page, '/login')
    await page.getByLabel(t.email).fill(fresh.email)
    await page.getByLabel(t.password, { exact: true }).fill('not-the-password')
    await page.getByRole('button', { name: t.button }).click()
    // Once, not on the page and in a notification both.
    await page.getByText(t.wrong, { exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/login')
    await context.close()
  })

  test('the keyboard alone is enough, and leads back to where one wanted to go', async () => {
    const { page, context } = await open()
    await page.goto(`${house.url}/invoice`)
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
    await page.waitForURL(`${house.url}/invoice`)
    // A Vietnamese customer reads Vietnamese from here on.
    await page.getByRole('heading', { level: 1, name: 'Hoá đơn' }).waitFor()
    await context.close()
  })

  test('the guard keeps every screen of the portal, and a path of another host is no return path', async () => {
    const { page, context } = await open()
    for (const path of ['/', '/transactions', '/payment', '/invoice', '/wordpress', '/wordpress/create', '/hosting']) {
      await page.goto(`${house.url}${path}`)
      await page.waitForURL(/\/login/)
      expect(new URL(page.url()).searchParams.get('next')).toBe(path === '/' ? null : path)
    }
    await go(page, '/login?next=//evil.example/')
    await page.getByLabel('Email').fill(fresh.email)
    await page.getByLabel('Password', { exact: true }).fill(fresh.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${house.url}/`)
    await context.close()
  })

  test('a locked screen opens with the password only', async () => {
    const { page, context } = await open({ customer: fresh })
    await go(page, '/invoice')
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Lock Screen' }).click()
    await page.getByRole('heading', { name: 'Screen locked' }).waitFor()
    await page.reload()
    await page.getByLabel('Password', { exact: true }).fill('not-the-password')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByText('Password invalid, please try again !').waitFor()
    await page.getByLabel('Password', { exact: true }).fill(fresh.password)
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/invoice')
    await context.close()
  })
})

describe('/wordpress/create', () => {
  const words = {
    en: {
      region: 'Choose a data center',
      plan: 'Choose a size plan',
      disk: 'Choose an SSD disk',
      low: (gb: number) => `SSD disk: at least ${gb} GB`,
      mariadb: 'Choose a MariaDB disk',
      user: 'Enter a user name',
      password: 'Enter a valid password',
      review: 'Review and confirm',
      userLabel: 'User name',
      passwordLabel: 'Password',
      custom: /^Custom/,
      customValue: 'SSD disk, number of GB',
      weak: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
    },
    vi: {
      region: 'Chọn trung tâm dữ liệu',
      plan: 'Chọn cấu hình',
      disk: 'Chọn ổ đĩa SSD',
      low: (gb: number) => `Ổ SSD: tối thiểu ${gb} GB`,
      mariadb: 'Chọn ổ đĩa MariaDB',
      user: 'Nhập tên đăng nhập',
      password: 'Nhập mật khẩu hợp lệ',
      review: 'Xem lại và xác nhận',
      userLabel: 'Tên đăng nhập',
      passwordLabel: 'Mật khẩu',
      custom: /^Tuỳ chọn/,
      customValue: 'Ổ đĩa SSD, số GB',
      weak: 'Mật khẩu phải chứa ít nhất 8 kí tự bao gồm chữ , số và kí tự đặc biệt !',
    },
  } as const

  test.each(['en', 'vi'] as const)(
    'what is missing is said at the button that waits for it, one thing after the other (%s)',
    async (language) => {
      const t = words[language]
      const { page, context } = await open({ language, customer: fresh })
      await go(page, '/wordpress/create')
      const summary = page.getByRole('complementary', { name: /Monthly cost|Chi phí mỗi tháng/ })
      const button = summary.getByRole('button', { name: t.review })
      const says = (text: string, enabled = false) =>
        expect
          .poll(async () => [await summary.getByText(text, { exact: true }).isVisible(), await button.isEnabled()])
          .toEqual([true, enabled])
      const choose = (name: RegExp, at = 0) => page.getByRole('radio', { name }).nth(at).check({ force: true })

      await says(t.region)
      // Frankfurt has the id 5, and with it the minimum of 20 GB.
      await choose(/Tokyo/)
      await says(t.plan)
      await choose(/BASIC-1/)
      await says(t.disk)
      await choose(/^10 GB/)
      await says(t.low(20))
      await choose(t.custom)
      await page.getByRole('textbox', { name: t.customValue }).fill('19')
      await says(t.low(20))
      await page.getByRole('textbox', { name: t.customValue }).fill('')
      await says(t.disk)
      await page.getByRole('textbox', { name: t.customValue }).fill('20')
      await says(t.mariadb)
      await choose(/Hà Nội/)
      await page.getByRole('textbox', { name: t.customValue }).fill('9')
      await says(t.low(10))
      await choose(/^10 GB/)
      await says(t.mariadb)
      await choose(/^10 GB/, 1)
      await says(t.user)
      await page.getByLabel(t.userLabel).fill('binh')
      await says(t.password)
      for (const weak of ['Ab1!', 'abcdefgh1', 'abcdefgh!', 'Abcdefgh']) {
        await page.getByLabel(t.passwordLabel, { exact: true }).fill(weak)
        await says(t.password)
        expect(
          await page
            .getByText(language === 'vi' ? t.weak : /8 characters|8 kí tự/)
            .first()
            .isVisible(),
        ).toBe(true)
      }
      await page.getByLabel(t.passwordLabel, { exact: true }).fill('Another#1pass')
      await says(t.review, true)
      await button.click()
      await page.getByRole('dialog').getByText('218.000').first().waitFor()
      expect(await violations(page)).toEqual([])
      await context.close()
    },
  )

  test('leaving with filled fields asks first, and only then', async () => {
    const { page, context } = await open({ customer: fresh })
    await go(page, '/wordpress')
    await page.getByRole('link', { name: 'New WordPress' }).first().click()
    await page.waitForURL(/create$/)
    await page.goBack()
    await page.waitForURL(/\/wordpress$/)
    await page.goForward()
    await page.getByLabel('User name').fill('binh')
    await page.getByRole('link', { name: 'Overview' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Leave this page?' })
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByLabel('User name').inputValue()).toBe('binh')
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await dialog.getByRole('button', { name: 'Leave page' }).click()
    await page.waitForURL(`${house.url}/`)
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
    const look = (one: Page) => one.evaluate(() => [document.documentElement.lang, document.documentElement.classList.contains('dark')])
    expect(await look(page)).toEqual(['vi', true])
    const other = await context.newPage()
    await other.goto(`${house.url}/login`)
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

  test.each(['en', 'vi'] as const)('the bell is empty, then rings by itself (%s)', async (language) => {
    const customer = await house.customer()
    const { page, context, complaints } = await open({ language, customer })
    const opened = page
      .waitForEvent('websocket')
      .then((socket) => socket.waitForEvent('framereceived', ({ payload }) => String(payload).includes('subscription_succeeded')))
    await go(page, '/')
    await opened
    const words =
      language === 'en' ? { bell: 'Notifications', none: 'No notification !' } : { bell: 'Thông báo', none: 'Không có thông báo !' }
    const bell = page.getByRole('banner').getByRole('button', { name: new RegExp(`^${words.bell}`) })
    await bell.click()
    await page.getByText(words.none).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await house.topUp(customer, 200_000)
    const text = language === 'en' ? '200.000 đ reached your wallet.' : '200.000 đ đã vào ví của bạn.'
    // The toast interrupts, the balance moves, the bell counts.
    await page.getByText(text).filter({ visible: true }).first().waitFor()
    await page.getByRole('main').getByText('200.000 đ', { exact: true }).filter({ visible: true }).first().waitFor()
    await expect.poll(() => bell.getAttribute('aria-label')).toMatch(/1/)
    await bell.click()
    await page
      .getByRole('dialog', { name: new RegExp(words.bell) })
      .getByText(text)
      .waitFor()
    await expect.poll(() => bell.getAttribute('aria-label')).toBe(words.bell)
    expect(complaints).toEqual([])
    await context.close()
  })

  test('of presses in one moment the last one counts, once, and the way back is one step', async () => {
    const { page, context } = await open({ language: 'en', customer: rich })
    await go(page, '/')
    const steps = await page.evaluate(() => history.length)
    await page.evaluate(() => {
      for (const to of ['/dns', '/invoice', '/invoice']) document.querySelector<HTMLElement>(`nav a[href="${to}"]`)?.click()
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
      // All that takes the focus is the field.
      await page.keyboard.press('Tab')
      await page.keyboard.type('tong')
      await page.getByRole('option', { name: /Tổng quan/ }).waitFor()
      expect(await field.inputValue()).toBe('tong')
      await leave()
      await page.locator('#commands').waitFor({ state: 'detached' })
      await expect.poll(() => search.evaluate((button) => button === document.activeElement)).toBe(true)
    }
    await page.keyboard.press('Control+k')
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
    // A link has the focus: it must not be followed by a key that was meant for the palette.
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

describe('nothing there, and nothing to be had', () => {
  test.each([
    { language: 'en', invoices: 'No data !', transactions: 'No transactions yet.', servers: /You have no WordPress server yet/ },
    { language: 'vi', invoices: 'Không có dữ liệu !', transactions: 'Chưa có giao dịch.', servers: /Bạn chưa có máy chủ WordPress/ },
  ] as const)('empty lists say so, and what to do ($language)', async ({ language, invoices, transactions, servers }) => {
    const { page, context } = await open({ language, customer: fresh })
    await go(page, '/invoice')
    await page.getByText(invoices, { exact: true }).waitFor()
    await go(page, '/transactions')
    await page.getByText(transactions).waitFor()
    expect(await page.locator('main section svg').first().isVisible()).toBe(true)
    await go(page, '/wordpress')
    await page.getByText(servers).waitFor()
    await context.close()
  })

  test.each([
    { language: 'en', path: '/invoice', call: '**/api/payments/stripe/invoices*', retry: 'Try again', shows: 'VN-20' },
    { language: 'vi', path: '/transactions', call: '**/api/payments/stripe?*', retry: 'Thử lại', shows: '+300.000' },
    { language: 'en', path: '/wordpress', call: '**/api/wp?*', retry: 'Try again', shows: 'localhost' },
    { language: 'vi', path: '/wordpress/create', call: '**/api/wp/sizes*', retry: 'Thử lại', shows: 'BASIC-1' },
  ] as const)('a failed load of $path offers a retry that works ($language)', async ({ language, path, call, retry, shows }) => {
    const { page, context } = await open({ language, customer: rich })
    // The network fails, as it does in a lift; the server is whole.
    await page.route(call, (route) => route.abort('connectionfailed'))
    await page.goto(`${house.url}${path}`)
    const again = page.getByRole('main').getByRole('alert').getByRole('button', { name: retry })
    await again.waitFor()
    expect(await violations(page)).toEqual([])
    await page.unroute(call)
    await again.click()
    await page.getByRole('main').getByText(shows).first().waitFor()
    await context.close()
  })

  test('an unknown address, an unknown server and an unknown payment say so', async () => {
    const { page, context } = await open({ customer: fresh })
    await page.goto(`${house.url}/no/such/page`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.goto(`${house.url}/wordpress/${made.running}`)
    await page.getByRole('main').getByRole('link', { name: 'List Wordpress' }).first().waitFor()
    expect(await page.getByText('localhost').count()).toBe(0)
    await page.goto(`${house.url}/api/payments/success?transId=${made.payment}`)
    await page.getByRole('heading', { name: 'Payment not found' }).waitFor()
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
  // Until the channel begins, which is a reason to look once more.
  const channel = '/api/notifications?limit=100'
  await expect.poll(() => asked).toContain(channel)
  const opening = asked.slice(0, asked.indexOf(channel))
  for (const address of early) expect(opening.filter((one) => one === address)).toEqual([address])
  // theme.js hands its answers over under this name; what was taken is gone.
  expect(await page.evaluate(() => (Reflect.get(window, '__earlyReads') as { answers: object }).answers)).toEqual({})
  await context.close()
})

test('a payment that is pending updates its page by itself', async () => {
  const customer = await house.customer()
  const { page, context } = await open({ customer })
  const { transactionCode } = await house.topUp(customer, 250_000, 'late')
  await page.goto(`${house.url}/api/payments/success?transId=${transactionCode}`)
  await page.getByRole('heading', { name: 'Payment received' }).waitFor()
  await page.getByText('250.000').first().waitFor()
  await context.close()
})
