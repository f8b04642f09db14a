/** Sign-in, sessions and recovery, as a person and as an attacker would use them; and that no secret of theirs is left to be seen. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, manualClock, openTestHouse, type Answer, type TestHouse } from '../../test/house.ts'
import { code, form, newcomersTo, wrong } from '../../test/newcomers.ts'
import { hours, minutes } from '../platform/clock.ts'

const clock = manualClock()
const lines: string[] = []
let portal: TestHouse
let admin: pg.Client
beforeAll(async () => {
  // One proxy in front, so that a test may come from an address of its own.
  portal = await openTestHouse({ clock, logLines: (line) => lines.push(line), env: { TRUST_PROXY: 'on' } })
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
      return { text: answer.text.replace(answer.body.error?.requestId ?? '', ''), ms: performance.now() - began }
    }
    const median = (samples: { ms: number }[]): number =>
      samples.map((sample) => sample.ms).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0
    const [known, unknown]: [Awaited<ReturnType<typeof spent>>[], Awaited<ReturnType<typeof spent>>[]] = [[], []]
    for (let round = 0; round < 9; round++) {
      known.push(await spent(person.email, `198.51.100.${round}`))
      unknown.push(await spent(`ghost${round}@example.vn`, `198.51.100.${round}`))
    }
    expect(new Set([...known, ...unknown].map((sample) => sample.text)).size).toBe(1)
    // Without the decoy an unknown email answers in a tenth of the time.
    const factor = median(unknown) / median(known)
    expect(factor).toBeGreaterThan(0.5)
    expect(factor).toBeLessThan(2)
  })

  test('ten failures lock an account for a quarter of an hour, wherever they come from, and for the right password too', async () => {
    const [person, other] = [await active(), await active()]
    for (let n = 0; n < 10; n++)
      expect(code(await auth('login', { email: person.email, password: 'wrong-password' }, { ip: `203.0.113.${n}` }))).toEqual([
        401,
        'bad_credentials',
      ])
    const locked = await auth('login', { email: person.email.toUpperCase(), password: person.password }, { ip: '203.0.113.99' })
    expect(code(locked)).toEqual([429, 'rate_limited'])
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(14 * 60)
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
    expect((await auth('login', { email: other.email, password: other.password }, { ip: '203.0.113.99' })).status).toBe(200)
    await passInCounters(minutes(15))
    expect((await auth('login', { email: person.email, password: person.password }, { ip: '203.0.113.99' })).status).toBe(200)
  })

  test('ten failures lock an address; what a caller writes into X-Forwarded-For does not help', async () => {
    const person = await active()
    for (let n = 0; n < 10; n++)
      expect(
        (await auth('login', { email: `ghost-${n}@example.vn`, password: 'wrong-password' }, { ip: `10.0.0.${n}, 192.0.2.7` })).status,
      ).toBe(401)
    expect(code(await auth('login', { email: person.email, password: person.password }, { ip: '10.9.9.9, 192.0.2.7' }))).toEqual([
      429,
      'rate_limited',
    ])
    expect((await auth('login', { email: person.email, password: person.password }, { ip: '192.0.2.8' })).status).toBe(200)
  })

  test('a success forgets the failures of the account', async () => {
    const person = await active()
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 9; n++)
        expect((await auth('login', { email: person.email, password: 'wrong-password' }, { ip: `203.0.${round + 114}.${n}` })).status).toBe(
          401,
        )
      expect((await auth('login', { email: person.email, password: person.password }, { ip: '203.0.113.250' })).status).toBe(200)
    }
  })

  test('a storm of guesses: at most ten are judged', async () => {
    const person = await active()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => auth('login', { email: person.email, password: 'wrong-password' }, { ip: `203.0.120.${n}` })),
    )
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(10)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(20)
  })
})

describe('sessions', () => {
  test('logout ends this token and no other', async () => {
    const person = await active()
    const [one, two] = [await signIn(person), await signIn(person)]
    expect((await auth('logout', undefined, { token: one })).status).toBe(200)
    expect((await me(one)).status).toBe(401)
    expect((await auth('logout', undefined, { token: one })).status).toBe(401)
    expect((await me(two)).status).toBe(200)
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

describe('recovery', () => {
  test('a code by mail sets a new password and ends every session', async () => {
    const person = await active()
    const tokens = [await signIn(person), await signIn(person)]
    expect((await auth('recover', { email: person.email })).status).toBe(200)
    expect(code(await auth('recover', { email: person.email }))).toEqual([429, 'rate_limited'])
    const mailed = await codeFor(person.email)
    expect((await portal.inbox(person.email))[0]?.channel).toBe('mail')
    const password = 'Another-horse-10'
    expect(code(await auth('reset', { email: person.email, code: wrong(mailed), password }))).toEqual([422, 'otp_invalid'])
    const common = await auth('reset', { email: person.email, code: mailed, password: 'iloveyou' })
    expect([...code(common), Object.keys(common.body.error?.fields ?? {})]).toEqual([422, 'invalid_input', ['password']])
    // A code to activate is none to recover with.
    expect(code(await auth('active', { email: person.email, code: mailed }))).toEqual([422, 'otp_expired'])
    expect((await auth('reset', { email: person.email, code: mailed, password })).status).toBe(200)
    for (const token of tokens) expect((await me(token)).status).toBe(401)
    expect(code(await auth('login', { email: person.email, password: person.password }))).toEqual([401, 'bad_credentials'])
    expect(await signIn({ email: person.email, password })).toMatch(/./)
    expect(code(await auth('reset', { email: person.email, code: mailed, password }))).toEqual([422, 'otp_expired'])
  })

  test('a sign-in that was being judged while the password was replaced opens no session', async () => {
    const person = await active()
    const replacing = new pg.Client({ connectionString: portal.databaseUrl })
    await replacing.connect()
    await replacing.query('begin')
    await replacing.query(`update customer set password_hash = password_hash || 'x' where id = $1`, [person.id])
    const answer = auth('login', { email: person.email, password: person.password })
    await eventually('the sign-in waiting', async () => {
      const { rows } = await admin.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%for share%' and datname = current_database()`,
      )
      return rows[0]?.n === 1
    })
    await replacing.query('commit')
    await replacing.end()
    expect(code(await answer)).toEqual([401, 'bad_credentials'])
    const { rows } = await admin.query('select id from session where customer_id = $1', [person.id])
    expect(rows).toEqual([])
  })

  test('five wrong tries, ten minutes, an unknown email', async () => {
    const [person, slow] = [await active(), await active()]
    const password = 'Another-horse-10'
    await auth('recover', { email: person.email })
    const mailed = await codeFor(person.email)
    for (let n = 0; n < 5; n++) expect((await auth('reset', { email: person.email, code: wrong(mailed), password })).status).toBe(422)
    expect(code(await auth('reset', { email: person.email, code: mailed, password }))).toEqual([422, 'otp_expired'])
    await auth('recover', { email: slow.email })
    const late = await codeFor(slow.email)
    clock.advance(minutes(10))
    expect(code(await auth('reset', { email: slow.email, code: late, password }))).toEqual([422, 'otp_expired'])
    expect((await auth('recover', { email: 'nobody-here@example.vn' })).status).toBe(200)
    expect(code(await auth('reset', { email: 'nobody-here@example.vn', code: '123456', password }))).toEqual([422, 'otp_expired'])
  })
})

describe('what must not be seen', () => {
  test('codes, passwords and tokens: in no answer, no log line, and nowhere in the database', async () => {
    lines.length = 0
    const person = form()
    const answers: Answer[] = [await auth('register', person)]
    // The same with a key: the kept answer is sealed.
    const keyed = await portal.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
      body: { email: person.email, password: person.password },
      headers: { 'idempotency-key': 'k' },
    })
    answers.push(keyed)
    const activation = await codeFor(person.phone)
    answers.push(await auth('active', { email: person.email, code: wrong(activation) }))
    answers.push(await auth('active', { email: person.email, code: activation }))
    const login = await portal.call<{ token: { accessToken: string } }>('POST', '/api/v1/auth/login', {
      body: { email: person.email, password: person.password },
      headers: { 'idempotency-key': 'l' },
    })
    const token = login.body.result.token.accessToken
    answers.push(await auth('recover', { email: person.email }))
    const mailed = await codeFor(person.email)
    await portal.house.jobs.idle()

    expect(lines.length).toBeGreaterThan(5)
    const { rows: tables } = await admin.query<{ name: string }>(
      "select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema in ('public', 'pgboss')",
    )
    expect(tables.length).toBeGreaterThan(20)
    const stored: string[] = []
    for (const { name } of tables) {
      const { rows } = await admin.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} t`)
      stored.push(...rows.map(({ row }) => `${name}: ${row}`))
    }
    // bytea reads as hex; a secret in it would be hex of its text.
    const traces = (secret: string): string[] => [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]
    const alone = (secret: string) => new RegExp(`(?<![0-9a-f])(${traces(secret).join('|')})(?![0-9a-f])`)
    for (const secret of [activation, mailed, person.password, token]) {
      expect(stored.filter((row) => alone(secret).test(row.replace(/\d{2}:\d{2}:\d{2}[.\d]*/g, '')))).toEqual([])
      expect(lines.filter((line) => alone(secret).test(line.replace(/"time":"[^"]*"/, '')))).toEqual([])
      expect(answers.filter((answer) => answer.text.includes(secret) && secret !== token).map((answer) => answer.text)).toEqual([])
    }
    expect(lines.some((line) => line.includes(person.email) || line.includes(person.phone))).toBe(false)
  })
})
