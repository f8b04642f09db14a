/**
 * Members of a customer's account, in a real browser: invited, arriving by letter, working under
 * the bar, removed. With PICTURES=folder pictures are saved there.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { orderServer } from '../ordered-servers.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { invitationOf, join } from '../team.ts'
import {
  endVisits,
  judgeBothWidths,
  keepBothWidths,
  openBrowser,
  openPage,
  settled,
  violations,
  visitAs,
  wide,
  type Look,
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

/** Signed in by the cookie, like a browser. */
async function at(who: TestCustomer, look: Look = {}) {
  const one = await visitAs(browser, { language: 'en', viewport: wide, ...look })
  const own = await one.context.request.post(`${portal.url}/api/v1/auth/login`, {
    data: { email: who.email, password: who.password, remember: true },
  })
  expect(own.status()).toBe(200)
  return one
}
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const shown = (page: Page, text: string | RegExp) =>
  page.getByText(text).filter({ visible: true }).first().waitFor()
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor()
const barOf = (page: Page) => page.getByRole('complementary', { name: 'Whose account this is' })
/** The visible entries of the menu. */
const menu = (page: Page): Promise<string[]> =>
  page.locator('#root aside nav li').filter({ visible: true }).allInnerTexts()
const named = async (name: string): Promise<TestCustomer> => {
  const one = await portal.customer()
  const changed = await portal.call('PUT', '/api/v1/account', {
    token: one.token,
    body: { name, language: 'en' },
  })
  expect(changed.status).toBe(200)
  return one
}

