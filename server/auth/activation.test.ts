/** Activation: the code that proves a phone, and which account gets the email and phone. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { code, form, newcomersTo, wrong } from '../../test/newcomers.ts'
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
const { auth, signIn, codeFor, passInCounters, registered, active } = newcomersTo(() => portal)

describe('whoever proves the phone', () => {
  test('whoever proves the phone has it: an unproven registration holds nothing', async () => {
    const victim = form()
    const squat = {
      ...form(),
      email: victim.email,
      phone: victim.phone,
      password: 'Squatter-horse-9',
    }
    expect((await auth('register', squat, { ip: '203.0.113.66' })).status).toBe(201)
    const sent = await codeFor(victim.phone)
    // The owner comes later from another network, and does not learn that the email or phone is in
    // use.
    const answer = await auth<{ id: string }>('register', victim, { ip: '203.0.113.77' })
    expect(answer.status).toBe(201)
    const fresh = await codeFor(victim.phone, sent)
    expect(
      (await auth('active', { email: victim.email, code: fresh }, { ip: '203.0.113.77' })).status,
    ).toBe(200)
    expect(await signIn(victim)).toBeTruthy()
    expect(code(await auth('login', { email: squat.email, password: squat.password }))).toEqual([
      401,
      'bad_credentials',
    ])
    const { rows } = await admin.query('select id from customer where email = $1', [victim.email])
    expect(rows).toEqual([{ id: answer.body.result.id }])
    expect(code(await auth('register', squat))).toEqual([409, 'email_taken'])
    expect(code(await auth('register', { ...form(), phone: victim.phone }))).toEqual([
      409,
      'phone_taken',
    ])
  })

  test('the code of a stranger’s registration activates the one that was made here', async () => {
    const victim = form()
    const squat = { ...victim, password: 'Squatter-horse-9' }
    const mine = await auth<{ id: string }>('register', victim, { ip: '203.0.113.77' })
    const first = await codeFor(victim.phone)
    await auth('register', squat, { ip: '203.0.113.66' })
    const second = await codeFor(victim.phone, first)
    expect(
      (await auth('active', { email: victim.email, code: second }, { ip: '203.0.113.77' })).status,
    ).toBe(200)
    const { rows } = await admin.query('select id, active from customer where email = $1', [
      victim.email,
    ])
    expect(rows).toEqual([{ id: mine.body.result.id, active: true }])
    expect(await signIn(victim)).toBeTruthy()
  })

  test('thirty registrations by strangers push the owner’s out of nobody’s reach', async () => {
    const victim = form()
    const mine = await auth<{ id: string }>('register', victim, { ip: '203.0.113.77' })
    const sent = await codeFor(victim.phone)
    for (let one = 0; one < 30; one++)
      await auth('register', { ...form(), email: victim.email }, { ip: `198.51.100.${one}` })
    const { email, password } = victim
    expect(code(await auth('login', { email, password }, { ip: '203.0.113.77' }))).toEqual([
      403,
      'account_inactive',
    ])
    expect(
      (await auth('active', { email: victim.email, code: sent }, { ip: '203.0.113.77' })).status,
    ).toBe(200)
    const { rows } = await admin.query('select id from customer where email = $1', [victim.email])
    expect(rows).toEqual([{ id: mine.body.result.id }])
  })

  test('an SMS that a stranger asked for proves the number for its owner', async () => {
    const victim = form()
    await auth('register', { ...form(), phone: victim.phone }, { ip: '203.0.113.66' })
    await codeFor(victim.phone)
    // The second SMS of this minute waits for its turn; the owner's own is not sent.
    await auth('register', { ...form(), phone: victim.phone }, { ip: '203.0.113.67' })
    const mine = await auth<{ id: string }>('register', victim, { ip: '203.0.113.77' })
    const waits = await codeFor(victim.phone)
    expect(
      (await auth('active', { email: victim.email, code: waits }, { ip: '203.0.113.77' })).status,
    ).toBe(200)
    const { rows } = await admin.query('select id, active from customer where phone = $1', [
      victim.phone,
    ])
    expect(rows).toEqual([{ id: mine.body.result.id, active: true }])
  })

  test('of two who prove one email at once, one has it, and no wallet is left behind', async () => {
    const [first, second] = [form(), form()]
    const both = [first, { ...second, email: first.email }]
    for (const person of both) expect((await auth('register', person)).status).toBe(201)
    const codes = await Promise.all(both.map(({ phone }) => codeFor(phone)))
    const answers = await Promise.all(
      codes.map((given) => auth('active', { email: first.email, code: given })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422])
    const { rows } = await admin.query('select id, active from customer where email = $1', [
      first.email,
    ])
    expect(rows).toMatchObject([{ active: true }])
  })
})

describe('activation', () => {
  test('wrong, then right; the code works once', async () => {
    const person = await registered()
    expect(code(await auth('active', { email: person.email, code: wrong(person.code) }))).toEqual([
      422,
      'otp_invalid',
    ])
    expect(code(await auth('active', { email: person.email, code: '12345' }))).toEqual([
      422,
      'invalid_input',
    ])
    expect(
      (await auth('active', { email: person.email.toUpperCase(), code: ` ${person.code} ` }))
        .status,
    ).toBe(200)
    expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([
      422,
      'otp_expired',
    ])
    expect(await signIn(person)).toMatch(/^[\w-]{40,}$/)
  })

  test('five wrong tries end the code, also when they come at once', async () => {
    const person = await registered()
    const tries = await Promise.all(
      Array.from({ length: 8 }, () =>
        auth('active', { email: person.email, code: wrong(person.code) }),
      ),
    )
    expect(tries.filter((answer) => answer.body.error?.code === 'otp_invalid')).toHaveLength(5)
    expect(tries.every((answer) => answer.status === 422)).toBe(true)
    expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([
      422,
      'otp_expired',
    ])
    expect((await auth('send', { email: person.email })).status).toBe(200)
    expect(
      (
        await auth('active', {
          email: person.email,
          code: await codeFor(person.phone, person.code),
        })
      ).status,
    ).toBe(200)
  })

  test('new codes buy no more guesses: ten in a quarter of an hour', async () => {
    const person = await registered()
    let live = person.code
    for (let round = 0; round < 2; round++) {
      await Promise.all(
        Array.from({ length: 5 }, () => auth('active', { email: person.email, code: wrong(live) })),
      )
      await passInCounters(seconds(60))
      expect((await auth('send', { email: person.email })).status).toBe(200)
      live = await codeFor(person.phone, live)
    }
    expect(code(await auth('active', { email: person.email, code: live }))).toEqual([
      429,
      'rate_limited',
    ])
    await passInCounters(minutes(15))
    expect((await auth('active', { email: person.email, code: live })).status).toBe(200)
  })

  test('fifty wrong codes end an address’s guessing over all accounts; others go on', async () => {
    const [ip, elsewhere] = ['198.51.100.7', '198.51.100.8']
    const people = await Promise.all(Array.from({ length: 11 }, registered))
    const [last, ...guessed] = people
    await Promise.all(
      guessed.flatMap((person) =>
        Array.from({ length: 5 }, () =>
          auth('active', { email: person.email, code: wrong(person.code) }, { ip }),
        ),
      ),
    )
    const right = { email: last?.email, code: last?.code }
    expect(code(await auth('active', right, { ip }))).toEqual([429, 'rate_limited'])
    expect(code(await auth('reset', { ...right, password: 'Another-horse-10' }, { ip }))).toEqual([
      429,
      'rate_limited',
    ])
    expect((await auth('active', right, { ip: elsewhere })).status).toBe(200)
    await passInCounters(minutes(15))
  })

  test('ten minutes end the code', async () => {
    const [early, late] = [await registered(), await registered()]
    clock.advance(minutes(10) - 1)
    expect((await auth('active', { email: early.email, code: early.code })).status).toBe(200)
    clock.advance(1)
    expect(code(await auth('active', { email: late.email, code: late.code }))).toEqual([
      422,
      'otp_expired',
    ])
  })

  test('sent again once a minute; the newer code is good', async () => {
    const person = await registered()
    clock.advance(seconds(1))
    expect((await auth('send', { email: person.email })).status).toBe(200)
    const again = await auth('send', { email: person.email })
    expect(code(again)).toEqual([429, 'rate_limited'])
    const wait = Number(again.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(50)
    expect(wait).toBeLessThanOrEqual(60)
    const second = await codeFor(person.phone, person.code)
    await passInCounters(seconds(60))
    expect((await auth('send', { email: person.email })).status).toBe(200)
    expect((await auth('active', { email: person.email, code: second })).status).toBe(200)
  })

  test('the code that was sent first stays good when another is asked for', async () => {
    const person = await registered()
    expect((await auth('send', { email: person.email })).status).toBe(200)
    expect((await auth('active', { email: person.email, code: person.code })).status).toBe(200)
  })

  test('sent ten times a day and no more: each costs an SMS', async () => {
    // The registration has sent the first SMS.
    const person = await registered()
    await passInCounters(seconds(60))
    for (let time = 1; time < 10; time++) {
      expect((await auth('send', { email: person.email })).status).toBe(200)
      await passInCounters(seconds(60))
    }
    const more = await auth('send', { email: person.email })
    expect(code(more)).toEqual([429, 'rate_limited'])
    expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(hours(20) / 1000)
  })

  test('an unknown email is answered alike, and so is one that needs no code', async () => {
    const known = await registered()
    const [unknown, mine] = [
      await auth('send', { email: 'nobody@example.vn' }),
      await auth('send', { email: known.email }),
    ]
    expect([unknown.status, unknown.text]).toEqual([mine.status, mine.text])
    expect(code(await auth('send', { email: 'nobody@example.vn' }))).toEqual([429, 'rate_limited'])
    const person = await active()
    const before = (await portal.inbox(person.phone)).length
    expect((await auth('send', { email: person.email })).status).toBe(200)
    await jobsIdle(portal.app.db)
    expect(await portal.inbox(person.phone)).toHaveLength(before)
  })
})
