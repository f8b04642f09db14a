/** Registration and activation, as a person and as an attacker would use them. */
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { code, form, newcomersTo } from '../../test/newcomers.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { createLedger } from '../wallet/index.ts'

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
const { auth, signIn, me, codeFor, registered, active, passInCounters } = newcomersTo(() => portal)

describe('registration', () => {
  test('201 with the id; the customer cannot sign in before the code', async () => {
    const person = await registered()
    expect(code(await auth('login', { email: person.email, password: person.password }))).toEqual([
      403,
      'account_inactive',
    ])
    expect(code(await auth('login', { email: person.email, password: 'wrong-password' }))).toEqual([
      401,
      'bad_credentials',
    ])
  })

  test('an email in capitals and a local phone are the same account', async () => {
    const person = await active()
    expect(code(await auth('register', { ...form(), email: person.email.toUpperCase() }))).toEqual([
      409,
      'email_taken',
    ])
    expect(
      code(await auth('register', { ...form(), phone: person.phone.replace('+84', '0') })),
    ).toEqual([409, 'phone_taken'])
    expect(
      code(await auth('register', { ...form(), phone: ` ${person.phone.slice(1)} ` })),
    ).toEqual([409, 'phone_taken'])
  })

  test.each<[string, string, unknown]>([
    ['a name of spaces', 'name', '   '],
    ['a name of 101', 'name', 'x'.repeat(101)],
    ['no email', 'email', 'an.example.vn'],
    ['an email with a space', 'email', 'a n@example.vn'],
    ['a long email', 'email', `${'a'.repeat(250)}@example.vn`],
    ['a landline', 'phone', '0212345678'],
    ['letters for a phone', 'phone', 'callme-now'],
    ['seven characters', 'password', 'Ab1!xyz'],
    ['129 characters', 'password', 'x'.repeat(129)],
    ['a common password', 'password', 'password123'],
    ['a common password in capitals', 'password', 'QWERTY123'],
    ['a region of nowhere', 'region_code', 'EUR'],
    [
      'an unknown place',
      'address.locationId',
      { line: '1 Tràng Tiền', locationId: 'vn-city-atlantis' },
    ],
    ['an address without a place', 'address.locationId', { line: '1 Tràng Tiền' }],
  ])('%s is refused', async (_what, field, value) => {
    const answer = await auth('register', { ...form(), [field.split('.')[0] ?? '']: value })
    expect(code(answer)).toEqual([422, 'invalid_input'])
    expect(Object.keys(answer.body.error?.fields ?? {})).toEqual([field])
  })

  test('8 and 128 characters are passwords; an address of the list is kept', async () => {
    const person = {
      ...form(),
      password: 'x'.repeat(100) + 'ữ'.repeat(28),
      address: { line: '1 Tràng Tiền', locationId: 'vn-city-ha-noi' },
    }
    const { body } = await auth<{ id: string }>('register', person)
    const { rows } = await admin.query(
      'select address_line, location_id, password_hash from customer where id = $1',
      [body.result.id],
    )
    expect(rows).toEqual([
      {
        address_line: '1 Tràng Tiền',
        location_id: 'vn-city-ha-noi',
        password_hash: expect.stringMatching(/^\$argon2id\$/) as string,
      },
    ])
    expect((await auth('register', { ...form(), password: 'abcd-ef8' })).status).toBe(201)
  })

  test('codes go to the region’s countries only; the sentence has its example', async () => {
    const fields = async (change: object) => {
      const answer = await auth('register', { ...form(), ...change })
      return [answer.status, answer.body.error?.fields?.['phone']]
    }
    expect(await fields({ phone: '+61412345999' })).toEqual([
      422,
      'We send no codes to numbers of this country. Use one of a country that your region serves.',
    ])
    // Satellite telephones, and islands under +1.
    expect((await fields({ phone: '+88123456789', region_code: 'USD' }))[0]).toBe(422)
    expect((await fields({ phone: '+18095550100', region_code: 'USD' }))[0]).toBe(422)
    expect(await fields({ phone: '02 9876 5432', region_code: 'AUD' })).toEqual([
      422,
      'Enter a mobile number, such as 0412 345 678.',
    ])
    const sam = { ...form(), phone: '0412 345 678', region_code: 'AUD' }
    const { status, body } = await auth<{ id: string }>('register', sam)
    expect(status).toBe(201)
    const { rows } = await admin.query('select phone from customer where id = $1', [body.result.id])
    expect(rows).toEqual([{ phone: '+61412345678' }])
  })

  test('a number gets one SMS a minute, whoever asks, and a day has so many', async () => {
    const person = await registered()
    const first = await portal.inbox(person.phone)
    expect(first).toHaveLength(1)
    // The limit is per number: another address and another registration do not evade it.
    expect((await auth('send', { email: person.email }, { ip: '203.0.113.1' })).status).toBe(200)
    expect((await auth('send', { email: person.email }, { ip: '203.0.113.2' })).status).toBe(200)
    expect((await auth('register', { ...form(), phone: person.phone })).status).toBe(201)
    const { rows: waiting } = await admin.query(
      `select start_after - now() > interval '50 seconds' as later from pgboss.job
       where name = 'send-code' and state = 'created' and start_after > now()`,
    )
    expect(waiting).toEqual([{ later: true }])
    await codeFor(person.phone, person.code)
    expect(await portal.inbox(person.phone)).toHaveLength(2)

    const frugal = await openTestPortal({ env: { SMS_A_DAY: '10' } })
    try {
      const register = (body: object) => frugal.call('POST', '/api/v1/auth/register', { body })
      const customer = await frugal.customer()
      for (let n = 0; n < 2; n++) expect((await register(form())).status).toBe(201)
      // New accounts together use at most a fifth of the day's SMS.
      const more = await register(form())
      expect(code(more)).toEqual([429, 'rate_limited'])
      expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(60)
      const { token, password } = customer
      const wish = { phone: '+84912345678', password }
      const change = () => frugal.call('POST', '/api/v1/account/phone', { token, body: wish })
      expect((await change()).status).toBe(200)
      await sql`update sms_day set sent = 10`.execute(frugal.app.db)
      const last = await register(form())
      expect(code(last)).toEqual([503, 'unavailable'])
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(60)
    } finally {
      await frugal.close()
    }
  })

  test('a number gets ten SMS a day, whoever asks', async () => {
    const { phone } = await registered()
    const again = async () => {
      await passInCounters(minutes(1))
      return code(await auth('register', { ...form(), phone }))
    }
    for (let n = 1; n < 10; n++) expect(await again()).toEqual([201, undefined])
    expect(await again()).toEqual([429, 'rate_limited'])
  })

  test.each([
    ['a line break', 'name', 'A\r\nBcc: x'],
    ['a tab', 'name', 'A\tB'],
    ['an override of direction', 'name', 'A\u202Egnp.exe'],
    ['an isolate', 'name', '\u2066A\u2069'],
    ['a line break in a street', 'address.line', { line: '1\n2', locationId: 'vn-city-ha-noi' }],
  ])('%s is in no name', async (_what, field, value) => {
    const answer = await auth('register', { ...form(), [field.split('.')[0] ?? '']: value })
    expect(code(answer)).toEqual([422, 'invalid_input'])
    expect(Object.keys(answer.body.error?.fields ?? {})).toEqual([field])
  })

  test.each([
    'Password1!',
    'passw0rd',
    'Sunshine1',
    '!!qwertyuiop!!',
    'matkhau123',
    'tranthibinh',
    'Trần Thị Bình',
    'tranthibinh2026',
    'OWN-EMAIL',
    'OWN-LOCAL99',
  ])('%s is no password', async (password) => {
    const person = form()
    const answer = await auth('register', {
      ...person,
      email: `long.${person.email}`,
      password: password
        .replace('OWN-EMAIL', `long.${person.email}`)
        .replace('OWN-LOCAL', `long.${person.email.split('@')[0]}`),
    })
    expect(code(answer)).toEqual([422, 'invalid_input'])
    expect(Object.keys(answer.body.error?.fields ?? {})).toEqual(['password'])
  })

  test('a mistyped phone is corrected with the password, and its code ends', async () => {
    const [person, other, customer] = [await registered(), await registered(), await active()]
    const { phone } = form()
    const correct = (body: object) =>
      auth('active/phone', { email: person.email, password: person.password, phone, ...body })
    expect(code(await correct({ password: 'not-the-right-one' }))).toEqual([401, 'bad_credentials'])
    expect(code(await correct({ email: 'nobody@example.vn' }))).toEqual([401, 'bad_credentials'])
    expect(code(await correct({ email: customer.email, password: customer.password }))).toEqual([
      409,
      'account_active',
    ])
    expect(code(await correct({ phone: '+1' }))).toEqual([422, 'invalid_input'])
    expect((await correct({ phone: phone.replace('+84', '0') })).status).toBe(200)
    expect(code(await correct({}))).toEqual([429, 'rate_limited'])
    const fresh = await codeFor(phone)
    if (fresh !== person.code)
      expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([
        422,
        'otp_invalid',
      ])
    expect((await auth('active', { email: person.email, code: fresh })).status).toBe(200)
    expect(
      (
        await portal.call<{ phone: string }>('GET', '/api/v1/auth/me', {
          token: await signIn(person),
        })
      ).body.result.phone,
    ).toBe(phone)
    expect(
      code(await auth('active/phone', { email: other.email, password: other.password, phone })),
    ).toEqual([409, 'phone_taken'])
    expect(code(await auth('active', { email: other.email, code: other.code }))).toEqual([
      200,
      undefined,
    ])
  })

  test('one with entries in its wallet stays, and others are still forgotten', async () => {
    const [credited, gone] = [await registered(), await registered()]
    await transaction(portal.app.db, (tx) =>
      createLedger(clock).adjust(tx, {
        key: `adjustment:${credited.id}`,
        customerId: credited.id,
        amount: 1000n,
        currency: 'VND',
        details: { reason: 'Before this was refused' },
      }),
    )
    // The owner of the address registers again, and activates.
    const again = { ...form(), email: credited.email, phone: credited.phone }
    expect((await auth('register', again)).status).toBe(201)
    const right = await codeFor(credited.phone, credited.code)
    expect((await auth('active', { email: credited.email, code: right })).status).toBe(200)
    clock.advance(hours(24) + 1)
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
    await eventually(
      'the tidying',
      async () =>
        (await admin.query('select from customer where id = $1', [gone.id])).rowCount === 0,
    )
    expect((await admin.query('select from customer where id = $1', [credited.id])).rowCount).toBe(
      1,
    )
  })

  test('who never activates is forgotten a day after the last code; email is free', async () => {
    const [customer, slow, gone] = [await active(), await registered(), await registered()]
    clock.advance(hours(23))
    expect((await auth('send', { email: slow.email })).status).toBe(200)
    const fresh = await codeFor(slow.phone, slow.code)
    clock.advance(hours(1) + 1)
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))
    await eventually(
      'the tidying',
      async () =>
        (await admin.query('select from customer where id = $1', [gone.id])).rowCount === 0,
    )
    expect(
      (await auth('register', { ...form(), email: gone.email, phone: gone.phone })).status,
    ).toBe(201)
    expect((await admin.query('select from customer where id = $1', [slow.id])).rowCount).toBe(1)
    expect(code(await auth('active', { email: slow.email, code: fresh }))).toEqual([
      422,
      'otp_expired',
    ])
    expect((await me(await signIn(customer))).status).toBe(200)
    const wallet = (id: string) =>
      admin.query('select from ledger_account where customer_id = $1', [id])
    expect([(await wallet(gone.id)).rowCount, (await wallet(slow.id)).rowCount]).toEqual([0, 1])
  })

  test('the wallet is in the currency of the region, and the screen in its language', async () => {
    for (const [region_code, currency, language] of [
      ['VN', 'VND', 'vi'],
      ['USD', 'USD', 'en'],
      ['EURO', 'EUR', 'en'],
      ['AUD', 'AUD', 'aud'],
    ]) {
      const person = { ...form(), region_code: region_code ?? '' }
      const { id } = (await auth<{ id: string }>('register', person)).body.result
      await auth('active', { email: person.email, code: await codeFor(person.phone) })
      const { body } = await me(await signIn(person))
      expect(body.result).toEqual({
        id,
        email: person.email,
        name: person.name,
        phone: person.phone,
        region_code,
        balance: 0,
        currency,
        language,
        timeZone: null,
        accounts: 0,
      })
    }
  })
})

test('from one address so many register in an hour as the operator says', async () => {
  const strict = await openTestPortal({ env: { REGISTRATIONS_PER_HOUR: '3', TRUST_PROXY: 'on' } })
  const register = (ip: string) =>
    strict.call('POST', '/api/v1/auth/register', {
      body: form(),
      headers: { 'x-forwarded-for': ip },
    })
  const answers = await Promise.all(Array.from({ length: 8 }, () => register('203.0.113.9')))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(
    new Set(
      answers.filter(({ status }) => status !== 201).map((answer) => answer.body.error?.code),
    ),
  ).toEqual(new Set(['rate_limited']))
  expect((await register('203.0.113.10')).status).toBe(201)
  await strict.close()
})
