/** Registration and activation, as a person and as an attacker would use them. */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalisePhone } from '../../contract/registration.ts'
import { eventually, manualClock, openTestHouse, type TestHouse } from '../../test/house.ts'
import { code, form, newcomersTo, wrong } from '../../test/newcomers.ts'
import { hours, minutes, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let portal: TestHouse
let admin: pg.Client
beforeAll(async () => {
  // One proxy in front, so that a test may come from an address of its own.
  portal = await openTestHouse({ clock, env: { TRUST_PROXY: 'on' } })
  admin = new pg.Client({ connectionString: portal.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await portal.close()
})
const { auth, signIn, me, codeFor, passInCounters, registered, active } = newcomersTo(() => portal)

describe('phone numbers', () => {
  test.each([
    ['0912345678', '+84912345678'],
    ['091 234 56 78', '+84912345678'],
    ['(091) 234-5678', '+84912345678'],
    ['84912345678', '+84912345678'],
    ['+84 91.234.5678', '+84912345678'],
    ['+61 412 345 678', '+61412345678'],
    ['+1 (415) 555-0100', '+14155550100'],
    ['0212345678', undefined],
    ['+84212345678', undefined],
    ['+840912345678', undefined],
    ['091234567', undefined],
    ['09123456789', undefined],
    ['+0123456789', undefined],
    ['12345678', undefined],
    ['', undefined],
    ['+', undefined],
    ['+849123456781', undefined],
  ])('%s is %s', (text, normal) => expect(normalisePhone(text)).toBe(normal))

  const vietnamese = fc.tuple(fc.constantFrom('3', '5', '7', '8', '9'), fc.stringMatching(/^\d{8}$/)).map((parts) => parts.join(''))
  const spaced = (digits: string) =>
    fc
      .array(fc.constantFrom('', ' ', '.', '-', '(', ')'), { minLength: digits.length, maxLength: digits.length })
      .map((gaps) => [...digits].map((digit, at) => digit + (gaps[at] ?? '')).join(''))

  test('all ways to write one Vietnamese number are one', () => {
    fc.assert(
      fc.property(
        vietnamese.chain((digits) => fc.tuple(fc.constant(digits), spaced(digits), fc.constantFrom('0', '84', '+84'))),
        ([digits, written, prefix]) => {
          expect(normalisePhone(prefix + written)).toBe(`+84${digits}`)
        },
      ),
    )
  })
  test('what comes out is E.164, and comes out again', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+?[\d .()-]{6,20}$/)), (text) => {
        const normal = normalisePhone(text)
        if (normal === undefined) return
        expect(normal).toMatch(/^\+[1-9]\d{7,14}$/)
        expect(normalisePhone(normal)).toBe(normal)
      }),
    )
  })
})

