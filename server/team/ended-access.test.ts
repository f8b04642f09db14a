/** A member's access ends: at once, by whichever side, and with everything that was open. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Member } from '../../contract/team.ts'
import { code } from '../../test/newcomers.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { accept, enter, invite, join, teamAt, work } from '../../test/team.ts'
import { createAccountActs } from '../auth/index.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { days, hours, later, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { acceptInvitation } from './invitations.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { teamOf, actsOf, letterTo, invited } = teamAt(() => portal)
const domainsOf = (token: string) => portal.call('GET', '/api/dns', { token })
const gone = [401, 'unauthenticated']

describe('access ends', () => {
  const pair = async (rights: object = { role: 'technical' }) => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const id = await join(portal, an, binh, rights)
    return { an, binh, id, token: await work(portal, binh, id) }
  }

  test('at once for who is removed, with a sentence; a change counts at once as well', async () => {
    const { an, binh, id, token } = await pair()
    expect((await domainsOf(token)).status).toBe(200)
    const change = (rights: object, password = an.password) =>
      portal.call<Member>('PUT', `/api/v1/team/members/${id}`, {
        token: an.token,
        body: { ...rights, password },
      })
    expect((await change({ role: 'billing' }, 'not this one')).status).toBe(422)
    expect((await change({ role: 'billing' })).body.result.role).toBe('billing')
    await letterTo(binh.email, /vai trò thanh toán/)
    expect((await letterTo(an.email, /nay có vai trò thanh toán/)).text).toContain(binh.email)
    // Open access ended with the change, and a new entry has the new role.
    expect(code(await domainsOf(token))).toEqual(gone)
    const anew = await work(portal, binh, id)
    const refused = await domainsOf(anew)
    expect(code(refused)).toEqual([403, 'forbidden'])
    expect(refused.body.message).toContain('Your role in this account')
    const remove = (who: TestCustomer) =>
      portal.call('DELETE', `/api/v1/team/members/${id}`, { token: who.token })
    expect((await remove(binh)).status).toBe(404)
    expect((await remove(an)).status).toBe(200)
    const ended = await portal.call('GET', '/api/payments/stripe', { token: anew })
    expect(code(ended)).toEqual(gone)
    expect(ended.body.message).toContain('Your access to this account has ended')
    await letterTo(binh.email, /không còn quyền truy cập/)
    expect((await enter(portal, binh, id)).status).toBe(404)
    // The member's own account is unchanged, and the record of past acts stays readable.
    expect((await domainsOf(binh.token)).status).toBe(200)
    expect((await actsOf(an)).length).toBe(2)
  })

  const withServer = async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    await portal.topUp(an, 500_000)
    const server = await orderServer(portal, an)
    return { an, binh, server, id: await join(portal, an, binh, { role: 'technical' }) }
  }
  /** Opens a live log and answers its address, which works once. */
  const ticket = async (server: { id: string }, token: string): Promise<string> => {
    const asked = await portal.call<string>('GET', `/api/wp/${server.id}/log`, { token })
    expect(asked.status, asked.text).toBe(200)
    return asked.body.result
  }
  const opens = (address: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = new WebSocket(address)
      socket.addEventListener('open', () => resolve(true), { once: true })
      socket.addEventListener('error', () => resolve(false), { once: true })
    })
  /** An open log; answers the code that it closes with. */
  const watch = async (address: string): Promise<{ readonly closed: Promise<number> }> => {
    const stream = new WebSocket(address)
    await new Promise((resolve) => stream.addEventListener('open', resolve, { once: true }))
    const closed = new Promise<number>((resolve) =>
      stream.addEventListener('close', ({ code: why }) => resolve(why), { once: true }),
    )
    return { closed }
  }

  test('to live logs as well: what was asked for and not opened yet opens nothing', async () => {
    const { an, binh, server, id } = await withServer()
    const token = await work(portal, binh, id)
    const [spare, log] = [await ticket(server, token), await watch(await ticket(server, token))]
    const removed = await portal.call('DELETE', `/api/v1/team/members/${id}`, { token: an.token })
    expect(removed.status).toBe(200)
    expect(await log.closed).toBe(4401)
    expect(await opens(spare)).toBe(false)
    // Their own session goes on.
    expect((await domainsOf(binh.token)).status).toBe(200)
  })

  test('to live logs however it ends: signed out, one too many, and with a block', async () => {
    const { an, binh, server, id } = await withServer()
    const first = await work(portal, binh, id)
    const out = [await ticket(server, first), await watch(await ticket(server, first))] as const
    const owner = await watch(await ticket(server, an.token))
    await portal.call('POST', '/api/v1/auth/logout', { token: first })
    expect(await out[1].closed).toBe(4401)
    expect(await opens(out[0])).toBe(false)
    // The owner's comes back.
    expect(await owner.closed).toBe(4401)
    expect(await opens(await ticket(server, an.token))).toBe(true)

    const oldest = await work(portal, binh, id)
    const pushed = await watch(await ticket(server, oldest))
    clock.advance(minutes(1))
    for (let n = 0; n < 10; n++) await work(portal, binh, id)
    expect(code(await domainsOf(oldest))).toEqual(gone)
    expect(await pushed.closed).toBe(4401)

    const blocked = await watch(await ticket(server, await work(portal, binh, id)))
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    await transaction(portal.app.db, (tx) => acts.block(tx, an.id))
    expect(await blocked.closed).toBe(4401)
  })

  test('to a ticket that is written just after: it is judged when it is used', async () => {
    const { an, binh, server, id } = await withServer()
    await work(portal, binh, id)
    const { db } = portal.app
    const sessionOf = (who: TestCustomer) =>
      db
        .selectFrom('session')
        .select('id')
        .where('customer_id', '=', who.id)
        .executeTakeFirstOrThrow()
    /** As a ticket that was requested earlier and is stored only now. */
    const late = async (name: string, customer: TestCustomer, who: TestCustomer) => {
      await db
        .insertInto('log_ticket')
        .values({
          ticket_hash: createHash('sha256').update(name).digest(),
          site_id: server.id,
          customer_id: customer.id,
          session_id: (await sessionOf(who)).id,
          expires_at: later(clock.now(), minutes(1)),
        })
        .execute()
      const address = await ticket(server, an.token)
      return await opens(address.replace(/ticket=.*/, `ticket=${name}`))
    }
    expect(await late('at work', an, binh)).toBe(true)
    await portal.call('DELETE', `/api/v1/team/members/${id}`, { token: an.token })
    expect(await late('removed', an, binh)).toBe(false)
    expect(await late('own', an, an)).toBe(true)
    // A ticket for a server that now belongs to another customer does not work, either.
    expect(await late('of another', binh, binh)).toBe(false)
  })

  test('for who leaves, and the owner is told', async () => {
    const { an, binh, id, token } = await pair()
    const leave = () => portal.call('DELETE', `/api/v1/team/accounts/${id}`, { token: binh.token })
    expect((await leave()).status).toBe(200)
    expect((await leave()).status).toBe(404)
    expect(code(await domainsOf(token))).toEqual(gone)
    await letterTo(an.email, /đã rời tài khoản/)
    expect((await teamOf(an)).members).toEqual([])
  })

  test('with signing out there, and the own session goes on', async () => {
    const { binh, id, token } = await pair()
    const other = await work(portal, binh, id)
    const out = await portal.call('POST', '/api/v1/auth/logout', { token })
    expect(out.status, out.text).toBe(200)
    expect(code(await domainsOf(token))).toEqual(gone)
    expect((await domainsOf(other)).status).toBe(200)
    expect((await domainsOf(binh.token)).status).toBe(200)
  })

  test('with the own session, which its lock locks as well', async () => {
    const { binh, token } = await pair()
    expect((await portal.call('POST', '/api/v1/auth/lock', { token })).status).toBe(200)
    expect(code(await domainsOf(token))).toEqual([401, 'session_locked'])
    const unlocked = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/unlock',
      { token: binh.token, body: { password: binh.password } },
    )
    const own = unlocked.body.result.token.accessToken
    expect((await domainsOf(token)).status).toBe(200)
    expect((await portal.call('POST', '/api/v1/auth/logout', { token: own })).status).toBe(200)
    expect(code(await domainsOf(token))).toEqual(gone)
  })

  test('after twelve hours, in which work keeps the own session in use', async () => {
    const { binh, token } = await pair()
    clock.advance(hours(11))
    expect((await domainsOf(token)).status).toBe(200)
    clock.advance(hours(2))
    expect(code(await domainsOf(token))).toEqual(gone)
    expect((await domainsOf(binh.token)).status).toBe(200)
  })

  test('while either side is blocked', async () => {
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    const block = (id: string) => transaction(portal.app.db, (tx) => acts.block(tx, id))
    const first = await pair()
    await block(first.an.id)
    expect(code(await domainsOf(first.token))).toEqual(gone)
    expect((await enter(portal, first.binh, first.id)).status).toBe(404)
    const second = await pair()
    await block(second.binh.id)
    expect(code(await domainsOf(second.token))).toEqual(gone)
    // A blocked customer's invitation does not work, either.
    const [an, binh] = [await portal.customer(), await portal.customer()]
    await invite(portal, an, binh.email, { role: 'technical' })
    const token = await invited(binh.email)
    await block(an.id)
    expect(code(await accept(portal, binh, token))).toEqual([422, 'link_expired'])
  })

  test('for who joined since a sign-in that was not the owner’s', async () => {
    const { an, binh, token } = await pair()
    const dung = await portal.customer()
    const raised = await join(portal, an, dung, { role: 'read_only' })
    clock.advance(hours(1))
    const entered = await portal.call('POST', '/api/v1/auth/login', {
      body: { email: an.email, password: an.password },
      headers: { 'x-forwarded-for': '203.0.113.88', 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
    })
    expect(entered.status, entered.text).toBe(200)
    const letter = await letterTo(an.email, /auth\/not-me/)
    clock.advance(minutes(1))
    const chi = await portal.customer()
    const late = await join(portal, an, chi, { role: 'owner' })
    const theirs = await work(portal, chi, late)
    await invite(portal, an, 'them-nguoi@example.vn', { role: 'owner' })
    const change = await portal.call('PUT', `/api/v1/team/members/${raised}`, {
      token: an.token,
      body: { role: 'owner', password: an.password },
    })
    expect(change.status, change.text).toBe(200)
    // Somebody is about to accept.
    const em = await portal.customer()
    await invite(portal, an, em.email, { role: 'owner' })
    const last = await invited(em.email)
    const gate = Promise.withResolvers<undefined>()
    const joining = Promise.withResolvers<undefined>()
    const joined = transaction(portal.app.db, async (tx) => {
      await acceptInvitation(
        tx,
        { clock, endWork: async () => undefined },
        { token: last, personId: em.id },
      )
      joining.resolve(undefined)
      await gate.promise
    })
    await joining.promise
    const link = /token=([\w-]+)/.exec(letter.text)?.[1] ?? ''
    const denying = portal.call('POST', '/api/v1/auth/not-me', { body: { token: link } })
    await eventually('it waits for who joins', async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(portal.app.db)
      return rows[0]?.n === 1
    })
    gate.resolve(undefined)
    await joined
    const denied = await denying
    expect(denied.status, denied.text).toBe(200)
    for (const one of [token, theirs]) expect(code(await domainsOf(one))).toEqual(gone)
    const { db } = portal.app
    const left = await db
      .selectFrom('team_member')
      .select('person_id')
      .where('owner_id', '=', an.id)
      .execute()
    expect(left.map(({ person_id }) => person_id)).toEqual([binh.id])
    const open = await db
      .selectFrom('team_invitation')
      .select('id')
      .where('owner_id', '=', an.id)
      .execute()
    expect(open).toEqual([])
  })

  test('with the account, on either side', async () => {
    const close = ({ token, password }: TestCustomer) =>
      portal.call('POST', '/api/v1/account/close', { token, body: { password } })
    const first = await pair()
    expect((await close(first.an)).status).toBe(200)
    expect(code(await domainsOf(first.token))).toEqual(gone)
    const second = await pair()
    expect((await close(second.binh)).status).toBe(200)
    expect(code(await domainsOf(second.token))).toEqual(gone)
    expect((await teamOf(second.an)).members).toEqual([])
    expect((await actsOf(second.an)).map(({ name }) => name)).toEqual(['Closed account'])
  })

  test('and what is old is forgotten', async () => {
    const { an, binh } = await pair()
    await invite(portal, an, 'cu-roi@example.vn', { role: 'technical' })
    clock.advance(days(181))
    const { db, jobs } = portal.app
    await transaction(db, (tx) => jobs.add(tx, 'tidy', {}))
    for (const table of ['team_act', 'team_invitation', 'acting_session'] as const)
      await eventually(`${table} to be empty`, async () => {
        const left = await db.selectFrom(table).select('id').limit(1).execute()
        return left.length === 0
      })
    expect((await teamOf(await portal.signIn(an))).members).toMatchObject([{ email: binh.email }])
  })
})
