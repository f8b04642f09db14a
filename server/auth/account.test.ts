/** The account as its customer changes it, and as a thief with a session would. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account } from '../../contract/account.ts'
import { accountAt } from '../../test/account-page.ts'
import { code, wrong } from '../../test/newcomers.ts'
import {
  eightAtATime,
  eventually,
  manualClock,
  openTestPortal,
  type TestPortal,
} from '../../test/portal.ts'
import { minutes, seconds } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let admin: pg.Client
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
  admin = new pg.Client({ connectionString: portal.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await portal.close()
})
const { on, signIn, alive } = accountAt(() => portal)

const newest = (to: string) =>
  eventually(`a message to ${to}`, async () => (await portal.inbox(to))[0]?.text)
const codeFor = (to: string): Promise<string> =>
  eventually(
    `a code for ${to}`,
    async () => /\b\d{6}\b/.exec((await portal.inbox(to))[0]?.text ?? '')?.[0],
  )
/** Simulates the passing of time for the counters, which use the wall clock. */
const advanceCounters = (ms: number) =>
  admin.query('update rate_limit set expire = expire - $1', [ms])

describe('profile', () => {
  test('name, language and time zone are the customer’s; letters follow the language', async () => {
    const an = await portal.customer()
    const before = (await on<Account>(an, 'GET', '')).body.result
    expect(before).toMatchObject({
      name: 'Nguyễn Văn An',
      email: an.email,
      phone: an.phone,
      region_code: 'VN',
      language: 'vi',
      timeZone: null,
    })
    expect(before.createdAt).toMatch(/Z$/)
    const changed = await on<Account>(an, 'PUT', '', {
      name: '  Lê An ',
      language: 'en',
      timeZone: 'Asia/Ho_Chi_Minh',
    })
    expect(changed.body.result).toEqual({
      ...before,
      name: 'Lê An',
      language: 'en',
      timeZone: 'Asia/Ho_Chi_Minh',
    })
    const me = await portal.call('GET', '/api/v1/auth/me', { token: an.token })
    expect(me.body.result).toMatchObject({
      name: 'Lê An',
      language: 'en',
      timeZone: 'Asia/Ho_Chi_Minh',
    })
    await portal.call('POST', '/api/v1/auth/recover', { body: { email: an.email } })
    expect(await newest(an.email)).toContain('Your password recovery code')
    expect((await on<Account>(an, 'PUT', '', { timeZone: null })).body.result.timeZone).toBeNull()
  })

  test('company, tax code and address are given, changed one by one, and taken back', async () => {
    const an = await portal.customer()
    const before = (await on<Account>(an, 'GET', '')).body.result
    expect(before).toMatchObject({ address: null, company: null, taxCode: null })
    const changes = {
      company: ' Công ty Ánh Dương ',
      taxCode: '0312345678-001',
      address: { line: '1 Tràng Tiền', locationId: 'vn-city-ha-noi' },
    }
    const hanoi = { id: 'vn-city-ha-noi', name: 'Hà Nội', type: 'city', country: 'VN' }
    const after = {
      ...before,
      company: 'Công ty Ánh Dương',
      taxCode: changes.taxCode,
      address: { line: '1 Tràng Tiền', location: hanoi },
    }
    expect((await on<Account>(an, 'PUT', '', changes)).body.result).toEqual(after)
    expect((await on<Account>(an, 'PUT', '', { company: null })).body.result).toEqual({
      ...after,
      company: null,
    })
    expect(
      (await on<Account>(an, 'PUT', '', { taxCode: null, address: null })).body.result,
    ).toEqual(before)
  })

  test('of an address in a place that a later list has no more, the street is kept', async () => {
    const an = await portal.customer()
    await admin.query(
      "update customer set address_line = '1 Tràng Tiền', location_id = 'gone' where id = $1",
      [an.id],
    )
    expect((await on<Account>(an, 'GET', '')).body.result.address).toEqual({
      line: '1 Tràng Tiền',
      location: null,
    })
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ language: 'fr' }, 'language'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ timeZone: '+07:00' }, 'timeZone'],
    [{ email: 'other@example.vn' }, 'email'],
    [{ company: '  ' }, 'company'],
    [{ company: 'x'.repeat(151) }, 'company'],
    [{ taxCode: '<b>1</b>' }, 'taxCode'],
    [{ taxCode: '1'.repeat(31) }, 'taxCode'],
    [{ address: { line: 'x'.repeat(201), locationId: 'vn-city-ha-noi' } }, 'address.line'],
    [{ address: { line: '1 Tràng Tiền', locationId: 'vn-city-atlantis' } }, 'address.locationId'],
    [{ address: { line: '1 Tràng Tiền' } }, 'address.locationId'],
  ])('%j changes nothing', async (body, field) => {
    const an = await portal.customer()
    const before = (await on<Account>(an, 'GET', '')).body.result
    const refused = await on(an, 'PUT', '', body)
    expect(code(refused)).toEqual([422, 'invalid_input'])
    expect(Object.keys(refused.body.error?.fields ?? {})).toEqual([field])
    expect((await on<Account>(an, 'GET', '')).body.result).toEqual(before)
  })
})