describe('registration', () => {
  test('201 with the id; the customer cannot sign in before the code', async () => {
    const person = await registered()
    expect(code(await auth('login', { email: person.email, password: person.password }))).toEqual([403, 'account_inactive'])
    expect(code(await auth('login', { email: person.email, password: 'wrong-password' }))).toEqual([401, 'bad_credentials'])
  })

  test('an email in capitals and a local phone are the same account', async () => {
    const person = await registered()
    expect(code(await auth('register', { ...form(), email: person.email.toUpperCase() }))).toEqual([409, 'email_taken'])
    expect(code(await auth('register', { ...form(), phone: person.phone.replace('+84', '0') }))).toEqual([409, 'phone_taken'])
    expect(code(await auth('register', { ...form(), phone: ` ${person.phone.slice(1)} ` }))).toEqual([409, 'phone_taken'])
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
    ['an unknown place', 'address.locationId', { line: '1 Tràng Tiền', locationId: 'vn-city-atlantis' }],
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
    const { rows } = await admin.query('select address_line, location_id, password_hash from customer where id = $1', [body.result.id])
    expect(rows).toEqual([
      { address_line: '1 Tràng Tiền', location_id: 'vn-city-ha-noi', password_hash: expect.stringMatching(/^\$argon2id\$/) as string },
    ])
    expect((await auth('register', { ...form(), password: 'abcd-ef8' })).status).toBe(201)
  })

  test('two at once with one email: one account', async () => {
    const [first, second] = [form(), form()]
    const answers = await Promise.all([auth('register', first), auth('register', { ...second, email: first.email })])
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 409])
    expect(answers.find((answer) => answer.status === 409)?.body.error?.code).toBe('email_taken')
  })

  test('a mistyped phone is mended with the password, and the code that went astray ends', async () => {
    const [person, other, customer] = [await registered(), await registered(), await active()]
    const { phone } = form()
    const correct = (body: object) => auth('active/phone', { email: person.email, password: person.password, phone, ...body })
    expect(code(await correct({ password: 'not-the-right-one' }))).toEqual([401, 'bad_credentials'])
    expect(code(await correct({ email: 'nobody@example.vn' }))).toEqual([401, 'bad_credentials'])
    expect(code(await correct({ email: customer.email, password: customer.password }))).toEqual([409, 'account_active'])
    expect(code(await correct({ phone: '+1' }))).toEqual([422, 'invalid_input'])
    expect((await correct({ phone: phone.replace('+84', '0') })).status).toBe(200)
    expect(code(await correct({}))).toEqual([429, 'rate_limited'])
    const fresh = await codeFor(phone)
    if (fresh !== person.code) expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([422, 'otp_invalid'])
    expect((await auth('active', { email: person.email, code: fresh })).status).toBe(200)
    expect((await portal.call<{ phone: string }>('GET', '/api/v1/auth/me', { token: await signIn(person) })).body.result.phone).toBe(phone)
    expect(code(await auth('active/phone', { email: other.email, password: other.password, phone }))).toEqual([409, 'phone_taken'])
    expect(code(await auth('active', { email: other.email, code: other.code }))).toEqual([200, undefined])
  })

  test('who never activates is forgotten after a day without asking for a code: email and phone are free again', async () => {
    const [customer, slow, gone] = [await active(), await registered(), await registered()]
    clock.advance(hours(23))
    expect((await auth('send', { email: slow.email })).status).toBe(200)
    const fresh = await codeFor(slow.phone, slow.code)
    clock.advance(hours(1) + 1)
    await transaction(portal.house.db, (tx) => portal.house.jobs.add(tx, 'tidy', {}))
    await eventually('the tidying', async () => (await admin.query('select from customer where id = $1', [gone.id])).rowCount === 0)
    expect((await auth('register', { ...form(), email: gone.email, phone: gone.phone })).status).toBe(201)
    expect(code(await auth('register', { ...form(), email: slow.email }))).toEqual([409, 'email_taken'])
    expect(code(await auth('active', { email: slow.email, code: fresh }))).toEqual([422, 'otp_expired'])
    expect((await me(await signIn(customer))).status).toBe(200)
    const wallet = (id: string) => admin.query('select from ledger_account where customer_id = $1', [id])
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
      })
    }
  })
})

test('from one address so many register in an hour as the operator says', async () => {
  const strict = await openTestHouse({ env: { REGISTRATIONS_AN_HOUR: '3', TRUST_PROXY: 'on' } })
  const register = (ip: string) => strict.call('POST', '/api/v1/auth/register', { body: form(), headers: { 'x-forwarded-for': ip } })
  const answers = await Promise.all(Array.from({ length: 8 }, () => register('203.0.113.9')))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  expect(new Set(answers.filter(({ status }) => status !== 201).map((answer) => answer.body.error?.code))).toEqual(
    new Set(['rate_limited']),
  )
  expect((await register('203.0.113.10')).status).toBe(201)
  await strict.close()
})

