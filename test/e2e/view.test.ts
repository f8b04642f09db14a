/**
 * A staff member sees the portal as a customer does, in a real browser: from the desk into a tab
 * with a bar, a refused press, and back. With PICTURES=folder pictures are saved there.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { newMember, type TestMember } from '../staff.ts'
import {
  endVisits,
  keepBothWidths,
  type Look,
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
import { pressAct, visitDesk } from './desk.ts'

let portal: TestPortal
let browser: Browser
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal(), openBrowser()])
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor()
const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)
const words = {
  en: { see: 'See as the customer', reason: 'Reason', bar: 'You only look', leave: 'Leave' },
  vi: { see: 'Xem như khách hàng', reason: 'Lý do', bar: 'Bạn chỉ đang xem', leave: 'Rời khỏi' },
}
/** Opens the customer's portal from the desk; returns the new tab. */
async function seeFrom(
  context: BrowserContext,
  desk: Page,
  an: TestCustomer,
  language: 'en' | 'vi' = 'en',
): Promise<Page> {
  const { see, reason, bar } = words[language]
  await openPage(desk, `${portal.url}/operator/customers/${an.id}`)
  await pressAct(desk, see)
  await desk.getByLabel(reason).fill('Asked for by phone, ticket 4711')
  await keepBothWidths(desk, `see-dialog-${language}`, false)
  const opened = context.waitForEvent('page')
  await desk.getByRole('dialog').getByRole('button', { name: see }).click()
  const tab = await opened
  await tab.getByRole('complementary', { name: bar }).waitFor()
  await settled(tab)
  return tab
}
async function withMoney(): Promise<TestCustomer> {
  const an = await portal.customer()
  await portal.topUp(an, 500_000)
  return an
}
const shown = (page: Page, text: string | RegExp) =>
  page.getByText(text).filter({ visible: true }).first().waitFor()
const barOf = (page: Page) => page.getByRole('complementary', { name: words.en.bar })

test('from the desk into a tab that only reads, and back', async () => {
  const an = await withMoney()
  const server = await orderServer(portal, an)
  const support = await newMember(portal, 'support')
  const { context, page: desk, complaints } = await deskOf(support)
  // The member is also a customer, signed in by the cookie of the same browser.
  const member = await portal.customer()
  const own = await context.request.post(`${portal.url}/api/v1/auth/login`, {
    data: { email: member.email, password: member.password, remember: true },
  })
  expect(own.status()).toBe(200)

  const tab = await seeFrom(context, desk, an)
  const refusals: string[] = []
  tab.on('response', (response) => {
    if (response.status() >= 400)
      refusals.push(`${response.request().method()} ${new URL(response.url()).pathname}`)
  })
  expect(new URL(tab.url()).hash).toBe('')
  const bar = barOf(tab)
  expect(await bar.innerText()).toMatch(
    /You see this as Nguyễn Văn An does\. Nothing can be changed\.\s+(29|30) minutes left/,
  )
  await shown(tab, server.name)
  expect(await violations(tab)).toEqual([])
  await keepBothWidths(tab, 'view-dashboard-en-light', false)

  // Another page, and the same one after a reload.
  await openPage(tab, `${portal.url}/wordpress`)
  await shown(tab, server.name)
  await bar.waitFor()
  await keepBothWidths(tab, 'view-servers-en-light', false)
  for (const address of [
    `/wordpress/${server.id}`,
    '/dns',
    '/invoice',
    '/transactions',
    '/payment',
  ])
    await openPage(tab, `${portal.url}${address}`)
  expect(refusals).toEqual([])
  // Parts that open access elsewhere are closed, and say so.
  await openPage(tab, `${portal.url}/wordpress/${server.id}?tab=files`)
  await shown(tab, 'Only the customer can open this.')
  await keepBothWidths(tab, 'view-files-en-light', false)
  await openPage(tab, `${portal.url}/wordpress/${server.id}?tab=logs`)
  await shown(tab, 'Only the customer can open this.')
  await openPage(tab, `${portal.url}/account/programs`)
  await shown(tab, 'Only the customer can open this.')
  await keepBothWidths(tab, 'view-programs-en-light', false)
  expect([...new Set(refusals)]).toEqual([
    `GET /api/wp/${server.id}/sftp`,
    `GET /api/wp/${server.id}/log`,
    'GET /api/v1/account/webhooks',
  ])
  refusals.length = 0
  await openPage(tab, `${portal.url}/account`)
  await tab.getByText(/support is looking at your account/).waitFor()
  await tab.getByText(/support looked at your account/).waitFor()
  expect(refusals).toEqual([])

  // Writes are refused with the server's sentence, even those that would ask for a second factor.
  await tab.getByLabel('Full name').fill('Somebody Else')
  await tab.getByRole('button', { name: 'Save', exact: true }).first().click()
  await shown(tab, 'You see the portal as the customer does. Nothing can be changed.')
  await keepBothWidths(tab, 'view-refused-en-light', false)
  const { token } = an
  const unchanged = await portal.call<{ name: string }>('GET', '/api/v1/account', { token })
  expect(unchanged.body.result.name).toBe('Nguyễn Văn An')
  // Locking does nothing, because nobody has a password here.
  await tab.getByRole('button', { name: /^Account: / }).click()
  await tab.getByRole('menuitem', { name: 'Lock' }).click()
  await bar.waitFor()
  await heading(tab, 'Account')

  // Another tab of the same browser shows the member's own session.
  const another = await context.newPage()
  await openPage(another, `${portal.url}/account`)
  await shown(another, member.email)
  expect(await barOf(another).count()).toBe(0)

  await bar.getByRole('button', { name: 'Leave' }).click()
  await tab.getByText('This view has ended.').waitFor()
  expect(new URL(tab.url()).pathname).toBe('/see')
  expect(await tab.evaluate(() => sessionStorage.getItem('accessToken'))).toBeNull()
  await keepBothWidths(tab, 'view-ended-en-light', false)
  expect(await violations(tab)).toEqual([])
  await openPage(desk, `${portal.url}/operator/customers/${an.id}`)
  await shown(desk, 'Support looked')
  await shown(desk, 'Asked for by phone, ticket 4711')
  await keepBothWidths(desk, 'desk-customer-en-light')
  expect(complaints).toEqual([])
})

