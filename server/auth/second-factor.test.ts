/**
 * The second factor, used by its owner and by somebody who has the password: codes of an app,
 * recovery codes, trusted devices, repeated checks, and the letter about a sign-in. Passkeys have a
 * file of their own.
 */
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountAt } from '../../test/account-page.ts'
import { challengeOf, code, newcomersTo, type SignedIn } from '../../test/newcomers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours, minutes, seconds } from '../platform/clock.ts'
import { base32, stepOf, totpAt } from './totp.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { auth, signIn, me, active, login } = newcomersTo(() => portal)
const { account, security } = accountAt(() => portal)

/** The code that an app shows `steps` steps from now. */
const shown = (secret: string, steps = 0) => totpAt(secret, stepOf(clock.now()) + steps)
const nextStep = () => clock.advance(seconds(30))

/** A customer with an app; codes up to the previous step are used. */
async function withApp() {
  const person = await active()
  const token = await signIn(person)
  const begun = await account<{ secret: string; uri: string }>(token, 'POST', '/security/totp', {
    password: person.password,
  })
  expect(begun.status, begun.text).toBe(200)
  const { secret, uri } = begun.body.result
  const confirmed = await account<{ recoveryCodes: string[] }>(
    token,
    'POST',
    '/security/totp/confirm',
    { code: shown(secret) },
  )
  expect(confirmed.status, confirmed.text).toBe(200)
  nextStep()
  return { person, token, secret, uri, recoveryCodes: confirmed.body.result.recoveryCodes }
}
const bring = (challenge: string, given: string, more: object = {}) =>
  auth<SignedIn>('second-factor', { challenge, code: given, ...more })

/**
 * Sends calls with codes so that all wait before the first is checked, in order; answers their
 * responses.
 */