describe('password', () => {
  test('a new one ends every other session and is told by mail', async () => {
    const an = await portal.customer()
    const other = await signIn(an)
    expect(
      (await on(an, 'PUT', '/password', { current: an.password, password: 'Another-horse-10' }))
        .status,
    ).toBe(200)
    expect([await alive(an.token), await alive(other)]).toEqual([true, false])
    expect(await newest(an.email)).toContain('Mật khẩu tài khoản của bạn vừa được thay đổi')
    expect(await newest(an.email)).toContain(`${portal.url}/support`)
    expect(await signIn({ ...an, password: 'Another-horse-10' })).toBeTruthy()
  })

  test('wrong, common and short ones are refused in words', async () => {
    const an = await portal.customer()
    const refused = async (body: object) =>
      (await on(an, 'PUT', '/password', body, { 'accept-language': 'en' })).body.error?.fields
    expect(await refused({ current: 'not this one', password: 'Another-horse-10' })).toEqual({
      current: 'This is not your current password.',
    })
    expect(await refused({ current: an.password, password: 'password1' })).toHaveProperty(
      'password',
    )
    expect(await refused({ current: an.password, password: 'short' })).toHaveProperty('password')
    expect(await signIn(an)).toBeTruthy()
  })

  test('a stolen session buys six guesses and then waits, however many at once', async () => {
    const an = await portal.customer()
    const guesses = await eightAtATime(15, () =>
      on(an, 'PUT', '/password', { current: 'a guess', password: 'Another-horse-10' }),
    )
    expect(guesses.filter(({ status }) => status === 422)).toHaveLength(6)
    expect(
      code(
        await on(an, 'PUT', '/password', { current: an.password, password: 'Another-horse-10' }),
      ),
    ).toEqual([429, 'rate_limited'])
    await advanceCounters(minutes(15))
  })
})

