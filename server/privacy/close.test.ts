/** A customer leaves: what must be settled first, what is erased, and what stays. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Obstacle } from '../../contract/personal-data.ts'
import { cardsOf } from '../../test/card-holder.ts'
import { newcomersTo } from '../../test/newcomers.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { stripeBrowser, testCards } from '../../test/stripe-browser.ts'
import { join, work } from '../../test/team.ts'
import { minutes } from '../platform/clock.ts'
import { checkLedger } from '../wallet/index.ts'
import { personalData } from './export.ts'
import { stored } from './stored.ts'

let portal: TestPortal
const { codeFor, passInCounters } = newcomersTo(() => portal)
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())

const obstacles = async ({ token }: TestCustomer): Promise<readonly Obstacle[]> =>
  (await portal.call<{ obstacles: Obstacle[] }>('GET', '/api/v1/account/closing', { token })).body
    .result.obstacles
const close = ({ token, password }: TestCustomer, more: object = {}) =>
  portal.call('POST', '/api/v1/account/close', { token, body: { password, ...more } })
const accountIs = (id: string) =>
  portal.app.db.selectFrom('customer').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

/** What stays: names of servers and domains, and the rows that money and invoices refer to. */
const kept = new Set(
  (
    'customer ledger_account ledger_entry ledger_transfer subscription invoice invoice_line ' +
    'payment payment_refund payment_reversal auto_top_up_charge voucher_use wallet_debt site ' +
    'site_domain ' +
    'site_backup site_restore site_update dns_zone certificate'
  ).split(' '),
)
/** The rows of the list that the customer's own file would have. */
async function nothingIsLeftOf(customerId: string): Promise<void> {
  const { db } = portal.app
  let text = ''
  for await (const piece of personalData(db, { id: customerId, recipients: [] }, new Date()))
    text += piece
  const file = JSON.parse(text) as Record<string, unknown[]>
  for (const { table } of stored) if (!kept.has(table)) expect(file[table], table).toEqual([])
  for (const site of file['site'] ?? [])
    expect(site).toMatchObject({ admin_user: '', visit_user: null, denied_networks: [] })
  for (const payment of file['payment'] ?? []) expect(payment).toMatchObject({ ip: '' })
}

