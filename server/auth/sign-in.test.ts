/**
 * Sign-in, as a person and as an attacker would use it; and that no secret is visible afterwards.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { manualClock, openTestPortal, type Answer, type TestPortal } from '../../test/portal.ts'
import { code, form, newcomersTo, wrong } from '../../test/newcomers.ts'
import { hours, minutes } from '../platform/clock.ts'

const clock = manualClock()
const lines: string[] = []
let portal: TestPortal
let admin: pg.Client
beforeAll(async () => {
  // One proxy in front, so that a test may set its own client address.
  portal = await openTestPortal({
    clock,
    logLines: (line) => lines.push(line),
    env: { TRUST_PROXY: 'on' },
  })
  admin = new pg.Client({ connectionString: portal.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await portal.close()
})
const { auth, signIn, me, codeFor, passInCounters, active } = newcomersTo(() => portal)

describe('sign-in', () => {
  test('unknown email and wrong password are told in the same words and time', async () => {
    const person = await active()
    const spent = async (email: string, ip: string): Promise<{ text: string; ms: number }> => {
      const began = performance.now()
      const answer = await auth('login', { email, password: 'wrong-password' }, { ip })
      expect(code(answer)).toEqual([401, 'bad_credentials'])
      return {
        text: answer.text.replace(answer.body.error?.requestId ?? '', ''),
        ms: performance.now() - began,
      }
    }
    // Other load only adds time: the shortest sample is the call's own time.
    const shortest = (samples: { ms: number }[]): number =>
      Math.min(...samples.map((sample) => sample.ms))
    const [known, unknown]: [
      Awaited<ReturnType<typeof spent>>[],
      Awaited<ReturnType<typeof spent>>[],
    ] = [[], []]
    for (let round = 0; round < 15; round++) {
      known.push(await spent(person.email, `198.51.100.${round}`))
      unknown.push(await spent(`ghost${round}@example.vn`, `198.51.100.${round}`))
      clock.advance(minutes(15))
    }
    expect(new Set([...known, ...unknown].map((sample) => sample.text)).size).toBe(1)
    // Without the decoy hash, an unknown email would be answered in a tenth of the time.
    const factor = shortest(unknown) / shortest(known)
    expect(factor).toBeGreaterThan(0.25)
    expect(factor).toBeLessThan(4)
  })

  const wrongFrom = (email: string, ip: string) =>
    auth('login', { email, password: 'wrong-password' }, { ip })

  test('failures of an account bring growing delays from the sixth, and never a lock', async () => {
    const [person, other] = [await active(), await active()]
    const right = { email: person.email.toUpperCase(), password: person.password }
    for (let n = 0; n < 5; n++)
      expect(code(await wrongFrom(person.email, `203.0.113.${n}`))).toEqual([
        401,
        'bad_credentials',
      ])
    for (const seconds of [2, 4, 8, 16, 32, 60, 60]) {
      const wrong = await wrongFrom(person.email, '203.0.113.98')
      expect(code(wrong)).toEqual([401, 'bad_credentials'])
      expect(wrong.headers.get('retry-after')).toBe(String(seconds))
      // Whatever the password.
      const delayed = await auth('login', right, { ip: '203.0.113.99' })
      expect(code(delayed)).toEqual([429, 'rate_limited'])
      expect(delayed.headers.get('retry-after')).toBe(String(seconds))
      clock.advance(seconds * 1000 - 1)
      expect(code(await auth('login', right, { ip: '203.0.113.99' }))).toEqual([
        429,
        'rate_limited',
      ])
      clock.advance(1)
    }
    expect(
      (
        await auth(
          'login',
          { email: other.email, password: other.password },
          { ip: '203.0.113.99' },
        )
      ).status,
    ).toBe(200)
    expect((await auth('login', right, { ip: '203.0.113.99' })).status).toBe(200)
    // A success forgets them.
    for (let n = 0; n < 5; n++)
      expect((await wrongFrom(person.email, `203.0.113.${n}`)).status).toBe(401)
    expect((await auth('login', right, { ip: '203.0.113.100' })).status).toBe(200)
  })

  test('what strangers do delays no browser or address that signed in before', async () => {
    const person = await active()
    const right = { email: person.email, password: person.password }
    const first = await auth('login', right, { ip: '192.0.2.10' })
    const cookie = first.headers.getSetCookie().find((one) => one.startsWith('portal_br')) ?? ''
    expect(cookie).toMatch(
      /^portal_browser=[\w-]{43}; Path=\/api\/v1\/auth; Max-Age=7776000; HttpOnly; SameSite=Lax$/,
    )
    const kept = cookie.split(';')[0] ?? ''
    for (let n = 0; n < 6; n++) await wrongFrom(person.email, `198.18.0.${n}`)
    expect(code(await auth('login', right, { ip: '198.18.0.99' }))).toEqual([429, 'rate_limited'])
    expect((await auth('login', right, { ip: '192.0.2.10' })).status).toBe(200)
    for (let n = 0; n < 6; n++) await wrongFrom(person.email, `198.18.1.${n}`)
    expect((await auth('login', right, { ip: '198.18.0.98', cookie: kept })).status).toBe(200)
    // This origin's own failures count.
    for (let n = 0; n < 6; n++)
      await auth('login', { ...right, password: 'wrong-password' }, { ip: '192.0.2.10' })
    expect(code(await auth('login', right, { ip: '192.0.2.10' }))).toEqual([429, 'rate_limited'])
    expect(code(await auth('login', right, { ip: '198.18.7.7' }))).toEqual([429, 'rate_limited'])
    clock.advance(minutes(16))
    // After 90 days the browser is unknown again.
    clock.advance(hours(24 * 90))
    for (let n = 0; n < 6; n++) await wrongFrom(person.email, `198.18.2.${n}`)
    expect(code(await auth('login', right, { ip: '198.18.0.97', cookie: kept }))).toEqual([
      429,
      'rate_limited',
    ])
    clock.advance(-hours(24 * 90) - minutes(16))
  })

  test('a hundred failures end the guessing of a network; an IPv6 network is a /64', async () => {
    const person = await active()
    const right = { email: person.email, password: person.password }
    for (const address of [
      (n: number) => `10.0.0.${n}, 192.0.2.7`,
      (n: number) => `2001:db8:1:2:${n.toString(16)}::1`,
    ]) {
      for (let batch = 0; batch < 10; batch++)
        await Promise.all(
          Array.from({ length: 10 }, async (_, n) => {
            const answer = await wrongFrom(
              `ghost-${batch}-${n}@example.vn`,
              address(batch * 10 + n),
            )
            expect(answer.status).toBe(401)
          }),
        )
      expect(code(await auth('login', right, { ip: address(999) }))).toEqual([429, 'rate_limited'])
    }
    expect(code(await auth('login', right, { ip: '::ffff:192.0.2.7' }))).toEqual([
      429,
      'rate_limited',
    ])
    expect((await auth('login', right, { ip: '192.0.2.8' })).status).toBe(200)
    expect((await auth('login', right, { ip: '2001:db8:1:3::1' })).status).toBe(200)
    await passInCounters(minutes(15))
  })

  test('a storm of guesses: at most six are judged', async () => {
    const person = await active()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => wrongFrom(person.email, `203.0.120.${n}`)),
    )
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(6)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(24)
  })

  test('failed sign-ins can be followed in the log, and no email stands there', async () => {
    lines.length = 0
    await wrongFrom('ghost-of-the-log@example.vn', '198.51.100.200')
    await wrongFrom('ghost-of-the-log@example.vn', '198.51.100.201')
    const events = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === 'sign_in_failed')
    expect(events).toHaveLength(2)
    expect(events[0]).toMatchObject({ level: 30, known: false, network: '198.51.100.200' })
    expect(events[0]?.['account']).toBe(events[1]?.['account'])
    expect(lines.join('\n')).not.toContain('ghost-of-the-log')
    const person = await active()
    await me(await signIn(person))
    const request = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .findLast(({ route }) => route === '/api/v1/auth/me')
    expect(request).toMatchObject({ customer: person.id, network: '127.0.0.1' })
  })
})

describe('what must not be seen', () => {
  test('codes, passwords and tokens: in no answer, no log and no database', async () => {
    lines.length = 0
    const person = form()
    const answers: Answer[] = [await auth('register', person)]
    // The same with an Idempotency-Key: the stored response is encrypted.
    const keyed = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      {
        body: { email: person.email, password: person.password },
        headers: { 'idempotency-key': 'k' },
      },
    )
    answers.push(keyed)
    const activation = await codeFor(person.phone)
    answers.push(await auth('active', { email: person.email, code: wrong(activation) }))
    answers.push(await auth('active', { email: person.email, code: activation }))
    const login = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      {
        body: { email: person.email, password: person.password },
        headers: { 'idempotency-key': 'l' },
      },
    )
    const token = login.body.result.token.accessToken
    answers.push(await auth('recover', { email: person.email }))
    const mailed = await codeFor(person.email)
    await jobsIdle(portal.app.db)

    expect(lines.length).toBeGreaterThan(5)
    const { rows: tables } = await admin.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema in ('public', 'pgboss')`,
    )
    expect(tables.length).toBeGreaterThan(20)
    const stored: string[] = []
    for (const { name } of tables) {
      const { rows } = await admin.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${name} t`,
      )
      stored.push(...rows.map(({ row }) => `${name}: ${row}`))
    }
    // bytea reads as hex; a secret in it would be hex of its text.
    const traces = (secret: string): string[] => [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64'),
    ]
    const alone = (secret: string) =>
      new RegExp(`(?<![0-9a-f])(${traces(secret).join('|')})(?![0-9a-f])`)
    for (const secret of [activation, mailed, person.password, token]) {
      expect(
        stored.filter((row) => alone(secret).test(row.replace(/\d{2}:\d{2}:\d{2}[.\d]*/g, ''))),
      ).toEqual([])
      expect(
        lines.filter((line) => alone(secret).test(line.replace(/"time":"[^"]*"/, ''))),
      ).toEqual([])
      expect(
        answers
          .filter((answer) => answer.text.includes(secret) && secret !== token)
          .map((answer) => answer.text),
      ).toEqual([])
    }
    expect(lines.some((line) => line.includes(person.email) || line.includes(person.phone))).toBe(
      false,
    )
  })
})