async function inARow(customerId: string, calls: readonly (() => Promise<Answer<unknown>>)[]) {
  // A lock on the app's row delays every code that is being checked.
  const holding = new pg.Client({ connectionString: portal.databaseUrl })
  await holding.connect()
  await holding.query('begin')
  await holding.query('select from totp where customer_id = $1 for update', [customerId])
  const sent: Promise<Answer<unknown>>[] = []
  for (const call of calls) {
    sent.push(call())
    await eventually(`call ${sent.length} waits`, async () => {
      const { rows } = await sql<{ n: number }>`
        select count(*)::int as n from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(portal.app.db)
      return rows[0]?.n === sent.length
    })
  }
  await holding.query('commit')
  await holding.end()
  return (await Promise.all(sent)).map((answer) => code(answer as Answer))
}

describe('codes of an app', () => {
  test('are those of RFC 6238', () => {
    const secret = base32(Buffer.from('12345678901234567890'))
    for (const [at, expected] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ] as const)
      expect(totpAt(secret, stepOf(new Date(at * 1000)))).toBe(expected)
  })

  test('once it is confirmed the password is not enough', async () => {
    const { person, secret, uri, recoveryCodes, token } = await withApp()
    expect(uri).toMatch(
      new RegExp(`^otpauth://totp/[^?]+%40example.vn\\?secret=${secret}&issuer=.+&period=30$`),
    )
    expect(recoveryCodes).toHaveLength(10)
    const refused = await login(person)
    const challenge = challengeOf(refused)
    expect(refused.headers.get('set-cookie')).toBeNull()
    const entered = await bring(challenge, shown(secret))
    expect(entered.status, entered.text).toBe(200)
    expect((await me(entered.body.result.token.accessToken)).status).toBe(200)
    // The challenge is spent, and so is the code.
    expect(code(await bring(challenge, shown(secret, 1)))).toEqual([422, 'otp_expired'])
    expect(code(await bring(challengeOf(await login(person)), shown(secret)))).toEqual([
      422,
      'otp_invalid',
    ])
    expect(await security(token)).toMatchObject({ totp: true, recoveryCodesLeft: 10 })
  })

  test('a step before and after is let through, two are not, an older one never', async () => {
    const { person, secret } = await withApp()
    const tried = async (steps: number) =>
      (await bring(challengeOf(await login(person)), shown(secret, steps))).status
    for (let n = 0; n < 4; n++) nextStep()
    expect(await tried(-2)).toBe(422)
    expect(await tried(2)).toBe(422)
    expect(await tried(-1)).toBe(200)
    expect(await tried(1)).toBe(200)
    // The code is of a step before the last used one.
    expect(await tried(0)).toBe(422)
  })

  test('one that was not confirmed asks for nothing; a wrong one confirms nothing', async () => {
    const person = await active()
    const token = await signIn(person)
    const begin = (password: string) =>
      account<{ secret: string }>(token, 'POST', '/security/totp', { password })
    expect((await begin('not this one')).body.error?.fields).toHaveProperty('password')
    const { secret } = (await begin(person.password)).body.result
    const confirm = (given: string) =>
      account(token, 'POST', '/security/totp/confirm', { code: given })
    expect(code(await confirm(shown(secret, 5)))).toEqual([422, 'otp_invalid'])
    expect((await login(person)).status).toBe(200)
    clock.advance(minutes(31))
    expect(code(await confirm(shown(secret)))).toEqual([422, 'otp_expired'])
  })

  test('five wrong codes end a sign-in, and wrong ones of many sign-ins bring delays', async () => {
    const { person, secret } = await withApp()
    const challenge = challengeOf(await login(person))
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bring(challenge, shown(secret, 9))),
    )
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(8)
    expect(code(await bring(challenge, shown(secret)))[1]).toBe('otp_expired')
    // The sixth wrong code of the account, with any challenge.
    const again = challengeOf(await login(person))
    expect(code(await bring(again, shown(secret, 9)))).toEqual([422, 'otp_invalid'])
    expect(code(await bring(again, shown(secret)))).toEqual([429, 'rate_limited'])
    clock.advance(seconds(2))
    expect((await bring(again, shown(secret))).status).toBe(200)
  })

  test('of a burst that is sent as a delay ends one code is judged', async () => {
    const { person, secret, token } = await withApp()
    const failed = async () =>
      (await account<{ outcome: string }[]>(token, 'GET', '/sign-ins')).body.result.filter(
        ({ outcome }) => outcome === 'failed',
      ).length
    for (let n = 0; n < 6; n++) await bring(challengeOf(await login(person)), shown(secret, 9))
    expect(await failed()).toBe(6)
    const challenges: string[] = []
    for (let n = 0; n < 6; n++) challenges.push(challengeOf(await login(person)))
    clock.advance(seconds(2))
    const answers = await inARow(
      person.id,
      // The right code is the last one.
      challenges.map((challenge, n) => () => {
        const given = shown(secret, n === challenges.length - 1 ? 0 : 9)
        return auth('second-factor', { challenge, code: given }, { ip: `192.0.2.${n}` })
      }),
    )
    expect(answers).toEqual([[422, 'otp_invalid'], ...Array(5).fill([429, 'rate_limited'])])
    expect(await failed()).toBe(7)
    // The owner signs in when the delay is over.
    clock.advance(seconds(4))
    expect((await bring(challenges.at(-1) ?? '', shown(secret))).status).toBe(200)
  })

  test('of a burst of codes that are asked for again one is judged', async () => {
    const { person, secret, token } = await withApp()
    const again = (given: string) => auth('reauthenticate', { code: given }, { token })
    for (let n = 0; n < 6; n++)
      expect(code(await again(shown(secret, 9)))).toEqual([422, 'otp_invalid'])
    clock.advance(seconds(2))
    const answers = await inARow(person.id, [
      () => again(shown(secret, 9)),
      () => again(shown(secret)),
    ])
    expect(answers).toEqual([
      [422, 'otp_invalid'],
      [429, 'rate_limited'],
    ])
    clock.advance(seconds(4))
    expect((await again(shown(secret))).status).toBe(200)
  })

  test('a sign-in that waits ends after ten minutes, and with a new password', async () => {
    const { person, secret, token } = await withApp()
    const late = challengeOf(await login(person))
    clock.advance(minutes(10))
    expect(code(await bring(late, shown(secret)))).toEqual([422, 'otp_expired'])
    const waiting = challengeOf(await login(person))
    await auth('reauthenticate', { code: shown(secret) }, { token })
    nextStep()
    const changed = await account(token, 'PUT', '/password', {
      current: person.password,
      password: 'Another-horse-10',
    })
    expect(changed.status, changed.text).toBe(200)
    expect(code(await bring(waiting, shown(secret)))).toEqual([422, 'otp_expired'])
  })
})