test('invited by letter, at work under a bar, and removed while a page is open', async () => {
  const [an, binh] = [await named('Lê An'), await named('Trần Bình')]
  await portal.topUp(an, 900_000)
  const server = await orderServer(portal, an)
  const owner = await at(an)
  await openPage(owner.page, `${portal.url}/account`)
  await owner.page.getByRole('link', { name: 'Open: Team' }).click()
  const members = card(owner.page, 'Members')
  await members.getByText('Nobody but you.').waitFor()
  await settled(owner.page)
  await judgeBothWidths(owner.page, 'team-empty-en-light')
  await members.getByRole('button', { name: 'Invite' }).click()
  await members.getByLabel('E-mail address').fill(binh.email)
  await members.getByLabel('Only some servers').check()
  await members.getByLabel(server.name).check()
  await judgeBothWidths(owner.page, 'team-invite-en-light')
  await members.getByLabel('Current password', { exact: true }).fill('not this one')
  await members.getByRole('button', { name: 'Send the invitation' }).click()
  await members.locator('[aria-invalid=true]').waitFor()
  await members.getByLabel('Only some servers').uncheck()
  await members.getByLabel('Current password', { exact: true }).fill(an.password)
  await members.getByRole('button', { name: 'Send the invitation' }).click()
  await card(owner.page, 'Open invitations').getByText(binh.email, { exact: true }).waitFor()
  await judgeBothWidths(owner.page, 'team-invited-en-light')

  const token = await eventually('the letter', () => invitationOf(portal, binh.email))
  const { page: tab, context, complaints } = await at(binh)
  await openPage(tab, `${portal.url}/account/team#${token}`)
  const invitation = card(tab, '“Lê An” invites you')
  await invitation.getByText('Your role would be: Technical.').waitFor()
  expect(new URL(tab.url()).hash).toBe('')
  await judgeBothWidths(tab, 'team-invitation-en-light')
  await invitation.getByRole('button', { name: 'Accept' }).click()
  const others = card(tab, 'Accounts you work in')
  await others.getByText('Lê An', { exact: true }).waitFor()
  await judgeBothWidths(tab, 'team-accounts-en-light')
  // From the header of every page of the member's own account.
  await openPage(tab, `${portal.url}/`)
  await tab.getByRole('button', { name: 'Work in another account' }).click()
  await keepBothWidths(tab, 'team-switcher-en-light', false)
  await tab.getByRole('menuitem', { name: 'Lê An' }).click()

  const bar = barOf(tab)
  await bar.waitFor()
  await heading(tab, 'WordPress')
  await settled(tab)
  expect((await bar.innerText()).replaceAll(/\s+/g, ' ')).toBe(
    'You are in the account of Lê An. Role: Technical Back to your own account',
  )
  await shown(tab, server.name)
  // Neither the wallet's entry nor the balance is shown.
  const entries = (await menu(tab)).join(' ')
  expect(entries).toContain('DNS')
  expect(entries).not.toMatch(/Top up|Transactions|Invoices|Overview/)
  expect(await tab.getByText('Balance').filter({ visible: true }).count()).toBe(0)
  expect(await violations(tab)).toEqual([])
  await keepBothWidths(tab, 'acting-servers-en-light', false)
  await openPage(tab, `${portal.url}/wordpress/${server.id}`)
  await bar.waitFor()
  await keepBothWidths(tab, 'acting-server-en-light', false)
  // A page that the role may not open shows a sentence.
  await openPage(tab, `${portal.url}/invoice`)
  await shown(tab, 'Your role in this account does not allow that. Ask its owner.')
  await keepBothWidths(tab, 'acting-refused-en-light', false)

  // Another tab of the same browser shows the member's own account.
  const another = await context.newPage()
  await openPage(another, `${portal.url}/account`)
  await shown(another, binh.email)
  expect(await barOf(another).count()).toBe(0)
  await bar.getByRole('button', { name: 'Back to your own account' }).click()
  await card(tab, 'Accounts you work in').getByText('Lê An', { exact: true }).waitFor()
  expect(await barOf(tab).count()).toBe(0)
  await tab.getByRole('button', { name: 'Open: Lê An' }).click()
  await barOf(tab).waitFor()
  // Locking locks the member's own session.
  await tab.getByRole('button', { name: /^Account/ }).click()
  await tab.getByRole('menuitem', { name: 'Lock' }).click()
  await tab.getByLabel('Password', { exact: true }).fill(binh.password)
  await tab.getByRole('button', { name: 'Unlock' }).click()
  await heading(tab, 'Overview')
  await openPage(tab, `${portal.url}/account/team`)
  await tab.getByRole('button', { name: 'Open: Lê An' }).click()
  await barOf(tab).waitFor()
  await settled(tab)

  await owner.page.reload()
  const acts = card(owner.page, 'What members did')
  await acts.getByText('Opened the account').first().waitFor()
  await settled(owner.page)
  await owner.page.getByRole('button', { name: 'Change: Trần Bình' }).click()
  await owner.page.getByRole('form', { name: 'What Trần Bình may do' }).waitFor()
  await judgeBothWidths(owner.page, 'team-members-en-light')
  await owner.page.getByRole('button', { name: 'Remove: Trần Bình' }).click()
  await owner.page
    .getByRole('dialog', { name: 'Remove this member?' })
    .getByRole('button', { name: 'Remove' })
    .click()
  await members.getByText('Nobody but you.').waitFor()
  // The next press finds that access has ended, and returns to the own account.
  await tab.getByRole('link', { name: 'DNS' }).first().click()
  await shown(tab, 'Your access to the other account has ended.')
  await settled(tab)
  expect(new URL(tab.url()).pathname).toBe('/account/team')
  expect(await barOf(tab).count()).toBe(0)
  await keepBothWidths(tab, 'acting-ended-en-light', false)
  await shown(tab, 'None. Whoever invites you sends a letter with a link.')
  // The browser logs these refusals by itself.
  const unforeseen = (all: readonly string[]) => all.filter((one) => !/40[13]|422/.test(one))
  expect(unforeseen([...complaints, ...owner.complaints])).toEqual([])
})

