/** Sessions: how long they live, how many there are, and how they are locked. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { code, newcomersTo } from '../../test/newcomers.ts'
import { hours, minutes, seconds } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let admin: pg.Client
beforeAll(async () => {
  // One proxy in front, so that a test may set its own client address.
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
  admin = new pg.Client({ connectionString: portal.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await portal.close()
})
const { auth, signIn, me, active } = newcomersTo(() => portal)

describe('sessions', () => {
  test('logout ends this token and no other', async () => {
    const person = await active()
    const [one, two] = [await signIn(person), await signIn(person)]
    expect((await auth('logout', undefined, { token: one })).status).toBe(200)
    expect((await me(one)).status).toBe(401)
    expect((await auth('logout', undefined, { token: one })).status).toBe(401)
    expect((await me(two)).status).toBe(200)
  })

  test('thirty days end a session, however much it is used', async () => {
    const person = await active()
    const token = await signIn(person)
    for (let at = 0; at < 30 * 24 - 10; at += 10) {
      clock.advance(hours(10))
      expect((await me(token)).status).toBe(200)
    }
    clock.advance(hours(10) - 1)
    expect((await me(token)).status).toBe(200)
    clock.advance(1)
    expect((await me(token)).status).toBe(401)
  })

  test('of twenty-one sessions the oldest has ended', async () => {
    const person = await active()
    const tokens: string[] = []
    for (let n = 0; n < 21; n++) {
      clock.advance(1)
      tokens.push(await signIn(person))
    }
    const [oldest = '', second = ''] = tokens
    expect((await me(oldest)).status).toBe(401)
    expect((await me(second)).status).toBe(200)
    const { rows } = await admin.query('select from session where customer_id = $1', [person.id])
    expect(rows).toHaveLength(20)
  })

  test('a locked session is open to unlock and sign-out only; then a new token', async () => {
    const person = await active()
    const [token, other] = [await signIn(person), await signIn(person)]
    const sessions = () =>
      portal.call<{ id: string; current: boolean }[]>('GET', '/api/v1/account/sessions', {
        token: other,
      })
    const before = (await sessions()).body.result
    expect(code(await auth('lock', undefined, { token }))).toEqual([200, undefined])
    for (const [method, path] of [
      ['GET', '/api/v1/auth/me'],
      ['GET', '/api/wp'],
      ['PUT', '/api/v1/account'],
      ['POST', '/api/v1/auth/lock'],
      ['POST', '/api/v1/auth/pusher'],
    ] as const)
      expect(code(await portal.call(method, path, { token }))).toEqual([401, 'session_locked'])
    expect((await me(other)).status).toBe(200)
    expect(code(await auth('unlock', { password: 'wrong-password' }, { token }))).toEqual([
      401,
      'bad_credentials',
    ])
    const unlocked = await auth<{ token: { accessToken: string; expiresAt: string } }>(
      'unlock',
      { password: person.password },
      { token },
    )
    expect(unlocked.status).toBe(200)
    const { accessToken, expiresAt } = unlocked.body.result.token
    expect(new Date(expiresAt).getTime() - clock.now().getTime()).toBe(hours(12))
    expect((await me(accessToken)).status).toBe(200)
    expect(code(await me(token))).toEqual([401, 'unauthenticated'])
    expect(code(await auth('unlock', { password: person.password }, { token }))).toEqual([
      401,
      'unauthenticated',
    ])
    expect((await sessions()).body.result.map(({ id }) => id).toSorted()).toEqual(
      before.map(({ id }) => id).toSorted(),
    )
    await auth('lock', undefined, { token: accessToken })
    expect((await auth('logout', undefined, { token: accessToken })).status).toBe(200)
    expect(code(await me(accessToken))).toEqual([401, 'unauthenticated'])
  })

  test('a locked session is guessed slowly, and strangers at sign-in delay no unlock', async () => {
    const person = await active()
    const token = await signIn(person)
    await auth('lock', undefined, { token })
    for (let n = 0; n < 6; n++)
      await auth(
        'login',
        { email: person.email, password: 'wrong-password' },
        { ip: `198.19.0.${n}` },
      )
    for (let n = 0; n < 6; n++)
      expect((await auth('unlock', { password: 'wrong-password' }, { token })).status).toBe(401)
    expect(code(await auth('unlock', { password: person.password }, { token }))).toEqual([
      429,
      'rate_limited',
    ])
    clock.advance(seconds(2))
    expect((await auth('unlock', { password: person.password }, { token })).status).toBe(200)
  })

  test('twelve idle hours end a token; use keeps it alive', async () => {
    const person = await active()
    const login = await auth<{ token: { accessToken: string; expiresAt: string } }>('login', {
      email: person.email,
      password: person.password,
    })
    const { accessToken, expiresAt } = login.body.result.token
    expect(new Date(expiresAt).getTime() - clock.now().getTime()).toBe(hours(12))
    for (let day = 0; day < 3; day++) {
      clock.advance(hours(12) - minutes(2))
      expect((await me(accessToken)).status).toBe(200)
    }
    clock.advance(hours(12))
    expect((await me(accessToken)).status).toBe(401)
    clock.advance(-hours(1))
    expect((await me(accessToken)).status).toBe(200)
  })
})
