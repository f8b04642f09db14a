/** Tokens for programs: how each is made and kept, how long and from where it opens, its end. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { code } from '../../test/newcomers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { tokensAt } from '../../test/tokens.ts'
import { createAccountActs } from '../auth/index.ts'
import { stepOf, totpAt } from '../auth/totp.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { days, minutes, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { newToken, publicIdOf } from './secret.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { make, tokenFor, list, claim } = tokensAt(() => portal)

describe('a token', () => {
  test('is shown once, kept as a hash, and recognised by its form and checksum', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    expect(token).toMatch(/^cpt_[0-9A-Za-z]{50}$/)
    expect(publicIdOf(token)).toBe(token.slice(4, 16))
    const [shown] = await list(an)
    expect(shown).toMatchObject({ name: 'a program', begins: token.slice(0, 16), expired: false })
    expect(JSON.stringify(shown)).not.toContain(token.slice(16))
    const row = await portal.app.db
      .selectFrom('program_token')
      .selectAll()
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(token.slice(16, 40))
    // With one changed letter it is no token, and no lookup happens.
    for (let at = 4; at < token.length; at++) {
      const other = token[at] === 'a' ? 'b' : 'a'
      expect(publicIdOf(token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined()
    }
    // A token of the right form that does not exist; later, one with another token's public part.
    const guessed = newToken()
    for (const wrong of [guessed.token, `${token}x`, token.slice(0, 16)])
      expect(code(await portal.call('GET', '/api/wp', { token: wrong }))).toEqual([
        401,
        'unauthenticated',
      ])
    await portal.app.db
      .updateTable('program_token')
      .set({ public_id: guessed.publicId })
      .where('id', '=', row.id)
      .execute()
    const stolen = await portal.call('GET', '/api/wp', { token: guessed.token })
    expect(code(stolen)).toEqual([401, 'unauthenticated'])
    expect(stolen.body.message).toBe('This token is unknown, revoked or expired.')
  })

  test('is made with the password, and the second factor of whoever has one', async () => {
    const an = await portal.customer()
    const wrong = await make(an, { scopes: ['servers:read'], password: 'not this one' })
    expect(wrong.body.error?.fields).toHaveProperty('password')
    const begun = await portal.call<{ secret: string }>('POST', '/api/v1/account/security/totp', {
      token: an.token,
      body: { password: an.password },
    })
    const { secret } = begun.body.result
    const confirmed = await portal.call('POST', '/api/v1/account/security/totp/confirm', {
      token: an.token,
      body: { code: totpAt(secret, stepOf(clock.now())) },
    })
    expect(confirmed.status).toBe(200)
    clock.advance(minutes(11))
    const asked = await make(an, { scopes: ['servers:read'] })
    expect(code(asked)).toEqual([403, 'reauthentication_required'])
    await portal.call('POST', '/api/v1/auth/reauthenticate', {
      token: an.token,
      body: { code: totpAt(secret, stepOf(clock.now())) },
    })
    expect((await make(an, { scopes: ['servers:read'] })).status).toBe(201)
    const letter = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('a program')),
    )
    expect(letter.text).toContain('servers:read')
    expect(letter.text).toContain('/account/programs')
  })

  test('ends by itself, after 90 days where nothing is said, after a year at most', async () => {
    const an = await portal.customer()
    const usual = await tokenFor(an, { scopes: ['servers:read'] })
    const long = await tokenFor(an, { scopes: ['servers:read'], expiresInDays: 365 })
    expect((await make(an, { scopes: ['servers:read'], expiresInDays: 366 })).status).toBe(422)
    const ask = async (token: string) => (await portal.call('GET', '/api/wp', { token })).status
    clock.advance(days(90) - seconds(1))
    expect(await ask(usual)).toBe(200)
    clock.advance(seconds(1))
    expect(await ask(usual)).toBe(401)
    expect(await ask(long)).toBe(200)
    clock.advance(days(275))
    expect(await ask(long)).toBe(401)
  })

  test('that is used is told of a week before it ends, once', async () => {
    const an = await portal.customer()
    const used = await tokenFor(an, { scopes: ['servers:read'], name: 'the one in use' })
    await tokenFor(an, { scopes: ['servers:read'], name: 'the idle one' })
    await portal.call('GET', '/api/wp', { token: used })
    const told = async () => {
      await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tell-ending-tokens', {}))
      await eventually('the job is done', async () => {
        const { rows } = await sql`select from pgboss.job
          where name = 'tell-ending-tokens' and state in ('created', 'active')`.execute(
          portal.app.db,
        )
        return rows.length === 0
      })
      const { rows } = await sql<{ name: string }>`select name from program_token
        where customer_id = ${an.id} and ending_told_at is not null`.execute(portal.app.db)
      return rows.map(({ name }) => name)
    }
    clock.advance(days(83) - seconds(1))
    expect(await told()).toEqual([])
    clock.advance(seconds(1))
    expect(await told()).toEqual(['the one in use'])
    await told()
    await jobsIdle(portal.app.db)
    const letters = (await portal.inbox(an.email)).filter(({ text }) =>
      text.includes('hết hạn lúc'),
    )
    expect(letters).toHaveLength(1)
    expect(letters[0]?.text).toContain('the one in use')
  })

  test('is used from where it may be, IPv4 and IPv6', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, {
      scopes: ['servers:read'],
      networks: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'],
    })
    const from = async (ip: string) =>
      code(await portal.call('GET', '/api/wp', { token, headers: { 'x-forwarded-for': ip } }))
    expect(await from('203.0.113.9')).toEqual([200, undefined])
    expect(await from('2001:db8:1::5')).toEqual([200, undefined])
    expect(await from('::ffff:198.51.100.7')).toEqual([200, undefined])
    for (const elsewhere of ['203.0.114.9', '2001:db9::1', '198.51.100.8', '127.0.0.1'])
      expect(await from(elsewhere)).toEqual([403, 'forbidden'])
    for (const odd of ['203.0.113', '203.0.113.0/33', 'example.vn', '2001:db8::/129'])
      expect((await make(an, { scopes: ['servers:read'], networks: [odd] })).status).toBe(422)
  })

  test('has its last use written, and seldom', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const used = async (ip: string) => {
      await portal.call('GET', '/api/wp', { token, headers: { 'x-forwarded-for': ip } })
      return (await list(an))[0]?.lastUsedFrom
    }
    expect((await list(an))[0]?.lastUsedAt).toBeNull()
    expect(await used('203.0.113.1')).toBe('203.0.113.1')
    expect(await used('203.0.113.2')).toBe('203.0.113.1')
    clock.advance(minutes(5) + seconds(1))
    expect(await used('203.0.113.2')).toBe('203.0.113.2')
  })

  test('is revoked at once, by its own customer only', async () => {
    const [an, other] = [await portal.customer(), await portal.customer()]
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const [{ id } = { id: '' }] = await list(an)
    const revoke = (who: TestCustomer) =>
      portal.call('DELETE', `/api/v1/account/tokens/${id}`, { token: who.token })
    expect((await revoke(other)).status).toBe(404)
    expect((await portal.call('GET', '/api/wp', { token })).status).toBe(200)
    expect((await revoke(an)).status).toBe(200)
    expect((await portal.call('GET', '/api/wp', { token })).status).toBe(401)
    expect(await list(an)).toEqual([])
  })

  test('of one customer there are twenty at most, however many are made at once', async () => {
    const an = await portal.customer()
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => make(an, { scopes: ['servers:read'] })),
    )
    expect(tries.every(({ status }) => status === 201)).toBe(true)
    for (let more = 6; more < 18; more++) await tokenFor(an, { scopes: ['servers:read'] })
    const last = await Promise.all(
      Array.from({ length: 4 }, () => make(an, { scopes: ['servers:read'] })),
    )
    expect(last.filter(({ status }) => status === 409)).toHaveLength(2)
    expect(await list(an)).toHaveLength(20)
  })

  test('that calls too often is told to wait; other tokens and the customer are not', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const other = await tokenFor(an, { scopes: ['servers:read'] })
    let refused: Answer | undefined
    for (let calls = 0; calls < 320 && !refused; calls++) {
      const answer = await portal.call('GET', '/api/wp', { token })
      if (answer.status !== 200) refused = answer
    }
    expect(refused && code(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await portal.call('GET', '/api/wp', { token: other })).status).toBe(200)
    expect((await portal.call('GET', '/api/wp', { token: an.token })).status).toBe(200)
  })

  test('is answered nothing under a key that the customer or another token used', async () => {
    const an = await portal.customer()
    const domain = await claim(an, 'khoa-chung.vn')
    const [one, two] = [
      await tokenFor(an, { scopes: ['domains:write'] }),
      await tokenFor(an, { scopes: ['domains:write'] }),
    ]
    const body = { name: 'www', type: 'A', content: '192.0.2.1', ttl: 300 }
    const add = (token: string) =>
      portal.call('POST', `/api/dns/${domain}/records`, {
        token,
        body,
        headers: { 'idempotency-key': 'the same for all' },
      })
    const first = await add(one)
    expect(first.status, first.text).toBe(201)
    expect((await add(one)).headers.get('idempotency-replayed')).toBe('true')
    for (const token of [two, an.token])
      expect((await add(token)).headers.get('idempotency-replayed')).toBeNull()
  })
})

describe('every token ends', () => {
  const isGone = async (token: string): Promise<boolean> =>
    (await portal.call('GET', '/api/wp', { token })).status === 401

  test('when the owner says that a sign-in was not theirs', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    await portal.call('POST', '/api/v1/auth/login', {
      body: { email: an.email, password: an.password },
      headers: { 'x-forwarded-for': '198.51.100.77', 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
    })
    const letter = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('not-me')),
    )
    const link = /token=([\w-]+)/.exec(letter.text)?.[1] ?? ''
    expect(await isGone(token)).toBe(false)
    const denied = await portal.call('POST', '/api/v1/auth/not-me', { body: { token: link } })
    expect(denied.status, denied.text).toBe(200)
    expect(await isGone(token)).toBe(true)
    expect(
      await portal.app.db
        .selectFrom('program_token')
        .select('id')
        .where('customer_id', '=', an.id)
        .execute(),
    ).toEqual([])
  })

  test('when the customer is blocked, and stays ended when they are not any more', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    await transaction(portal.app.db, (tx) => acts.block(tx, an.id))
    expect(await isGone(token)).toBe(true)
    await transaction(portal.app.db, (tx) => acts.unblock(tx, an.id))
    expect(await isGone(token)).toBe(true)
  })
})