describe('activation', () => {
  test('wrong, then right; the code works once', async () => {
    const person = await registered()
    expect(code(await auth('active', { email: person.email, code: wrong(person.code) }))).toEqual([422, 'otp_invalid'])
    expect(code(await auth('active', { email: person.email, code: '12345' }))).toEqual([422, 'invalid_input'])
    expect((await auth('active', { email: person.email.toUpperCase(), code: ` ${person.code} ` })).status).toBe(200)
    expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([422, 'otp_expired'])
    expect(await signIn(person)).toMatch(/^[\w-]{40,}$/)
  })

  test('five wrong tries end the code, also when they come at once', async () => {
    const person = await registered()
    const tries = await Promise.all(Array.from({ length: 8 }, () => auth('active', { email: person.email, code: wrong(person.code) })))
    expect(tries.filter((answer) => answer.body.error?.code === 'otp_invalid')).toHaveLength(5)
    expect(tries.every((answer) => answer.status === 422)).toBe(true)
    expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([422, 'otp_expired'])
    expect((await auth('send', { email: person.email })).status).toBe(200)
    expect((await auth('active', { email: person.email, code: await codeFor(person.phone, person.code) })).status).toBe(200)
  })

  test('new codes buy no more guesses: ten in a quarter of an hour', async () => {
    const person = await registered()
    let live = person.code
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: 5 }, () => auth('active', { email: person.email, code: wrong(live) })))
      await passInCounters(seconds(60))
      expect((await auth('send', { email: person.email })).status).toBe(200)
      live = await codeFor(person.phone, live)
    }
    expect(code(await auth('active', { email: person.email, code: live }))).toEqual([429, 'rate_limited'])
    await passInCounters(minutes(15))
    expect((await auth('active', { email: person.email, code: live })).status).toBe(200)
  })

  test('fifty wrong codes from one address end its guessing, over however many accounts; others go on', async () => {
    const [ip, elsewhere] = ['198.51.100.7', '198.51.100.8']
    const people = await Promise.all(Array.from({ length: 11 }, registered))
    const [last, ...guessed] = people
    await Promise.all(
      guessed.flatMap((person) =>
        Array.from({ length: 5 }, () => auth('active', { email: person.email, code: wrong(person.code) }, { ip })),
      ),
    )
    const right = { email: last?.email, code: last?.code }
    expect(code(await auth('active', right, { ip }))).toEqual([429, 'rate_limited'])
    expect(code(await auth('reset', { ...right, password: 'Another-horse-10' }, { ip }))).toEqual([429, 'rate_limited'])
    expect((await auth('active', right, { ip: elsewhere })).status).toBe(200)
    await passInCounters(minutes(15))
  })

  test('ten minutes end the code', async () => {
    const [early, late] = [await registered(), await registered()]
    clock.advance(minutes(10) - 1)
    expect((await auth('active', { email: early.email, code: early.code })).status).toBe(200)
    clock.advance(1)
    expect(code(await auth('active', { email: late.email, code: late.code }))).toEqual([422, 'otp_expired'])
  })

  test('sent again once a minute; the older code ends', async () => {
    const person = await registered()
    expect((await auth('send', { email: person.email })).status).toBe(200)
    const again = await auth('send', { email: person.email })
    expect(code(again)).toEqual([429, 'rate_limited'])
    const wait = Number(again.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(50)
    expect(wait).toBeLessThanOrEqual(60)
    const second = await codeFor(person.phone, person.code)
    expect(code(await auth('active', { email: person.email, code: person.code }))).toEqual([422, 'otp_invalid'])
    await passInCounters(seconds(60))
    expect((await auth('send', { email: person.email })).status).toBe(200)
    const third = await codeFor(person.phone, second)
    expect((await auth('active', { email: person.email, code: third })).status).toBe(200)
  })

  test('sent again ten times a day and no more: each costs an SMS', async () => {
    const person = await registered()
    for (let time = 0; time < 10; time++) {
      expect((await auth('send', { email: person.email })).status).toBe(200)
      await passInCounters(seconds(60))
    }
    const more = await auth('send', { email: person.email })
    expect(code(more)).toEqual([429, 'rate_limited'])
    expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(hours(20) / 1000)
  })

  test('an unknown email is answered alike, and so is one that needs no code', async () => {
    const known = await registered()
    const [unknown, mine] = [await auth('send', { email: 'nobody@example.vn' }), await auth('send', { email: known.email })]
    expect([unknown.status, unknown.text]).toEqual([mine.status, mine.text])
    expect(code(await auth('send', { email: 'nobody@example.vn' }))).toEqual([429, 'rate_limited'])
    const person = await active()
    const before = (await portal.inbox(person.phone)).length
    expect((await auth('send', { email: person.email })).status).toBe(200)
    await portal.house.jobs.idle()
    expect(await portal.inbox(person.phone)).toHaveLength(before)
  })
})
