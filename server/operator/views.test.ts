/** The portal as a customer sees it: read by a member of the staff, for half an hour. */
import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session, SignIn } from '../../contract/account.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import * as contract from '../../contract/index.ts'
import type { Server } from '../../contract/wordpress.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, minutes, seconds } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())

const member = (role: 'owner' | 'support' = 'support') => newMember(portal, role, { clock })
interface Opened {
  token: string
  expiresAt: string
  customer: { id: string; name: string }
}
const reason = 'asked for by phone, ticket 4711'
const see = (by: TestMember, an: TestCustomer, more: object = {}) =>
  by.act<ActOutcome>('customer.see', { customer: an.id, reason, ...more })
const ticketOf = (answer: Answer<ActOutcome>): string => {
  expect(answer.status, answer.text).toBe(200)
  return new URL(answer.body.result.link ?? '').hash.slice(1)
}
const openBy = (by: TestMember, ticket: string) =>
  by.call<Opened>('POST', '/api/operator/view', { ticket })
/** The token of a view that is open. */
const viewed = async (by: TestMember, an: TestCustomer): Promise<string> => {
  const opened = await openBy(by, ticketOf(await see(by, an)))
  expect(opened.status, opened.text).toBe(200)
  return opened.body.result.token
}
const me = (token: string) => portal.call<{ id: string }>('GET', '/api/v1/auth/me', { token })
const historyOf = async ({ token }: TestCustomer): Promise<SignIn[]> =>
  (await portal.call<SignIn[]>('GET', '/api/v1/account/sign-ins', { token })).body.result
const sessionsOf = async ({ token }: TestCustomer): Promise<Session[]> =>
  (await portal.call<Session[]>('GET', '/api/v1/account/sessions', { token })).body.result
const isOver = async (token: string): Promise<boolean> => {
  const answer = await me(token)
  return answer.status === 401 && answer.body.error?.code === 'unauthenticated'
}

const endpoints = Object.values(contract)
  .flatMap((part) => (typeof part === 'object' ? Object.values(part as object) : []))
  .filter(
    (one): one is Endpoint =>
      typeof one === 'object' && one !== null && 'method' in one && 'path' in one,
  )
const named = ({ method, path }: Endpoint) => `${method} ${path}`
const nobody = '00000000-0000-4000-8000-000000000000'