test('a server is handed over by letter, and is the other one’s', async () => {
  const [an, binh] = [await named('Lê An'), await named('Trần Bình')]
  await portal.topUp(an, 900_000)
  const server = await orderServer(portal, an)
  const { page, complaints } = await at(an)
  await openPage(page, `${portal.url}/account/team`)
  const card = page.getByRole('region', { name: 'Hand over to another customer' })
  await card.getByText('Nothing is offered.').waitFor()
  await card.getByRole('button', { name: 'Hand over' }).click()
  await card.getByRole('button', { name: 'Send the offer' }).click()
  await card.locator('[aria-invalid=true]').first().waitFor()
  await card.getByLabel('What', { exact: true }).selectOption({ label: `Server: ${server.name}` })
  await card.getByLabel('E-mail address').fill(binh.email)
  await card.getByLabel('Current password', { exact: true }).fill(an.password)
  await judgeBothWidths(page, 'hand-over-form-en-light')
  await card.getByRole('button', { name: 'Send the offer' }).click()
  await card.getByText(`Offered to ${binh.email}`).waitFor()
  await judgeBothWidths(page, 'hand-over-offered-en-light')

  const token = await eventually('the letter', async () => {
    for (const { text } of await portal.inbox(binh.email)) {
      const found = /account\/team#offer=([\w-]+)/.exec(text)?.[1]
      if (found !== undefined) return found
    }
    return undefined
  })
  const { page: tab } = await at(binh, { theme: 'dark', language: 'vi' })
  await openPage(tab, `${portal.url}/account/team#offer=${token}`)
  const offered = tab.getByRole('region', { name: `“Lê An” chuyển giao “${server.name}” cho bạn` })
  await offered.getByText(/mỗi tháng bằng ví của bạn/).waitFor()
  await judgeBothWidths(tab, 'hand-over-offer-vi-dark')
  await offered.getByRole('button', { name: 'Nhận' }).click()
  await offered.waitFor({ state: 'detached' })
  await openPage(tab, `${portal.url}/wordpress`)
  await shown(tab, server.name)
  await page.reload()
  await card.getByText(`Taken over by ${binh.email}`).waitFor()
  await openPage(page, `${portal.url}/wordpress`)
  // The bell still lists past events.
  expect(await page.locator('main').getByText(server.name).count()).toBe(0)
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
})

test('in Vietnamese and dark, for who pays the invoices', async () => {
  const [an, binh] = [await named('Công ty An'), await named('Trần Bình')]
  await portal.topUp(an, 900_000)
  await orderServer(portal, an)
  await join(portal, an, binh, { role: 'billing' })
  const { page: tab } = await at(binh, { language: 'vi', theme: 'dark' })
  await openPage(tab, `${portal.url}/account/team`)
  await judgeBothWidths(tab, 'team-vi-dark')
  await tab.getByRole('button', { name: 'Mời' }).click()
  await judgeBothWidths(tab, 'team-invite-vi-dark')
  await tab.getByRole('button', { name: 'Mở: Công ty An' }).click()
  const bar = tab.getByRole('complementary', { name: 'Bạn đang ở tài khoản nào' })
  await bar.waitFor()
  await settled(tab)
  for (const [name, to] of Object.entries({
    transactions: '/transactions',
    invoices: '/invoice',
    payment: '/payment',
    account: '/account',
  })) {
    await openPage(tab, `${portal.url}${to}`)
    await bar.waitFor()
    expect([name, await violations(tab)]).toEqual([name, []])
    await keepBothWidths(tab, `acting-${name}-vi-dark`, false)
  }
  expect((await menu(tab)).join(' ')).not.toMatch(/WordPress|DNS|Hosting/)
})

/** Opens a tab in the owner's account, on the role's first page. */
async function inAccountOf(owner: TestCustomer, person: TestCustomer, role: string) {
  await join(portal, owner, person, { role })
  const one = await at(person)
  await openPage(one.page, `${portal.url}/account/team`)
  await one.page.getByRole('button', { name: /^Open: / }).click()
  await barOf(one.page).waitFor()
  await settled(one.page)
  return one
}
const buttons = (page: Page): Promise<string[]> =>
  page.getByRole('button').filter({ visible: true }).allInnerTexts()
const entriesOfUserMenu = async (page: Page): Promise<string[]> => {
  await page.getByRole('button', { name: /^Account/ }).click()
  const entries = await page.getByRole('menuitem').filter({ visible: true }).allInnerTexts()
  await page.keyboard.press('Escape')
  return entries
}