describe('an account', () => {
  test('is closed once servers, domains and the wallet are settled, and not before', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 500_000)
    const { id: server } = await orderServer(portal, an)
    const { body: made } = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: an.token,
      body: { name: 'di-roi.vn' },
    })
    expect(await obstacles(an)).toEqual(['servers', 'domains', 'balance'])
    const early = await close(an)
    expect(early.status).toBe(409)
    expect(early.body.error?.fields).toHaveProperty('account')
    expect((await accountIs(an.id)).closed_at).toBeNull()

    await portal.call('DELETE', `/api/wp/${server}`, { token: an.token })
    await portal.call('DELETE', `/api/dns/${made.result.id}`, { token: an.token })
    await eventually('the server is gone', async () =>
      (await obstacles(an)).every((one) => one === 'balance'),
    )
    // Finance gives the rest back outside of the portal, and books it.
    const { balance } = await portal.app.ledger.balanceOf(portal.app.db, an.id)
    const debit = await finance.act<ActOutcome>('money.debit', {
      customer: an.id,
      amount: Number(balance),
      currency: 'VND',
      told: 'Transferred to your bank account',
      reason: 'asked for by phone',
    })
    expect(debit.body.result.state).toBe('done')
    expect(await obstacles(an)).toEqual([])
    expect((await close(an, { password: 'Wrong-horse-9' })).status).toBe(422)
    expect((await close(an)).status).toBe(200)
    expect((await portal.call('GET', '/api/v1/auth/me', { token: an.token })).status).toBe(401)
    await nothingIsLeftOf(an.id)
  })

  test('that is closed opens to nobody, and leaves only what the law asks for', async () => {
    const an = await portal.customer()
    await portal.call('POST', '/api/v1/account/webhooks', {
      token: an.token,
      body: { url: 'https://hooks.example/a', events: ['wallet.credited'] },
    })
    const { body: token } = await portal.call<{ secret: string }>(
      'POST',
      '/api/v1/account/tokens',
      { token: an.token, body: { name: 'x', scopes: ['servers:read'], password: an.password } },
    )
    await finance.act('money.credit', {
      customer: an.id,
      amount: 1000,
      currency: 'VND',
      told: 'Goodwill for the outage',
      reason: 'by phone',
    })
    await finance.act('money.debit', {
      customer: an.id,
      amount: 1000,
      currency: 'VND',
      told: 'Goodwill taken back',
      reason: 'by phone',
    })
    expect((await close(an)).status).toBe(200)
    const program = await portal.call('GET', '/api/wp', { token: token.result.secret })
    expect(program.status).toBe(401)
    const { email, password } = an
    const signIn = await portal.call('POST', '/api/v1/auth/login', { body: { email, password } })
    expect(signIn.body.error?.code).toBe('bad_credentials')

    const row = await accountIs(an.id)
    for (const personal of [an.email, an.phone]) expect(JSON.stringify(row)).not.toContain(personal)
    await nothingIsLeftOf(an.id)
    expect(await checkLedger(portal.app.db)).toEqual([])
    const story = await finance.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`)
    expect(story.body.result).toMatchObject({ name: 'Closed account', sessions: [], letters: [] })
    // The last letter went to the address used before.
    const last = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => /closed|được đóng/.test(text)),
    )
    // Who has no account cannot open a ticket.
    expect(last.text).toContain('yêu cầu hỗ trợ từ một tài khoản mới: ')
  })

  test('that is closed leaves e-mail address and number to a new one', async () => {
    const { active, signIn, auth } = newcomersTo(() => portal)
    const person = await active()
    const bearer = await signIn(person)
    const closed = await portal.call('POST', '/api/v1/account/close', {
      token: bearer,
      body: { password: person.password },
    })
    expect(closed.status, closed.text).toBe(200)
    const { name, email, phone, password, region_code } = person
    const again = await auth('register', { name, email, phone, password, region_code })
    expect(again.status, again.text).toBe(201)
  })

  test('that is closed leaves no name in tickets of accounts that it worked in', async () => {
    const [owner, person] = [await portal.customer(), await portal.customer()]
    const token = await work(
      portal,
      person,
      await join(portal, owner, person, { role: 'technical' }),
    )
    const asked = await portal.call<{ id: string; messages: { author: string }[] }>(
      'POST',
      '/api/tickets',
      { token, body: { subject: 'Trang chậm', text: 'Trang mở rất lâu.' } },
    )
    const { id, messages } = asked.body.result
    expect((await close(person)).status).toBe(200)
    const left = await portal.call<{ messages: { author: string }[] }>(
      'GET',
      `/api/tickets/${id}`,
      {
        token: owner.token,
      },
    )
    expect(messages[0]?.author).not.toBe('Closed account')
    expect(left.body.result.messages.map(({ author }) => author)).toEqual(['Closed account'])
  })

  test('that is closed leaves no letter to an address of before, which its file has', async () => {
    const an = await portal.customer()
    const [between, email] = [`giua-${an.email}`, `moi-${an.email}`]
    let former = an.email
    for (const next of [between, email]) {
      // A minute between two codes.
      await passInCounters(minutes(1))
      await portal.call('POST', '/api/v1/account/email', {
        token: an.token,
        body: { email: next, password: an.password },
      })
      const code = await codeFor(next)
      const changed = await portal.call('POST', '/api/v1/account/email/confirm', {
        token: an.token,
        body: { code },
      })
      expect(changed.status, changed.text).toBe(200)
      const told = former
      await eventually('the former address is told', async () =>
        (await portal.inbox(told)).some(({ text }) => text.includes(next)),
      )
      former = next
    }
    let file = ''
    const person = { id: an.id, recipients: [email] }
    for await (const piece of personalData(portal.app.db, person, new Date())) file += piece
    const { message } = JSON.parse(file) as { message: { recipient: string }[] }
    for (const address of [an.email, between])
      expect(message.map(({ recipient }) => recipient)).toContain(address)
    expect((await close(an)).status).toBe(200)
    const left = await portal.app.db
      .selectFrom('message')
      .select('recipient')
      .where('recipient', 'in', [an.email, between])
      .execute()
    expect(left).toEqual([])
    await nothingIsLeftOf(an.id)
  })

  test('that is closed has no card at its provider any more', async () => {
    const browser = stripeBrowser(
      portal.sandboxUrl,
      portal.keysOf('stripe')['publishableKey'] ?? '',
    )
    const { link } = cardsOf(
      () => portal,
      () => browser,
    )
    const an = await portal.customer({ region: 'AUD' })
    await link(an, testCards.visa)
    const cards = portal.app.db
      .selectFrom('card_customer')
      .select('reference')
      .where('customer_id', '=', an.id)
    const { reference } = await cards.executeTakeFirstOrThrow()
    // A gateway that the portal has no keys of any more.
    await portal.app.db
      .insertInto('card_customer')
      .values({
        customer_id: an.id,
        driver: 'former',
        reference: 'cus_of_before',
        created_at: new Date(),
      })
      .execute()
    expect((await close(an)).status).toBe(200)
    await eventually('nothing is known of it', async () => (await cards.execute()).length === 0)
    const left = await fetch(
      `${portal.sandboxUrl}/v1/customers/${reference}/payment_methods?type=card`,
      { headers: { authorization: `Bearer ${portal.keysOf('stripe')['secretKey']}` } },
    )
    expect(await left.json()).toMatchObject({ data: [] })
  })
})