describe('a member sees the portal as a customer does', () => {
  test('with a reason, in the trail, by a link of one use', async () => {
    const support = await member()
    const an = await portal.customer()
    const missing = await support.act('customer.see', { customer: an.id })
    expect(missing.body.error?.fields).toHaveProperty('reason')
    const asked = await see(support, an)
    expect(asked.body.result.link).toMatch(new RegExp(`^${portal.url}/see#[\\w-]{43}$`))
    const ticket = ticketOf(asked)
    const opened = await openBy(support, ticket)
    const { token, expiresAt, customer } = opened.body.result
    expect(customer).toEqual({ id: an.id, name: 'Nguyễn Văn An' })
    expect(Date.parse(expiresAt) - clock.now().getTime()).toBe(minutes(30))
    expect((await me(token)).body.result.id).toBe(an.id)
    // No cookie holds it, so it cannot mix with a session of the browser.
    expect(opened.headers.get('set-cookie')).toBeNull()
    const again = await openBy(support, ticket)
    expect(again.body.error?.code).toBe('link_expired')

    const story = (await support.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`))
      .body.result
    expect(story.acts[0]).toMatchObject({
      act: 'customer.see',
      actor: support.name,
      reason,
      before: null,
      after: { minutes: 30 },
    })
    // Neither the ticket nor the token is stored anywhere.
    const { db } = portal.app
    const kept = inspect([
      await db.selectFrom('operator_act').selectAll().execute(),
      await db.selectFrom('account_view').selectAll().execute(),
    ])
    expect(kept).not.toContain(ticket)
    expect(kept).not.toContain(token)
  })

  test('only in the session that asked, within a minute', async () => {
    const [one, other] = [await member(), await member()]
    const an = await portal.customer()
    const ticket = ticketOf(await see(one, an))
    expect((await openBy(other, ticket)).body.error?.code).toBe('link_expired')
    const open = portal.call('POST', '/api/operator/view', { body: { ticket } })
    expect((await open).status).toBe(401)
    clock.advance(seconds(61))
    expect((await openBy(one, ticket)).body.error?.code).toBe('link_expired')
    expect((await openBy(one, 'no-ticket')).body.error?.code).toBe('link_expired')
    expect((await historyOf(an)).some(({ outcome }) => outcome === 'viewed')).toBe(false)
  })

  test('whose role acts on accounts, and of a customer who may sign in', async () => {
    const an = await portal.customer()
    for (const role of ['finance', 'operations', 'read_only'] as const) {
      const by = await newMember(portal, role, { clock })
      expect((await see(by, an)).status).toBe(403)
      expect((await openBy(by, 'any')).status).toBe(403)
    }
    const support = await member()
    const unknown = { customer: randomUUID(), reason }
    expect((await support.act('customer.see', unknown)).status).toBe(404)
    await support.act('customer.block', { customer: an.id, reason })
    expect((await see(support, an)).status).toBe(409)
  })

  test('under one key once, and the repeat opens nothing', async () => {
    const support = await member()
    const an = await portal.customer()
    const key = randomUUID()
    expect((await see(support, an, { key })).body.result.link).toBeDefined()
    const repeat = (await see(support, an, { key })).body.result
    expect(repeat).toMatchObject({ state: 'done', repeated: true })
    expect(repeat.link).toBeUndefined()
  })

  test('and no command does: it has no session that could end', async () => {
    const an = await portal.customer()
    const args = ['act', 'customer.see', '--customer', an.id, '--reason', reason]
    const { code, said } = await runCommand(portal, {}, ...args)
    expect(said).toContain('Only a member who is signed in to the desk')
    expect(code).toBe(1)
  })

  test('of three at once; a fourth ends the oldest', async () => {
    const support = await member()
    const an = await portal.customer()
    const tokens: string[] = []
    for (let n = 0; n < 4; n++) {
      tokens.push(await viewed(support, an))
      clock.advance(seconds(1))
    }
    const over = await Promise.all(tokens.map(isOver))
    expect(over).toEqual([true, false, false, false])
  })
})

describe('nothing can be changed', () => {
  test('every call of the contract: reads that say so are open, all others refused', async () => {
    const support = await member()
    const an = await portal.customer()
    const ofCustomers = endpoints.filter((one) => one.access === 'customer' || one.identifies)
    expect(ofCustomers.length).toBeGreaterThan(120)
    const wrong: string[] = []
    let token = ''
    let asked = 0
    for (const endpoint of ofCustomers) {
      // The one call that ends it comes by itself below.
      if (endpoint === contract.auth.logout) continue
      if (asked % 100 === 0) token = await viewed(support, an)
      asked += 1
      const { method, path, takesBytes } = endpoint
      const answer = await portal.call(method, path.replace(/:\w+/g, nobody), {
        token,
        ...(method !== 'GET' && method !== 'DELETE' && { body: takesBytes ? ' ' : {} }),
        ...(takesBytes && { headers: { 'content-type': 'application/octet-stream' } }),
      })
      const mayOpen = method === 'GET' && endpoint.seen === true
      const isOpen = answer.status !== 403
      if (isOpen !== mayOpen || answer.status === 401 || answer.status >= 500)
        wrong.push(`${named(endpoint)}: ${answer.status}`)
    }
    expect(wrong).toEqual([])
  })

  test('and no link is told that opens an invoice without a sign-in', async () => {
    const support = await member()
    const an = await portal.customer()
    await portal.call('POST', '/api/wp', {
      token: an.token,
      body: {
        size: 1,
        region: 1,
        disk: 10_240,
        mariadb_disk_size: 10_240,
        user: 'an',
        password: 'Mat-khau-9!',
        replicate: 1,
      },
    })
    const linkFor = async (token: string): Promise<string | undefined> =>
      (await portal.call<Server[]>('GET', '/api/wp', { token })).body.result[0]?.invoice
        ?.hosted_invoice_url
    expect(await linkFor(an.token)).toContain('/invoice')
    const view = await viewed(support, an)
    expect(await linkFor(view)).toBe('')
    const documents = async (token: string): Promise<string[]> =>
      (
        await portal.call<{ invoice_pdf: string }[]>('GET', '/api/payments/stripe/invoices', {
          token,
        })
      ).body.result.map(({ invoice_pdf: pdf }) => pdf)
    expect(await documents(an.token)).toEqual([expect.stringContaining('/api/invoices/')])
    expect(await documents(view)).toEqual([''])
  })

  test('the contract opens no write but the one that ends it, and nothing that opens more', () => {
    const seen = endpoints.filter((one) => one.seen === true)
    expect(seen.length).toBeGreaterThan(40)
    expect(seen.filter(({ method }) => method !== 'GET').map(named)).toEqual([
      'POST /api/v1/auth/logout',
    ])
    expect(seen.filter(({ access, identifies }) => access !== 'customer' && !identifies)).toEqual(
      [],
    )
    // Files to keep, contents, databases, keys, tickets and secrets.
    expect(seen.filter(({ files, asksAgain }) => files !== undefined || asksAgain)).toEqual([])
    const opensMore =
      /content|database|console|sftp|\/log$|export|statement|zone$|download|admin|webhooks|\/card$/
    expect(seen.map(({ path }) => path).filter((path) => opensMore.test(path))).toEqual([])
  })

  test('and the refusal says so in both languages', async () => {
    const support = await member()
    const an = await portal.customer()
    const token = await viewed(support, an)
    const change = (language: string) =>
      portal.call('PUT', '/api/v1/account', {
        token,
        body: { name: 'Somebody Else' },
        headers: { 'accept-language': language },
      })
    const refused = await change('en')
    expect([refused.status, refused.body.error?.code]).toEqual([403, 'forbidden'])
    expect(refused.body.message).toBe(
      'You see the portal as the customer does. Nothing can be changed.',
    )
    expect((await change('vi')).body.message).toBe(
      'Bạn đang xem như khách hàng. Không thể thay đổi gì.',
    )
    const closed = await portal.call('GET', `/api/wp/${nobody}/sftp`, { token })
    expect(closed.body.message).toBe('Only the customer can open this.')
  })
})

describe('it ends', () => {
  test('after half an hour, used or not', async () => {
    const an = await portal.customer()
    const token = await viewed(await member(), an)
    clock.advance(minutes(29))
    expect(await isOver(token)).toBe(false)
    clock.advance(minutes(1))
    expect(await isOver(token)).toBe(true)
  })

  test('with the session at the desk, if that is sooner', async () => {
    const support = await member()
    const an = await portal.customer()
    clock.advance(hours(8) - minutes(10))
    const opened = await openBy(support, ticketOf(await see(support, an)))
    const { expiresAt, token } = opened.body.result
    expect(Date.parse(expiresAt) - clock.now().getTime()).toBeLessThanOrEqual(minutes(10))
    clock.advance(minutes(10))
    expect(await isOver(token)).toBe(true)
    clock.advance(minutes(1))
  })

  test('when the member leaves it, signs out, is disabled, or may not look any more', async () => {
    const boss = await member('owner')
    const an = await portal.customer()
    const ends: ((by: TestMember, token: string) => Promise<Answer>)[] = [
      (_by, token) => portal.call('POST', '/api/v1/auth/logout', { token }),
      (by) => by.call('POST', '/api/operator/sign-out'),
      (by) => boss.act('staff.disable', { member: by.id, reason }),
      (by) => boss.act('staff.change', { member: by.id, role: 'finance', reason }),
      (by) => boss.act('staff.change', { member: by.id, networks: ['203.0.113.0/24'], reason }),
    ]
    for (const end of ends) {
      const by = await member()
      const token = await viewed(by, an)
      const another = await see(by, an)
      expect(await isOver(token)).toBe(false)
      const ended = await end(by, token)
      expect(ended.status, ended.text).toBe(200)
      expect([ends.indexOf(end), await isOver(token)]).toEqual([ends.indexOf(end), true])
      // A ticket that was not used yet opens nothing either; leaving one view ends only that one.
      if (ends.indexOf(end) > 0) expect((await openBy(by, ticketOf(another))).status).not.toBe(200)
    }
  })

  test('when the customer ends it, ends all, or is blocked', async () => {
    const support = await member()
    const ends: ((an: TestCustomer) => Promise<Answer>)[] = [
      async (an) => {
        const view = (await sessionsOf(an)).find(({ isView }) => isView)
        const path = `/api/v1/account/sessions/${view?.id}`
        return await portal.call('DELETE', path, { token: an.token })
      },
      (an) => portal.call('POST', '/api/v1/account/sessions/revoke-others', { token: an.token }),
      (an) => support.act('customer.block', { customer: an.id, reason }),
      (an) => support.act('customer.end_sessions', { customer: an.id, reason }),
    ]
    for (const end of ends) {
      const an = await portal.customer()
      const token = await viewed(support, an)
      const ticket = ticketOf(await see(support, an))
      const ended = await end(an)
      expect(ended.status, ended.text).toBe(200)
      expect([ends.indexOf(end), await isOver(token)]).toEqual([ends.indexOf(end), true])
      if (ends.indexOf(end) > 0)
        expect((await openBy(support, ticket)).body.error?.code).toBe('link_expired')
    }
  })

  test('when the customer says that a sign-in was not theirs', async () => {
    const support = await member()
    const an = await portal.customer()
    await portal.call('POST', '/api/v1/auth/login', {
      body: { email: an.email, password: an.password },
      headers: { 'x-forwarded-for': '198.51.100.78', 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
    })
    const letter = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('not-me')),
    )
    const token = await viewed(support, an)
    const link = /token=([\w-]+)/.exec(letter.text)?.[1] ?? ''
    const denied = await portal.call('POST', '/api/v1/auth/not-me', { body: { token: link } })
    expect(denied.status, denied.text).toBe(200)
    expect(await isOver(token)).toBe(true)
  })
})

describe('the customer', () => {
  test('reads in the history that support looked, when, and how long; not who', async () => {
    const support = await member()
    const an = await portal.customer()
    const before = await portal.app.db.selectFrom('message').selectAll().execute()
    const token = await viewed(support, an)
    const at = clock.now()
    const [look] = await historyOf(an)
    expect(look).toMatchObject({
      at: at.toISOString(),
      outcome: 'viewed',
      ip: '',
      userAgent: '',
      until: new Date(at.getTime() + minutes(30)).toISOString(),
    })
    clock.advance(minutes(4))
    await portal.call('POST', '/api/v1/auth/logout', { token })
    const history = await historyOf(an)
    expect(history[0]?.until).toBe(new Date(at.getTime() + minutes(4)).toISOString())
    expect(history.find(({ outcome }) => outcome === 'succeeded')?.until).toBeNull()
    expect(JSON.stringify(history)).not.toContain(support.name)
    // No letter is sent: a view is no sign-in from elsewhere.
    const after = await portal.app.db.selectFrom('message').selectAll().execute()
    expect(after.length).toBe(before.length)
  })

  test('sees it among the sessions, and stays signed in', async () => {
    const support = await member()
    const an = await portal.customer()
    const token = await viewed(support, an)
    const sessions = await sessionsOf(an)
    expect(sessions.map(({ isView, current }) => ({ isView, current }))).toEqual([
      { isView: true, current: false },
      { isView: false, current: true },
    ])
    expect(sessions[0]).toMatchObject({ ip: null, userAgent: null })
    await portal.call('POST', '/api/v1/auth/logout', { token })
    expect((await sessionsOf(an)).map(({ isView }) => isView)).toEqual([false])
    // The member of the staff is not signed out of the desk either.
    expect((await support.call('GET', '/api/operator/session')).status).toBe(200)
  })
})
