/** Recovery by a code, and what strangers can do to it. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { code, form, newcomersTo, wrong } from '../../test/newcomers.ts'
import { minutes, seconds } from '../platform/clock.ts'

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
const { auth, login, signIn, me, codeFor, passInCounters, registered, active } = newcomersTo(
  () => portal,
)

describe('recovery', () => {
  test('a code by mail sets a new password and ends every session', async () => {
    const person = await active()
    const tokens = [await signIn(person), await signIn(person)]
    expect((await auth('recover', { email: person.email })).status).toBe(200)
    expect(code(await auth('recover', { email: person.email }))).toEqual([429, 'rate_limited'])
    const mailed = await codeFor(person.email)
    expect((await portal.inbox(person.email))[0]?.channel).toBe('mail')
    const password = 'Another-horse-10'
    expect(
      code(await auth('reset', { email: person.email, code: wrong(mailed), password })),
    ).toEqual([422, 'otp_invalid'])
    const common = await auth('reset', { email: person.email, code: mailed, password: 'iloveyou' })
    expect([...code(common), Object.keys(common.body.error?.fields ?? {})]).toEqual([
      422,
      'invalid_input',
      ['password'],
    ])
    // A code for activation is not valid for recovery.
    expect(code(await auth('active', { email: person.email, code: mailed }))).toEqual([
      422,
      'otp_expired',
    ])
    expect((await auth('reset', { email: person.email, code: mailed, password })).status).toBe(200)
    for (const token of tokens) expect((await me(token)).status).toBe(401)
    expect(code(await auth('login', { email: person.email, password: person.password }))).toEqual([
      401,
      'bad_credentials',
    ])
    expect(await signIn({ email: person.email, password })).toMatch(/./)
    expect(code(await auth('reset', { email: person.email, code: mailed, password }))).toEqual([
      422,
      'otp_expired',
    ])
  })

  test('is told by a letter, and so is whoever signs in from elsewhere after it', async () => {
    const person = await active()
    const elsewhere = { ip: '203.0.113.80' }
    const told = async () => {
      await jobsIdle(portal.app.db)
      return (await portal.inbox(person.email)).map(({ text }) => text)
    }
    const signIns = async () =>
      (await told()).filter((text) => text.includes('/auth/not-me') && text.includes(elsewhere.ip))
    await signIn(person)
    for (let n = 0; n < 2; n++) expect((await login(person, elsewhere)).status).toBe(200)
    expect(await signIns()).toHaveLength(1)
    await auth('recover', { email: person.email })
    const mailed = await codeFor(person.email)
    const password = 'Another-horse-10'
    expect((await auth('reset', { email: person.email, code: mailed, password })).status).toBe(200)
    expect((await told()).some((text) => text.includes('khoá SFTP'))).toBe(true)
    // No letter about a sign-in from the network of the reset; one about a sign-in from the network
    // used before.
    const next = { email: person.email, password }
    expect((await login(next)).status).toBe(200)
    expect((await login(next, elsewhere)).status).toBe(200)
    expect(await signIns()).toHaveLength(2)
  })

  test('of two registrations that nobody has proven, opens the one of either', async () => {
    const first = await registered()
    clock.advance(seconds(1))
    const stranger = { ...form(), email: first.email, password: 'Strange-horse-7' }
    expect((await auth('register', stranger, { ip: '203.0.113.81' })).status).toBe(201)
    await auth('recover', { email: first.email })
    const mailed = await codeFor(first.email)
    const password = 'Another-horse-10'
    // The reset comes from another device than the sign-in afterwards.
    const reset = { email: first.email, code: mailed, password }
    expect((await auth('reset', reset, { ip: '203.0.113.82' })).status).toBe(200)
    const typed = { email: first.email, password }
    expect(code(await login(typed))).toEqual([403, 'account_inactive'])
  })

  test('a sign-in judged while the password was replaced opens no session', async () => {
    const person = await active()
    const replacing = new pg.Client({ connectionString: portal.databaseUrl })
    await replacing.connect()
    await replacing.query('begin')
    await replacing.query(
      `update customer set password_hash = password_hash || 'x' where id = $1`,
      [person.id],
    )
    const answer = auth('login', { email: person.email, password: person.password })
    await eventually('the sign-in waiting', async () => {
      const { rows } = await admin.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'
          and query like '%for share%' and datname = current_database()`,
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
    for (let n = 0; n < 5; n++)
      expect(
        (await auth('reset', { email: person.email, code: wrong(mailed), password })).status,
      ).toBe(422)
    expect(code(await auth('reset', { email: person.email, code: mailed, password }))).toEqual([
      422,
      'otp_expired',
    ])
    await auth('recover', { email: slow.email })
    const late = await codeFor(slow.email)
    clock.advance(minutes(10))
    expect(code(await auth('reset', { email: slow.email, code: late, password }))).toEqual([
      422,
      'otp_expired',
    ])
    expect((await auth('recover', { email: 'nobody-here@example.vn' })).status).toBe(200)
    expect(
      code(await auth('reset', { email: 'nobody-here@example.vn', code: '123456', password })),
    ).toEqual([422, 'otp_invalid'])
  })
})

describe('codes and strangers', () => {
  test('five wrong answers end a code for their address, and twenty for all', async () => {
    const person = await active()
    const password = 'Another-horse-10'
    const reset = (given: string, ip: string) =>
      auth('reset', { email: person.email, code: given, password }, { ip })
    await auth('recover', { email: person.email }, { ip: '192.0.2.50' })
    const mailed = await codeFor(person.email)
    for (let n = 0; n < 5; n++)
      expect(code(await reset(wrong(mailed), '198.51.100.60'))).toEqual([422, 'otp_invalid'])
    expect(code(await reset(mailed, '198.51.100.60'))).toEqual([422, 'otp_expired'])
    for (const network of [61, 62])
      for (let n = 0; n < 5; n++)
        expect(code(await reset(wrong(mailed), `198.51.100.${network}`))).toEqual([
          422,
          'otp_invalid',
        ])
    expect((await reset(mailed, '192.0.2.50')).status).toBe(200)

    await auth('recover', { email: person.email }, { ip: '192.0.2.51' })
    const second = await codeFor(person.email, mailed)
    for (const network of [70, 71, 72, 73])
      for (let n = 0; n < 5; n++) await reset(wrong(second), `198.51.100.${network}`)
    expect(code(await reset(second, '192.0.2.51'))).toEqual([422, 'otp_expired'])
    await passInCounters(minutes(15))
  })

  test('a stranger’s requests delay no owner, and end no code of theirs', async () => {
    const person = await active()
    await auth('login', { email: person.email, password: person.password }, { ip: '192.0.2.60' })
    for (let n = 0; n < 3; n++)
      expect(
        (await auth('recover', { email: person.email }, { ip: `198.51.101.${n}` })).status,
      ).toBe(200)
    // At once for a request from the owner's own network; a second one within a minute is refused
    // there.
    expect((await auth('recover', { email: person.email }, { ip: '192.0.2.60' })).status).toBe(200)
    expect(code(await auth('recover', { email: person.email }, { ip: '192.0.2.60' }))).toEqual([
      429,
      'rate_limited',
    ])
    await jobsIdle(portal.app.db)
    const own = /\b\d{6}\b/.exec((await portal.inbox(person.email))[0]?.text ?? '')?.[0] ?? ''
    for (let n = 10; n < 50; n++)
      expect(
        (await auth('recover', { email: person.email }, { ip: `198.51.101.${n}` })).status,
      ).toBe(200)
    await jobsIdle(portal.app.db)
    // Of forty networks of one provider the first ten a day get a code sent; other networks still
    // do.
    expect(await portal.inbox(person.email)).toHaveLength(11)
    await auth('recover', { email: person.email }, { ip: '203.0.113.9' })
    await jobsIdle(portal.app.db)
    expect(await portal.inbox(person.email)).toHaveLength(12)
    const { rows } = await admin.query(
      'select trusted from one_time_code where customer_id = $1 order by trusted',
      [person.id],
    )
    expect(rows).toEqual([{ trusted: false }, { trusted: true }])
    expect(
      (
        await auth(
          'reset',
          { email: person.email, code: own, password: 'Another-horse-10' },
          { ip: '192.0.2.61' },
        )
      ).status,
    ).toBe(200)
  })

  test('from one address sixty codes an hour, for however many accounts', async () => {
    const ip = '198.51.102.1'
    for (let batch = 0; batch < 6; batch++)
      await Promise.all(
        Array.from({ length: 10 }, async (_, n) => {
          const email = `many-${batch}-${n}@example.vn`
          expect((await auth('recover', { email }, { ip })).status).toBe(200)
        }),
      )
    expect(code(await auth('recover', { email: 'one-more@example.vn' }, { ip }))).toEqual([
      429,
      'rate_limited',
    ])
  })

  test('a reset says the same for an email with an account and without one', async () => {
    const person = await active()
    const said = async (email: string, ip: string): Promise<unknown[]> => {
      const password = 'Another-horse-10'
      const answers = [code(await auth('reset', { email, code: '000000', password }, { ip }))]
      answers.push(code(await auth('recover', { email }, { ip })))
      answers.push(code(await auth('recover', { email }, { ip })))
      for (let n = 0; n < 6; n++)
        answers.push(code(await auth('reset', { email, code: '000000', password }, { ip })))
      return answers
    }
    const known = await said(person.email, '198.51.103.1')
    expect(known).toEqual([
      [422, 'otp_expired'],
      [200, undefined],
      [429, 'rate_limited'],
      ...Array.from({ length: 5 }, () => [422, 'otp_invalid']),
      [422, 'otp_expired'],
    ])
    expect(await said('nobody-at-all@example.vn', '198.51.103.2')).toEqual(known)
  })
})