test('the customer ends it, and signing out of the tab or the desk does', async () => {
  const an = await portal.customer()
  const support = await newMember(portal, 'support')
  const { context, page: desk } = await deskOf(support)
  const first = await seeFrom(context, desk, an)
  const visitor = await visitAs(browser, { language: 'en', viewport: wide, customer: an })
  await openPage(visitor.page, `${portal.url}/account`)
  await visitor.page.getByText(/support is looking at your account/).waitFor()
  await keepBothWidths(visitor.page, 'account-en-light')
  await visitor.page.getByRole('button', { name: 'End', exact: true }).click()
  await visitor.page.getByText(/support is looking at your account/).waitFor({ state: 'detached' })
  await first.getByRole('link', { name: 'Invoices' }).first().click()
  await first.getByText('This view has ended.').waitFor()

  const second = await seeFrom(context, desk, an)
  await second.getByRole('button', { name: /^Account: / }).click()
  await second.getByRole('menuitem', { name: 'Sign out' }).click()
  await second.getByText('This view has ended.').waitFor()

  const third = await seeFrom(context, desk, an)
  await support.call('POST', '/api/operator/sign-out')
  await third.getByRole('link', { name: 'Invoices' }).first().click()
  await third.getByText('This view has ended.').waitFor()
  await openPage(desk, `${portal.url}/see#used`)
  await desk.getByText('Sign in to the desk first').waitFor()
})

test('a browser that opens no tab leaves it to a press, and the view ends in time', async () => {
  const an = await portal.customer()
  const support = await newMember(portal, 'support')
  const { context, page: desk } = await deskOf(support)
  await desk.addInitScript(() => {
    window.open = () => null
  })
  await openPage(desk, `${portal.url}/operator/customers/${an.id}`)
  await desk.getByRole('button', { name: words.en.see }).click()
  await desk.getByLabel(words.en.reason).fill('Asked for by phone, ticket 4711')
  await desk.getByRole('dialog').getByRole('button', { name: words.en.see }).click()
  const opened = context.waitForEvent('page')
  await keepBothWidths(desk, 'see-blocked-en', false)
  await desk.getByRole('link', { name: 'Open the tab' }).click()
  const tab = await opened
  await barOf(tab).waitFor()
  await desk.getByRole('dialog').waitFor({ state: 'detached' })
  // Half an hour later by this machine's clock; the server is not queried.
  await tab.clock.setFixedTime(Date.now() + 31 * 60_000)
  await tab.getByText('This view has ended.').waitFor()
  expect(new URL(tab.url()).pathname).toBe('/see')
})

test('in Vietnamese, dark, and on a phone the bar stands and nothing is cut', async () => {
  const owner = await newMember(portal, 'owner')
  const { context, page: desk } = await deskOf(owner, { language: 'vi', theme: 'dark' })
  const tab = await seeFrom(context, desk, await withMoney(), 'vi')
  for (const [name, at] of Object.entries({
    dashboard: '/',
    account: '/account',
    servers: '/wordpress',
    order: '/hosting/create',
  })) {
    await openPage(tab, `${portal.url}${at}`)
    const bar = tab.getByRole('complementary', { name: words.vi.bar })
    await bar.waitFor()
    await keepBothWidths(tab, `view-${name}-vi-dark`, false)
    expect([name, await violations(tab)]).toEqual([name, []])
    await resize(tab, phone)
    expect([name, await sideways(tab)]).toEqual([name, 0])
    // The bar stays on the screen, with the page's header below it.
    await tab.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    const [top, head] = await tab.evaluate(() => [
      document.querySelector('.view-bar')?.getBoundingClientRect(),
      document.querySelector('#root header')?.getBoundingClientRect(),
    ])
    expect(top?.top).toBe(0)
    expect(Math.round((head?.top ?? 0) - (top?.bottom ?? 0))).toBe(0)
    await resize(tab, wide)
  }
})
