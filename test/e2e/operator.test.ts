/**
 * The operator's desk in a real browser: an invitation accepted with an app, a customer found,
 * money added with a second member's approval, a block, and the trail. With PICTURES=folder
 * pictures are saved there.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { stepOf, totpAt } from '../../server/auth/totp.ts'
import { transaction } from '../../server/platform/db.ts'
import { orderServer } from '../ordered-servers.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../portal.ts'
import { invitationsOf, newMember, type TestMember } from '../staff.ts'
import {
  endVisits,
  judgeBothWidths,
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

const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
let portal: TestPortal
let browser: Browser
let an: TestCustomer
beforeAll(async () => {
  ;[portal, browser] = await Promise.all([openTestPortal({ catalogText: shipped }), openBrowser()])
  an = await portal.customer()
  await portal.topUp(an, 200_000)
})
afterAll(async () => {
  await endVisits(browser)
  await portal?.close()
})

/** The desk in a browser that holds this member's session. */
const deskOf = (member: TestMember, look: Look = {}) => visitDesk(browser, portal, member, look)
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name }).waitFor()

test('a server is cancelled; who is alone learns that nobody can approve a large one', async () => {
  const binh = await portal.customer()
  await portal.topUp(binh, 200_000_000)
  await orderServer(portal, binh, { size: 5, replicate: 8 })
  const small = await orderServer(portal, binh)
  const { page, complaints } = await deskOf(await newMember(portal, 'operations'))
  await openPage(page, `${portal.url}/operator/customers/${binh.id}`)
  const servers = page.getByRole('listitem').filter({
    has: page.getByRole('button', { name: 'Cancel server' }),
  })
  const cancel = async (name: string): Promise<Locator> => {
    await servers.filter({ hasText: name }).getByRole('button', { name: 'Cancel server' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Text for the customer').fill('It sends spam')
    await dialog.getByLabel('Reason').fill('Ticket 4711')
    await judgeBothWidths(page, 'cancel-server-en-light')
    await dialog.getByRole('button', { name: 'Cancel server' }).click()
    return dialog
  }
  await (await cancel(small.name)).waitFor({ state: 'detached' })
  await servers.filter({ hasText: small.name }).waitFor({ state: 'detached' })
  const alone = await cancel('')
  await alone.getByText('Nobody else may approve this yet').waitFor()
  await judgeBothWidths(page, 'nobody-approves-en-light')
  await alone.getByRole('button', { name: 'Understood' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Approvals' }).click()
  await page.getByText('Nobody else may approve this yet').waitFor()
  await judgeBothWidths(page, 'approvals-alone-en-light')
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('It was tried')
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('Nothing waits for approval.').waitFor()
  expect(complaints).toEqual([])
})

test('an invitation is accepted with an app, and the session ends at sign-out', async () => {
  const { link } = await transaction(portal.app.db, (tx) =>
    invitationsOf(portal).invite(tx, {
      name: 'Lan Trần',
      email: 'lan@operator.example',
      role: 'owner',
    }),
  )
  const { page, complaints } = await visitAs(browser, { language: 'en', viewport: wide })
  await page.goto(link)
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await keepBothWidths(page, 'invitation-en-light')
  expect(await violations(page)).toEqual([])
  const secret = (await page.locator('p.font-mono').innerText()).trim()
  await page.getByLabel('1. Choose a password').fill('Correct-horse-9')
  await page.getByLabel('3. Type the code').fill('000000')
  await page.getByRole('button', { name: 'Begin' }).click()
  await page.getByText('That code is not right').waitFor()
  const code = totpAt(secret, stepOf(new Date()))
  await page.getByLabel('3. Type the code').fill(code)
  await page.getByRole('button', { name: 'Begin' }).click()
  await heading(page, 'Overview')
  expect(new URL(page.url()).hash).toBe('')
  // The browser logs two refusals: a wrong code, and the first query without a session.
  expect(complaints.filter((text) => !/\b(401|422)\b/.test(text))).toEqual([])

  await page.getByRole('button', { name: 'Your session: Lan Trần' }).click()
  await page.getByRole('menuitem', { name: /Sign out/ }).click()
  await heading(page, 'Operator’s desk')
  await keepBothWidths(page, 'sign-in-en-light')
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Email').fill('Lan@Operator.example')
  await page.getByLabel('Password', { exact: true }).fill('Correct-horse-9')
  await page.getByLabel('Code of your app').fill(code)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  // The same code is used a second time.
  await page.getByText('Login fail, please try again !').waitFor()
  await page.getByLabel('Code of your app').fill(totpAt(secret, stepOf(new Date()) + 1))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await heading(page, 'Overview')
})

test('an owner sends an invitation again, and withdraws it', async () => {
  const { page, complaints } = await deskOf(await newMember(portal, 'owner'))
  await openPage(page, `${portal.url}/operator/staff`)
  const dialog = page.getByRole('dialog')
  const row = page.getByRole('listitem').filter({ hasText: 'mistyped@operator.example' })
  await page.getByRole('button', { name: 'Invite a member' }).click()
  await dialog.getByLabel('Name').fill('Bình Lê')
  await dialog.getByLabel('Email').fill('mistyped@operator.example')
  await dialog.getByLabel('Networks').fill('203.0.113.0/24')
  await dialog.getByLabel('Reason').fill('New colleague')
  await dialog.getByRole('button', { name: 'Invite' }).click()
  await row.getByRole('button', { name: 'Send again' }).click()
  // The invitation's values are kept, including the networks.
  expect(await dialog.getByLabel('Networks').inputValue()).toBe('203.0.113.0/24')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await keepBothWidths(page, 'staff-invited-en-light')
  await row.getByRole('button', { name: 'Withdraw invitation' }).click()
  await dialog.getByLabel('Reason').fill('The address was mistyped')
  await dialog.getByRole('button', { name: 'Withdraw invitation' }).click()
  await row.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a customer is found, noted on, credited with a second member, and blocked', async () => {
  const finance = await newMember(portal, 'finance')
  const owner = await newMember(portal, 'owner')
  const { page, complaints } = await deskOf(finance)
  await openPage(page, `${portal.url}/operator`)
  await page.getByRole('searchbox', { name: 'Search' }).fill('nguyen van an')
  await page.getByRole('link', { name: an.email }).click()
  await heading(page, 'Nguyễn Văn An')

  await page.getByRole('button', { name: 'Add note' }).click()
  await page.getByLabel('Note', { exact: true }).fill('Called about the invoice of May.')
  await page.getByRole('dialog').getByRole('button', { name: 'Add note' }).click()
  await page.getByText('Called about the invoice of May.').first().waitFor()
  // Their role does not block.
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Debit wallet' }).waitFor()
  expect(await page.getByRole('menuitem', { name: 'Block', exact: true }).count()).toBe(0)
  await keepBothWidths(page, 'customer-acts-en-light', false)
  await page.keyboard.press('Escape')

  const credit = async (amount: string): Promise<void> => {
    await page.getByRole('button', { name: 'Credit wallet' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Credit wallet' }).click()
    await dialog.getByText('Enter an amount').waitFor()
    await dialog.getByLabel('Amount in VND').fill(amount)
    await dialog.getByLabel('Text for the customer').fill('Goodwill for the outage')
    await dialog.getByLabel('Reason').fill('Outage of Monday, ticket 4711')
    // Beside the amount stands what it comes to.
    await dialog.getByText('Balance after').waitFor()
    await keepBothWidths(page, `credit-${amount}-en-light`)
    await dialog.getByRole('button', { name: 'Credit wallet' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await credit('50000')
  await page.getByText('250.000').first().waitFor()
  await credit('6000000')
  await page.getByText('Another member must approve this within 24 hours.').waitFor()
  await page.getByText('250.000').first().waitFor()
  await page.getByRole('link', { name: 'Approvals' }).click()
  await page.getByText('Somebody else must approve what you proposed.').waitFor()
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  expect(complaints).toEqual([])

  const other = await deskOf(owner)
  await openPage(other.page, `${portal.url}/operator/approvals`)
  await keepBothWidths(other.page, 'approvals-en-light')
  expect(await violations(other.page)).toEqual([])
  await other.page.getByRole('button', { name: 'Approve' }).click()
  // Who asked, when and why, about whom, and what it would change.
  const asked = other.page.getByRole('dialog')
  for (const text of [/ · Finance$/, 'Outage of Monday, ticket 4711', new RegExp(an.email)])
    await asked.getByText(text).waitFor()
  await asked.getByText(/Balance: 250\.000.* → 6\.250\.000/).waitFor()
  await judgeBothWidths(other.page, 'approve-en-light')
  await asked.getByRole('button', { name: 'Approve' }).click()
  await other.page.getByText('Nothing waits for approval.').waitFor()
  await openPage(other.page, `${portal.url}/operator/customers/${an.id}`)
  await other.page.getByText('6.250.000').first().waitFor()

  await pressAct(other.page, 'Block')
  await other.page.getByLabel('Reason').fill('Card was stolen')
  await other.page.getByRole('dialog').getByRole('button', { name: 'Block' }).click()
  await other.page.getByText(/^Blocked ·/).waitFor()
  await settled(other.page)
  await keepBothWidths(other.page, 'customer-en-light')
  expect(await violations(other.page)).toEqual([])
  const { email, password } = an
  const refused = await portal.call('POST', '/api/v1/auth/login', { body: { email, password } })
  expect(refused.body.error?.code).toBe('account_blocked')

  await other.page.getByRole('link', { name: 'Trail' }).click()
  await other.page.getByText('Card was stolen').waitFor()
  await other.page.getByRole('button', { name: 'Verify the chain' }).click()
  await other.page.getByText(/The chain is whole: \d+ acts/).waitFor()
  // A row of the trail; the changes in it are list items, too.
  const rows = other.page.locator('main li.grid')
  await rows.nth(1).waitFor()
  await other.page.getByLabel('Act', { exact: true }).selectOption({ label: 'Block' })
  await other.page.getByLabel('About').fill(an.email)
  await other.page.getByRole('button', { name: 'Show' }).click()
  await rows.nth(1).waitFor({ state: 'detached' })
  await rows.getByText('Card was stolen').waitFor()
  await keepBothWidths(other.page, 'trail-filtered-en-light')
  await other.page.getByRole('button', { name: 'Clear' }).click()
  await rows.nth(1).waitFor()
  await keepBothWidths(other.page, 'trail-en-light')
  expect(await violations(other.page)).toEqual([])

  await other.page.getByRole('link', { name: 'Staff' }).click()
  await heading(other.page, 'Staff')
  await other.page.getByRole('button', { name: 'Invite a member' }).click()
  await other.page.getByLabel('Name').fill('Minh Lê')
  await other.page.getByLabel('Email').fill('Minh@Operator.example')
  await other.page.getByLabel('Role').selectOption('support')
  await other.page.getByLabel('Networks').fill('203.0.113.0/33')
  await other.page.getByLabel('Reason').fill('New colleague')
  await other.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await other.page.getByText('203.0.113.0/33 is no network').waitFor()
  await other.page.getByLabel('Networks').fill('203.0.113.0/24')
  await other.page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  await other.page.getByText('minh@operator.example').waitFor()
  await keepBothWidths(other.page, 'staff-en-light')
  // The browser logs the refusals and nothing else.
  expect(other.complaints.filter((text) => !text.includes('422'))).toEqual([])
})

test('the first page says what waits; the list has all customers and filters them', async () => {
  const [finance, binh] = await Promise.all([newMember(portal, 'finance'), portal.customer()])
  const asked = await finance.act<ActOutcome>('money.credit', {
    customer: binh.id,
    amount: 7_000_000,
    currency: 'VND',
    told: 'Goodwill',
    reason: 'Agreed with the customer',
  })
  expect(asked.body.result.state).toBe('proposed')
  const { page, complaints } = await deskOf(await newMember(portal, 'owner'))
  await openPage(page, `${portal.url}/operator`)
  await page.getByRole('status').getByText('Everything is well').waitFor()
  // A count of zero has its line too.
  await page.getByRole('link', { name: 'Disputes 0', exact: true }).waitFor()
  await judgeBothWidths(page, 'overview-en-light')
  await page.getByRole('link', { name: 'Approvals 1', exact: true }).last().click()
  await heading(page, 'Approvals')

  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click()
  const row = (email: string) => page.getByRole('row').filter({ hasText: email })
  await row(binh.email).getByText('0 đ').waitFor()
  await judgeBothWidths(page, 'customers-en-light')
  await page.getByLabel('Show').selectOption('Closed')
  await page.getByText('No customers here.').waitFor()
  await page.getByLabel('Show').selectOption('Active')
  // The search finds one of them, and clearing it shows the list again.
  await page.getByRole('searchbox', { name: 'Search' }).fill(binh.email)
  await page.getByRole('table').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: binh.email }).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Customers' }).click()
  await row(binh.email).getByRole('link').click()
  await page.getByRole('link', { name: 'All customers' }).click()
  await row(binh.email).waitFor()
  expect(complaints).toEqual([])
})

test('who approves sees all that was asked for, plans by their names', async () => {
  const [finance, binh] = await Promise.all([newMember(portal, 'finance'), portal.customer()])
  const reason = 'Agreed with the customer'
  const creditLine = { limit: 60_000_000, termDays: 45, currency: 'VND' }
  const coupon = { code: 'TET-2027-SALE', amount: 500_000, percent: 20, currency: 'VND', uses: 400 }
  const only = { plans: [1, 2], expiresOn: '2027-02-10' }
  const asked = [
    await finance.act<ActOutcome>('credit_line.set', { customer: binh.id, ...creditLine, reason }),
    await finance.act<ActOutcome>('coupon.make', { ...coupon, ...only, reason }),
  ]
  expect(asked.map(({ body }) => body.result.state)).toEqual(['proposed', 'proposed'])
  const { page, complaints } = await deskOf(await newMember(portal, 'owner'))
  await openPage(page, `${portal.url}/operator/approvals`)
  const row = (text: string) =>
    page
      .getByRole('listitem')
      .filter({ hasText: text, has: page.getByRole('button', { name: 'Approve' }) })
  const line = row('Set credit line')
  await line.getByText(/Limit: .*60\.000\.000/).waitFor()
  await line.getByText('Days until due: 45').waitFor()
  const made = row('Make coupon')
  for (const text of ['Percent off: 20', 'Uses: 400', 'Plans: BASIC-1, BASIC-2'])
    await made.getByText(text).waitFor()
  await keepBothWidths(page, 'approvals-asked-en-light')
  await made.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('dialog').getByText('Plans: BASIC-1, BASIC-2').waitFor()
  await keepBothWidths(page, 'approve-coupon-en-light')
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await made.waitFor({ state: 'detached' })
  await openPage(page, `${portal.url}/operator/trail`)
  // Once in the proposal, and once in the act.
  await page.getByText('Plans: BASIC-1, BASIC-2').nth(1).waitFor()
  expect(complaints).toEqual([])
})

test('in Vietnamese, dark, and on a phone every screen is whole', async () => {
  const owner = await newMember(portal, 'owner')
  const { page, complaints } = await deskOf(owner, { language: 'vi', theme: 'dark' })
  const screens = {
    search: '/operator?q=nguyen',
    overview: '/operator',
    customers: '/operator/customers',
    overdue: '/operator/overdue',
    customer: `/operator/customers/${an.id}`,
    approvals: '/operator/approvals',
    suspense: '/operator/suspense',
    work: '/operator/work',
    trail: '/operator/trail',
    staff: '/operator/staff',
  }
  for (const [name, at] of Object.entries(screens)) {
    await openPage(page, `${portal.url}${at}`)
    await keepBothWidths(page, `${name}-vi-dark`)
    expect([name, await violations(page)]).toEqual([name, []])
    await resize(page, phone)
    expect([name, await sideways(page)]).toEqual([name, 0])
    await resize(page, wide)
  }
  await page.getByRole('button', { name: 'Ngôn ngữ: Tiếng Việt' }).click()
  await page.getByRole('menuitemradio', { name: 'English' }).click()
  await heading(page, 'Staff')
  expect(complaints).toEqual([])
})

test('a session that has ended asks to sign in again', async () => {
  const owner = await newMember(portal, 'owner')
  const { page } = await deskOf(owner)
  await openPage(page, `${portal.url}/operator/staff`)
  await owner.call('POST', '/api/operator/sign-out')
  await page.getByRole('link', { name: 'Trail' }).click()
  await page.getByText('Your session has ended').waitFor()
})