describe('recovery codes', () => {
  test('each counts once, of two at once too; new ones end the old', async () => {
    const { person, recoveryCodes, token, secret } = await withApp()
    const [first = '', second = ''] = recoveryCodes
    const both = await Promise.all(
      [await login(person), await login(person)].map((answer) => bring(challengeOf(answer), first)),
    )
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422])
    expect((await security(token)).recoveryCodesLeft).toBe(9)
    const renew = () =>
      account<{ recoveryCodes: string[] }>(token, 'POST', '/security/recovery-codes')
    await auth('reauthenticate', { code: shown(secret) }, { token })
    const renewed = (await renew()).body.result.recoveryCodes
    const typed = renewed[0]?.toUpperCase().replace('-', ' ') ?? ''
    expect(code(await bring(challengeOf(await login(person)), second))[1]).toBe('otp_invalid')
    expect((await bring(challengeOf(await login(person)), typed)).status).toBe(200)
    // Without a factor, recovery codes would replace nothing.
    expect(
      code(await account(await signIn(await active()), 'POST', '/security/recovery-codes')),
    ).toEqual([409, 'conflict'])
  })
})

describe('a device that is trusted', () => {
  test('is not asked for thirty days, until it is forgotten or the password changes', async () => {
    const { person, secret, token } = await withApp()
    const entered = await bring(challengeOf(await login(person)), shown(secret), { trust: true })
    const cookieOf = (answer: Answer) =>
      answer.headers.getSetCookie().find((one) => one.includes('portal_device')) ?? ''
    expect(cookieOf(entered)).toMatch(
      /^portal_device_\d+=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    )
    const cookie = cookieOf(entered).split(';')[0] ?? ''
    const trusted = await login(person, { cookie })
    expect(trusted.status, trusted.text).toBe(200)
    // A trusted device replaces the factor at the sign-in only.
    expect(
      code(
        await account(trusted.body.result.token.accessToken, 'POST', '/email', {
          email: `new-${person.email}`,
          password: person.password,
        }),
      ),
    ).toEqual([403, 'reauthentication_required'])
    expect(
      (await login(await withApp().then(({ person: other }) => other), { cookie })).status,
    ).toBe(403)
    const { devices } = await security(token)
    expect(devices).toHaveLength(1)
    expect((await account(token, 'DELETE', `/security/devices/${devices[0]?.id}`)).status).toBe(200)
    expect((await login(person, { cookie })).status).toBe(403)
    nextStep()
    const again = cookieOf(
      await bring(challengeOf(await login(person)), shown(secret), { trust: true }),
    ).split(';')[0]
    clock.advance(hours(24 * 30))
    expect((await login(person, { cookie: again })).status).toBe(403)
  })
})

describe('what is asked again', () => {
  test('changes of the account, backups, deletions, ten minutes after the factor', async () => {
    const { person, secret, token } = await withApp()
    clock.advance(minutes(10))
    const asked: [method: string, path: string, body?: unknown][] = [
      [
        'PUT',
        '/api/v1/account/password',
        { current: person.password, password: 'Another-horse-1' },
      ],
      ['POST', '/api/v1/account/email', { email: 'x@example.vn', password: person.password }],
      ['POST', '/api/v1/account/phone', { phone: '+84912345678', password: person.password }],
      ['DELETE', '/api/v1/account/security/totp'],
      ['DELETE', '/api/wp/unknown'],
      ['DELETE', '/api/dns/unknown'],
      ['POST', '/api/wp/unknown/backups/unknown/link'],
      ['POST', '/api/subscriptions/unknown/cancel', { when: 'now' }],
    ]
    for (const [method, path, body] of asked)
      expect([path, ...code(await portal.call(method, path, { token, body }))]).toEqual([
        path,
        403,
        'reauthentication_required',
      ])
    const again = (given: string) => auth('reauthenticate', { code: given }, { token })
    expect(code(await again(shown(secret, 7)))).toEqual([422, 'otp_invalid'])
    expect((await again(shown(secret))).status).toBe(200)
    for (const [method, path, body] of asked.slice(4))
      expect([path, (await portal.call(method, path, { token, body })).status]).toEqual([path, 404])
    clock.advance(minutes(10))
    expect((await portal.call('DELETE', '/api/wp/unknown', { token })).status).toBe(403)
    // A customer without a second factor is never asked for one.
    const plain = await signIn(await active())
    for (const [method, path, body] of asked.slice(4)) {
      const { status } = await portal.call(method, path, { token: plain, body })
      expect([path, status]).toEqual([path, 404])
    }
  })

  test('without the last factor everything is as it was', async () => {
    const { person, token } = await withApp()
    expect((await account(token, 'DELETE', '/security/totp')).status).toBe(200)
    expect(await security(token)).toMatchObject({ totp: false, recoveryCodesLeft: 0, devices: [] })
    expect((await login(person)).status).toBe(200)
  })
})