describe('email and phone', () => {
  test('an address changes once its code is entered, and the old one is told', async () => {
    const an = await portal.customer()
    const email = `new-${an.email}`
    expect(
      (await on(an, 'POST', '/email', { email: email.toUpperCase(), password: an.password }))
        .status,
    ).toBe(200)
    expect((await on<Account>(an, 'GET', '')).body.result.email).toBe(an.email)
    const right = await codeFor(email)
    expect(code(await on(an, 'POST', '/email/confirm', { code: wrong(right) }))).toEqual([
      422,
      'otp_invalid',
    ])
    expect(
      (await on<Account>(an, 'POST', '/email/confirm', { code: right })).body.result.email,
    ).toBe(email)
    expect(await newest(an.email)).toContain(email)
    expect(await newest(an.email)).toContain(`${portal.url}/support`)
    expect(code(await on(an, 'POST', '/email/confirm', { code: right }))).toEqual([
      422,
      'otp_expired',
    ])
    expect(await signIn({ email, password: an.password })).toBeTruthy()
  })

  test('the address of the registration is confirmed likewise, and nobody is told', async () => {
    const an = await portal.customer({ isEmailProven: false })
    expect((await on<Account>(an, 'GET', '')).body.result.emailProven).toBe(false)
    const begin = () => on(an, 'POST', '/email', { email: an.email, password: an.password })
    expect((await begin()).status).toBe(200)
    const right = await codeFor(an.email)
    expect(
      (await on<Account>(an, 'POST', '/email/confirm', { code: right })).body.result,
    ).toMatchObject({ email: an.email, emailProven: true })
    expect(await portal.inbox(an.email)).toHaveLength(1)
    expect((await begin()).body.error?.fields).toHaveProperty('email')
  })

  test('a phone number likewise, by SMS', async () => {
    const an = await portal.customer()
    const phone = an.phone.replace('+8491', '+8493')
    expect(
      (await on(an, 'POST', '/phone', { phone: phone.replace('+84', '0'), password: an.password }))
        .status,
    ).toBe(200)
    expect(
      (await on<Account>(an, 'POST', '/phone/confirm', { code: await codeFor(phone) })).body.result
        .phone,
    ).toBe(phone)
    expect(await newest(an.email)).toContain(phone)
    expect(await newest(an.email)).toContain(`${portal.url}/support`)
  })

  test('the password, another’s address, one’s own and haste are refused', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const begin = (body: object) => on(an, 'POST', '/email', body)
    expect(
      (await begin({ email: 'x@example.vn', password: 'wrong' })).body.error?.fields,
    ).toHaveProperty('password')
    expect(
      (await begin({ email: an.email, password: an.password })).body.error?.fields,
    ).toHaveProperty('email')
    expect(code(await begin({ email: binh.email, password: an.password }))).toEqual([
      409,
      'email_taken',
    ])
    expect(
      code(await on(an, 'POST', '/phone', { phone: binh.phone, password: an.password })),
    ).toEqual([409, 'phone_taken'])
    expect(
      (await on(an, 'POST', '/phone', { phone: '0212345678', password: an.password })).body.error
        ?.fields,
    ).toHaveProperty('phone')
    expect((await begin({ email: `a-${an.email}`, password: an.password })).status).toBe(200)
    expect(code(await begin({ email: `b-${an.email}`, password: an.password }))).toEqual([
      429,
      'rate_limited',
    ])
    await advanceCounters(seconds(60))
    expect((await begin({ email: `b-${an.email}`, password: an.password })).status).toBe(200)
  })

  test('whose address is taken may be asked twenty times a day', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const ask = () => on(an, 'POST', '/email', { email: binh.email, password: an.password })
    for (let times = 0; times < 20; times++) expect(code(await ask())).toEqual([409, 'email_taken'])
    expect(code(await ask())).toEqual([429, 'rate_limited'])
  })

  test('of two who prove one address, the second is told that it is taken', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const email = `both-${an.email}`
    await on(an, 'POST', '/email', { email, password: an.password })
    const first = await codeFor(email)
    await on(binh, 'POST', '/email', { email, password: binh.password })
    const second = await eventually('the second code', async () => {
      const found = /\b\d{6}\b/.exec((await portal.inbox(email))[0]?.text ?? '')?.[0]
      return found !== first && found
    })
    const answers = await Promise.all([
      on(an, 'POST', '/email/confirm', { code: first }),
      on(binh, 'POST', '/email/confirm', { code: second }),
    ])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  })

  test('codes end after ten minutes and after five tries', async () => {
    const an = await portal.customer()
    await on(an, 'POST', '/email', { email: `late-${an.email}`, password: an.password })
    const late = await codeFor(`late-${an.email}`)
    clock.advance(minutes(10))
    expect(code(await on(an, 'POST', '/email/confirm', { code: late }))).toEqual([
      422,
      'otp_expired',
    ])
    await on(an, 'POST', '/phone', {
      phone: an.phone.replace('+8491', '+8494'),
      password: an.password,
    })
    const right = await codeFor(an.phone.replace('+8491', '+8494'))
    for (let n = 0; n < 5; n += 1)
      expect(code(await on(an, 'POST', '/phone/confirm', { code: wrong(right) }))[1]).toBe(
        'otp_invalid',
      )
    expect(code(await on(an, 'POST', '/phone/confirm', { code: right }))).toEqual([
      422,
      'otp_expired',
    ])
  })
})
