/**
 * Sessions as their customer lists and ends them, and the history of sign-ins; live sockets really
 * close, in another portal too.
 */
import { once } from 'node:events'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Session, SignIn } from '../../contract/account.ts'
import { accountAt } from '../../test/account-page.ts'
import { code } from '../../test/newcomers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days, hours } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { createNotices } from '../platform/notices.ts'
import { createSessionRevocations, revokeSessions } from '../realtime/session-revocations.ts'
import { createHub } from '../realtime/hub.ts'
import { createListener } from '../realtime/listener.ts'
import { endSessions } from './session.ts'

const clock = manualClock()
let portal: TestPortal
let admin: pg.Client
let key: string
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
  admin = new pg.Client({ connectionString: portal.databaseUrl })
  await admin.connect()
  key = (await portal.call<{ realtime: { key: string } }>('GET', '/api/config')).body.result
    .realtime.key
})
afterAll(async () => {
  await admin.end()
  await portal.close()
})
const { on, signIn, alive } = accountAt(() => portal)

/** A socket on the customer's private channel. */
async function listening(who: TestCustomer, token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${portal.url.replace('http', 'ws')}/app/${key}?protocol=7`)
  const [greeting] = (await once(socket, 'message')) as [Buffer]
  const { socket_id } = JSON.parse((JSON.parse(String(greeting)) as { data: string }).data) as {
    socket_id: string
  }
  const channel = `private-${who.id}`
  const allowed = await portal.call('POST', '/api/v1/auth/pusher', {
    token,
    body: { socket_id, channel_name: channel },
  })
  expect(allowed.status, allowed.text).toBe(200)
  const { auth } = JSON.parse(allowed.text) as { auth: string }
  socket.send(JSON.stringify({ event: 'pusher:subscribe', data: { channel, auth } }))
  const [answer] = (await once(socket, 'message')) as [Buffer]
  expect(String(answer)).toContain('subscription_succeeded')
  return socket
}
const closedWith = async (socket: WebSocket): Promise<number> =>
  ((await once(socket, 'close')) as [number])[0]

describe('sessions', () => {
  test('are listed with where they were opened, and end one by one', async () => {
    const an = await portal.customer()
    const phone = await signIn(an, 'A phone')
    const list = async (token: string) =>
      (await on<Session[]>({ token }, 'GET', '/sessions')).body.result
    const both = await list(an.token)
    expect(both).toHaveLength(2)
    expect(both.filter(({ current }) => current)).toHaveLength(1)
    const there = both.find(({ userAgent }) => userAgent === 'A phone')
    expect(there).toMatchObject({ current: false, ip: '127.0.0.1' })
    expect(JSON.stringify(both)).not.toContain(phone)

    const binh = await portal.customer()
    expect((await on(binh, 'DELETE', `/sessions/${there?.id}`)).status).toBe(404)
    expect((await on(an, 'DELETE', '/sessions/nonsense')).status).toBe(404)
    expect((await on(an, 'DELETE', `/sessions/${there?.id}`)).status).toBe(200)
    expect([await alive(phone), await alive(an.token)]).toEqual([false, true])
    await signIn(an)
    await signIn(an)
    expect(
      (await on<{ ended: number }>(an, 'POST', '/sessions/revoke-others')).body.result.ended,
    ).toBe(2)
    expect(await list(an.token)).toHaveLength(1)
  })

  test.each([
    ['revoked', async (an: TestCustomer) => on(an, 'POST', '/sessions/revoke-others')],
    [
      'under a new password',
      async (an: TestCustomer) =>
        on(an, 'PUT', '/password', { current: an.password, password: 'Another-horse-10' }),
    ],
    [
      'signed out',
      async (_: TestCustomer, token: string) =>
        portal.call('POST', '/api/v1/auth/logout', { token }),
    ],
  ])('%s: live sockets close as unauthorised, those of others stay', async (_, end) => {
    const an = await portal.customer()
    const token = await signIn(an)
    const [mine, theirs] = [await listening(an, an.token), await listening(an, token)]
    const closed = closedWith(theirs)
    const begun = performance.now()
    expect((await end(an, token)).status).toBe(200)
    expect(await closed).toBe(4009)
    expect(performance.now() - begun).toBeLessThan(5000)
    expect(mine.readyState).toBe(WebSocket.OPEN)
    mine.close()
    expect(
      (
        await portal.call('POST', '/api/v1/auth/pusher', {
          token,
          body: { socket_id: '1.1', channel_name: `private-${an.id}` },
        })
      ).status,
    ).toBe(401)
  })

  test('a session that is being locked opens no channel any more', async () => {
    const an = await portal.customer()
    const { db } = portal.app
    const { id } = await db
      .selectFrom('session')
      .select('id')
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    const endings = createSessionRevocations(db, createHub(), clock)
    await admin.query('begin')
    await admin.query('select id from session where id = $1 for update', [id])
    await admin.query('update session set locked_at = $2 where id = $1', [id, clock.now()])
    const asked = transaction(db, (tx) => endings.grant(tx, id, '7.7'))
    await eventually('the channel waits for the lock', async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
      return rows.length > 0
    })
    await admin.query('commit')
    expect(await asked).toBe(false)
  })

  test('another portal on the same database hears it, and asks for what it missed', async () => {
    const an = await portal.customer()
    const token = await signIn(an)
    const hub = createHub()
    const endings = createSessionRevocations(portal.app.db, hub, clock)
    const log = createLog('silent')
    const notices = createNotices(portal.databaseUrl, log)
    const listener = createListener(notices, portal.app.db, hub, endings, log)
    await listener.start()
    const closings: number[] = []
    const member = hub.join(
      { send: () => undefined, close: (number) => void closings.push(number), bufferedAmount: 0 },
      0,
    )
    hub.subscribe(member, `private-${an.id}`)
    await portal.call('POST', '/api/v1/auth/pusher', {
      token,
      body: { socket_id: member.socketId, channel_name: `private-${an.id}` },
    })
    await endings.resync()
    expect(closings).toEqual([])
    await on(an, 'POST', '/sessions/revoke-others')
    await eventually('the close', async () => closings.length > 0, 5)
    expect(closings).toEqual([4009])
    await endings.resync()
    expect(closings).toEqual([4009, 4200])
    // Nor does one stay that could use the signature of a session which ended meanwhile.
    hub.unsubscribe(member, `private-${an.id}`)
    await endings.resync()
    expect(closings).toEqual([4009, 4200, 4200])
    await listener.stop()
  })
})

describe('a session that ends by itself', () => {
  test('closes its sockets when it is deleted', async () => {
    const an = await portal.customer()
    const socket = await listening(an, an.token)
    const closed = closedWith(socket)
    clock.advance(hours(12) + 1)
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
    expect(await closed).toBe(4009)
  })

  test.each(['expired', 'locked'])('%s: whoever missed it closes its sockets too', async (how) => {
    const an = await portal.customer()
    const hub = createHub()
    const endings = createSessionRevocations(portal.app.db, hub, clock)
    const log = createLog('silent')
    const notices = createNotices(portal.databaseUrl, log)
    const listener = createListener(notices, portal.app.db, hub, endings, log, undefined, 50)
    await listener.start()
    const closings: number[] = []
    const member = hub.join(
      { send: () => undefined, close: (number) => void closings.push(number), bufferedAmount: 0 },
      0,
    )
    await portal.call('POST', '/api/v1/auth/pusher', {
      token: an.token,
      body: { socket_id: member.socketId, channel_name: `private-${an.id}` },
    })
    hub.subscribe(member, `private-${an.id}`)
    await endings.recheck()
    expect(closings).toEqual([])
    if (how === 'expired') clock.advance(hours(12) + 1)
    else
      await admin.query('update session set locked_at = $2 where customer_id = $1', [
        an.id,
        clock.now(),
      ])
    await eventually('the close', async () => closings.length > 0, 5)
    expect(closings[0]).toBe(4200)
    const before = closings.length
    await endings.resync()
    expect(closings.length).toBeGreaterThan(before)
    await listener.stop()
  })

  test('leaves no socket that the end of all sessions does not reach', async () => {
    const an = await portal.customer()
    const [socket, other] = [await listening(an, an.token), await portal.customer()]
    const theirs = await listening(other, other.token)
    // As an earlier release left them: the row is gone, and nobody was told.
    await admin.query('delete from session where customer_id = $1', [an.id])
    const closed = closedWith(socket)
    await transaction(portal.app.db, (tx) =>
      endSessions(tx, { clock, endLive: revokeSessions }, { customerId: an.id }),
    )
    expect(await closed).toBe(4200)
    expect(theirs.readyState).toBe(WebSocket.OPEN)
    theirs.close()
  })
})

describe('sign-in history', () => {
  test('shows what succeeded and failed, in pages, for 90 days', async () => {
    const an = await portal.customer()
    await portal.call('POST', '/api/v1/auth/login', {
      body: { email: an.email, password: 'not this one' },
      headers: { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'x'.repeat(1000) },
    })
    await portal.call('POST', '/api/v1/auth/login', {
      body: { email: 'nobody@example.vn', password: 'not this one' },
    })
    const page = async (query = '') => (await on<SignIn[]>(an, 'GET', `/sign-ins${query}`)).body
    const all = await eventually('both', async () => {
      const { result } = await page()
      return result.length === 2 && result
    })
    expect(all.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded'])
    expect(all[0]).toMatchObject({ ip: '203.0.113.7', userAgent: 'x'.repeat(300) })
    const first = await page('?limit=1')
    expect(first.result).toEqual(all.slice(0, 1))
    const second = await page(`?limit=1&cursor=${first.page?.next}`)
    expect(second.result).toEqual(all.slice(1))
    expect(second.page?.next).toBeNull()
    expect(code(await on(an, 'GET', '/sign-ins?cursor=nonsense'))).toEqual([422, 'invalid_input'])
    clock.advance(days(90) + 1)
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
    await eventually(
      'the tidying',
      async () =>
        (await admin.query('select 1 from sign_in where customer_id = $1', [an.id])).rowCount === 0,
    )
  })
})