describe('the letter about a sign-in', () => {
  test('tells of one from where the account is not known; its link ends everything', async () => {
    const person = await active()
    const token = await signIn(person)
    const letters = async () =>
      (await portal.inbox(person.email)).filter(({ text }) => text.includes('/auth/not-me?token='))
    const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36'
    const enterFrom = (ip: string) =>
      portal.call<SignedIn>('POST', '/api/v1/auth/login', {
        body: { email: person.email, password: person.password },
        headers: { 'x-forwarded-for': ip, 'user-agent': agent },
      })
    const thief = (await enterFrom('203.0.113.77')).body.result.token.accessToken
    const [letter] = await eventually('the letter', async () => {
      const found = await letters()
      return found.length > 0 ? found : undefined
    })
    expect(letter?.text).toContain('Chrome trên Linux')
    expect(letter?.text).toContain('203.0.113.77')
    // The origin is known from now on.
    await enterFrom('203.0.113.77')
    expect(await letters()).toHaveLength(1)
    const link = /token=([\w-]+)/.exec(letter?.text ?? '')?.[1]
    const deny = () => auth<{ email: string }>('not-me', { token: link })
    expect(code(await auth('not-me', { token: 'unknown' }))).toEqual([422, 'link_expired'])
    const denied = await deny()
    expect(denied.body.result).toEqual({ email: person.email })
    for (const one of [token, thief]) expect((await me(one)).status).toBe(401)
    expect(code(await enterFrom('203.0.113.77'))).toEqual([401, 'bad_credentials'])
    expect(code(await deny())).toEqual([422, 'link_expired'])
    // Sets a new password by a code to the email.
    expect((await auth('recover', { email: person.email })).status).toBe(200)
    const fresh = await eventually('the code', async () => {
      const found = (await portal.inbox(person.email))[0]?.text ?? ''
      return /\b\d{6}\b/.exec(found)?.[0]
    })
    const password = 'Another-horse-10'
    await auth('reset', { email: person.email, code: fresh, password })
    expect(await signIn({ email: person.email, password })).toBeTruthy()
  })

  test('what was added since goes with it; what was there before stays', async () => {
    const { person, token, secret } = await withApp()
    const from = { ip: '203.0.113.99' }
    const challenge = challengeOf(await login(person, from))
    const entered = await auth<SignedIn>('second-factor', { challenge, code: shown(secret) }, from)
    expect(entered.status, entered.text).toBe(200)
    const letter = await eventually('the letter', async () =>
      (await portal.inbox(person.email)).find(({ text }) => text.includes(from.ip)),
    )
    clock.advance(hours(24 * 7))
    const link = /token=([\w-]+)/.exec(letter.text)?.[1]
    expect(code(await auth('not-me', { token: link }))).toEqual([422, 'link_expired'])
    clock.advance(-hours(24 * 7) + minutes(1))
    expect((await auth('not-me', { token: link })).status).toBe(200)
    expect((await me(token)).status).toBe(401)
    const { rows } = await portal.app.db
      .selectFrom('totp')
      .select('confirmed_at')
      .where('customer_id', '=', person.id)
      .execute()
      .then((found) => ({ rows: found }))
    expect(rows).toHaveLength(1)
  })
})