test('each role is shown what it may do, and no more', async () => {
  const [an, binh, chi, dung] = [
    await named('Lê An'),
    await named('Trần Bình'),
    await named('Chi'),
    await named('Dũng'),
  ]
  await portal.topUp(an, 900_000)
  const server = await orderServer(portal, an)
  const domain = await portal.call<{ id: string }>('POST', '/api/dns', {
    token: an.token,
    body: { name: 'tiem-cua-an.com' },
  })
  const domainPage = `${portal.url}/dns/domain/${domain.body.result.id}`
  const sitePage = `${portal.url}/wordpress/${server.id}`

  const { page: technical } = await inAccountOf(an, binh, 'technical')
  expect(await technical.getByRole('button', { name: /^Notifications/ }).count()).toBe(0)
  expect(await entriesOfUserMenu(technical)).toEqual(['Lock Screen', 'Sign Out'])
  await openPage(technical, sitePage)
  await technical.getByRole('button', { name: 'Restart' }).waitFor()
  expect(await buttons(technical)).not.toContain('Delete server')
  await openPage(technical, `${sitePage}?tab=plans`)
  await shown(technical, 'Only the owner and co-owners can order, upgrade, rename and delete')
  await technical.getByRole('table', { name: 'Size plans' }).waitFor()
  expect((await buttons(technical)).filter((name) => /Buy|Rename|Apply/.test(name))).toEqual([])
  expect(await violations(technical)).toEqual([])
  await openPage(technical, `${portal.url}/dns`)
  await technical.getByRole('button', { name: 'Create domain' }).waitFor()
  await shown(technical, 'tiem-cua-an.com')
  expect(await buttons(technical)).not.toContain('Delete')
  // No link leads to a page that is a closed form, and its address redirects.
  await technical.goto(`${portal.url}/wordpress/create`)
  await technical.waitForURL(`${portal.url}/wordpress`)

  const { page: reader } = await inAccountOf(an, chi, 'read_only')
  // The unread state belongs to the owner.
  await reader.getByRole('button', { name: 'Notifications', exact: true }).click()
  await reader.getByRole('list', { name: 'Notifications' }).waitFor()
  expect(await reader.getByText('Unread: ').count()).toBe(0)
  await reader.keyboard.press('Escape')
  expect(await entriesOfUserMenu(reader)).not.toContain('Account')
  await openPage(reader, sitePage)
  await reader.getByText('Renews on').waitFor()
  expect(await reader.getByRole('tab').allInnerTexts()).not.toContain('Console')
  expect(
    (await buttons(reader)).filter((name) => /Cancel sub|Restart|Delete|Admin/.test(name)),
  ).toEqual([])
  await openPage(reader, `${sitePage}?tab=backups`)
  await shown(reader, 'Your role in this account can view this, but not change it.')
  expect(await buttons(reader)).not.toContain('Back up now')
  expect(await reader.getByText('You can also back up now').count()).toBe(0)
  await openPage(reader, domainPage)
  await reader.getByRole('button', { name: 'More' }).first().waitFor()
  expect(await reader.getByRole('link', { name: 'Add record' }).count()).toBe(0)
  await openPage(reader, `${portal.url}/support`)
  await heading(reader, 'Support')
  expect(await buttons(reader)).not.toContain('New ticket')
  expect(await violations(reader)).toEqual([])
  // If the access has ended before the bar is loaded, the tab shows the customer's own account.
  await reader.evaluate(() => {
    for (const key of ['view', 'accessToken']) sessionStorage.removeItem(key)
  })
  await openPage(reader, portal.url)
  expect(await entriesOfUserMenu(reader)).toContain('Account')

  const { page: partner } = await inAccountOf(an, dung, 'owner')
  await openPage(partner, `${portal.url}/account`)
  await partner.getByRole('region', { name: 'Billing details' }).waitFor()
  expect(await partner.getByLabel('Current password').count()).toBe(0)
  expect(await partner.getByRole('main').getByRole('region').count()).toBe(1)
  await openPage(partner, sitePage)
  await partner.getByRole('button', { name: 'Delete server' }).waitFor()
  await partner.getByRole('button', { name: 'Cancel subscription' }).waitFor()
  await partner.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  // The owner's notifications stay unread.
  const bell = await portal.call<{ unread: number }>('GET', '/api/notifications', {
    token: an.token,
  })
  expect(bell.body.result.unread).toBeGreaterThan(0)
})
