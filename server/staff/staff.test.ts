/** The operator's staff: invitations, sign-in, sessions, and rights. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as contract from '../../contract/index.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { staff as staffList } from '../../contract/operator.ts'
import { rolesThatMay, staffRoles } from '../../contract/staff-roles.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import {
  headersOf,
  invitationsOf,
  newMember,
  staffPassword,
  type TestMember,
} from '../../test/staff.ts'
import { stepOf, totpAt } from '../auth/totp.ts'
import { days, hours, minutes, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let portal: TestPortal
let customer: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
  customer = await portal.customer()
})
afterAll(() => portal.close())

const signIn = (body: object, headers: Record<string, string> = {}) =>
  portal.call<{ csrfToken: string; role: string }>('POST', '/api/operator/sign-in', {
    body,
    headers,
  })
const invite = async (email: string) => {
  const { link } = await transaction(portal.app.db, (tx) =>
    invitationsOf(portal, clock).invite(tx, { name: 'New', email, role: 'support' }),
  )
  return new URL(link).hash.slice(1)
}
/** Members of these tests have used up most tries of our own network. */
const elsewhere = { 'x-forwarded-for': '198.51.100.7' }
const open = (token: string) =>
  portal.call<{ secret: string; uri: string; email: string }>('POST', '/api/operator/invitation', {
    body: { token },
    headers: elsewhere,
  })
const accept = (token: string, code: string, password = staffPassword) =>
  portal.call<{ csrfToken: string }>('POST', '/api/operator/invitation/accept', {
    body: { token, password, code },
    headers: elsewhere,
  })

describe('an invitation', () => {
  test('is for one use, and asks for a right code and an uncommon password', async () => {
    const token = await invite('once@operator.example')
    const { body } = await open(token)
    expect(body.result.uri).toContain('otpauth://totp/')
    // Opened again it has the same secret: the QR code was scanned already.
    expect((await open(token)).body.result.secret).toBe(body.result.secret)
    const code = totpAt(body.result.secret, stepOf(clock.now()))
    const wrong = code === '000000' ? '000001' : '000000'
    expect((await accept(token, wrong)).body.error?.code).toBe('otp_invalid')
    expect((await accept(token, code, 'password123')).status).toBe(422)
    const accepted = await accept(token, code)
    expect(accepted.status).toBe(201)
    expect((await accept(token, code)).body.error?.code).toBe('link_expired')
    expect((await open(token)).body.error?.code).toBe('link_expired')
    // The code that was typed there is used up.
    const again = await signIn({ email: 'once@operator.example', password: staffPassword, code })
    expect(again.body.error?.code).toBe('bad_credentials')
    // No cookie of the staff is kept, neither under a key.
    clock.advance(60_000)
    const fresh = totpAt(body.result.secret, stepOf(clock.now()))
    const sent = { email: 'once@operator.example', password: staffPassword, code: fresh }
    const key = { 'idempotency-key': 'sign-in to the desk' }
    expect((await signIn(sent, key)).status).toBe(200)
    const repeat = await signIn(sent, key)
    expect([repeat.status, repeat.headers.getSetCookie()]).toEqual([401, []])
  })

  test('ends after 72 hours, and when a newer one is sent', async () => {
    const old = await invite('late@operator.example')
    const newer = await invite('late@operator.example')
    expect((await open(old)).body.error?.code).toBe('link_expired')
    expect((await open(newer)).status).toBe(200)
    clock.advance(hours(72) + seconds(1))
    expect((await open(newer)).body.error?.code).toBe('link_expired')
  })
})

describe('signing in', () => {
  test('takes e-mail in any case, password and code in one call; a code counts once', async () => {
    const member = await newMember(portal, 'support', { clock })
    clock.advance(minutes(1))
    const { email, password } = member
    const code = member.code()
    const first = await signIn({ email: email.toUpperCase(), password, code })
    expect(first.status).toBe(200)
    const cookie = first.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^portal_operator_\d+=/)
    expect(cookie).toContain('Path=/api/operator')
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Strict')
    const replayed = await signIn({ email, password, code })
    expect(replayed.body.error?.code).toBe('bad_credentials')
  })

  test('bears a clock that is off by half a minute, and none that is off by more', async () => {
    const member = await newMember(portal, 'support', { clock })
    const { email, password } = member
    clock.advance(minutes(5))
    expect((await signIn({ email, password, code: member.code(-2) })).status).toBe(401)
    expect((await signIn({ email, password, code: member.code(2) })).status).toBe(401)
    expect((await signIn({ email, password, code: member.code(-1) })).status).toBe(200)
    expect((await signIn({ email, password, code: member.code(1) })).status).toBe(200)
  })

  test('answers the same for an unknown e-mail, a wrong password and a wrong code', async () => {
    const member = await newMember(portal, 'support', { clock })
    clock.advance(minutes(1))
    const { email, password } = member
    const answers = await Promise.all([
      signIn({ email: 'nobody@operator.example', password, code: '123456' }),
      signIn({ email, password: 'Wrong-horse-9', code: member.code() }),
      signIn({ email, password, code: member.code(-5) }),
    ])
    const said = answers.map(({ status, body }) => [status, body.message, body.error?.code])
    expect(new Set(said.map(String)).size).toBe(1)
    expect(said[0]?.[2]).toBe('bad_credentials')
  })

  test('wrong codes bring delays; strangers do not delay the member', async () => {
    const member = await newMember(portal, 'support', { clock })
    clock.advance(minutes(1))
    const { email, password } = member
    const stranger = { 'x-forwarded-for': '198.51.100.7' }
    for (let tries = 0; tries < 6; tries++)
      await signIn({ email, password, code: member.code(-9) }, stranger)
    const delayed = await signIn({ email, password, code: member.code() }, stranger)
    expect(delayed.status).toBe(429)
    // The member comes from where they were signed in before.
    expect((await signIn({ email, password, code: member.code() })).status).toBe(200)
  })

  test('a right code that waits behind the last wrong one opens nothing', async () => {
    const member = await newMember(portal, 'support', { clock })
    clock.advance(minutes(1))
    const { email, password } = member
    const tried = (off: number) =>
      signIn({ email, password, code: member.code(off) }, { 'x-forwarded-for': '198.51.100.71' })
    for (let tries = 0; tries < 5; tries++) expect((await tried(-9)).status).toBe(401)
    const holder = new pg.Client({ connectionString: portal.databaseUrl })
    await holder.connect()
    const waits = (count: number) =>
      eventually('so many wait for the row', async () => {
        const { rows } = await holder.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows[0]?.n === count
      })
    try {
      await holder.query('begin')
      await holder.query('select id from staff where email = $1 for update', [email])
      const wrong = tried(-9)
      await waits(1)
      const right = tried(0)
      await waits(2)
      await holder.query('commit')
      expect((await wrong).status).toBe(401)
      expect((await right).body.error?.code).toBe('rate_limited')
    } finally {
      await holder.end()
    }
  })

  test('is refused from other networks than the member’s own, and so are calls', async () => {
    const member = await newMember(portal, 'finance', {
      clock,
      networks: ['127.0.0.0/8', '203.0.113.0/24', '2001:db8::/32'],
    })
    clock.advance(minutes(1))
    const { email, password } = member
    const from = (ip: string) => ({ 'x-forwarded-for': ip })
    const elsewhere = await signIn({ email, password, code: member.code() }, from('198.51.100.9'))
    expect(elsewhere.body.error?.code).toBe('forbidden')
    const inside = await signIn({ email, password, code: member.code(1) }, from('203.0.113.9'))
    expect(inside.status).toBe(200)
    const headers = headersOf(inside)
    const session = (ip: string) =>
      portal.call('GET', '/api/operator/session', { headers: { ...headers, ...from(ip) } })
    expect((await session('203.0.113.77')).status).toBe(200)
    expect((await session('2001:db8::9')).status).toBe(200)
    expect((await session('198.51.100.9')).status).toBe(401)
  })
})

describe('a session', () => {
  test('ends after eight hours, used or not, and at sign-out', async () => {
    const member = await newMember(portal, 'read_only', { clock })
    clock.advance(hours(8) - seconds(5))
    expect((await member.call('GET', '/api/operator/session')).status).toBe(200)
    clock.advance(seconds(6))
    expect((await member.call('GET', '/api/operator/session')).status).toBe(401)
    const again = await signIn({
      email: member.email,
      password: member.password,
      code: member.code(),
    })
    const headers = headersOf(again)
    const out = await portal.call('POST', '/api/operator/sign-out', { headers })
    expect(out.status).toBe(200)
    expect((await portal.call('GET', '/api/operator/session', { headers })).status).toBe(401)
  })

  test('a write needs the CSRF token, and no page of another site may ask', async () => {
    const member = await newMember(portal, 'support', { clock })
    const { cookie = '' } = member.headers
    const note = { customer: customer.id, text: 'A note' }
    const act = (headers: Record<string, string>) =>
      portal.call('POST', '/api/operator/acts/customer.note', { body: note, headers })
    expect((await act({ cookie })).body.error?.code).toBe('forbidden')
    expect((await act({ ...member.headers, 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await act({ ...member.headers, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await act({ ...member.headers, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  test('ends at once when its member is disabled, and the last owner stays', async () => {
    const owner = await newMember(portal, 'owner', { clock })
    const member = await newMember(portal, 'support', { clock })
    const reason = 'left the company'
    expect((await member.act('staff.disable', { member: owner.id, reason })).status).toBe(403)
    expect((await owner.act('staff.disable', { member: member.id, reason })).status).toBe(200)
    expect((await member.call('GET', '/api/operator/session')).status).toBe(401)
    clock.advance(minutes(1))
    const { email, password } = member
    expect((await signIn({ email, password, code: member.code() })).status).toBe(401)
    const last = await owner.act('staff.disable', { member: owner.id, reason })
    expect(last.status).toBe(409)
    const inVietnamese = await portal.call('POST', '/api/operator/acts/staff.disable', {
      headers: { ...owner.headers, 'accept-language': 'vi' },
      body: { member: owner.id, reason },
    })
    expect(inVietnamese.text).toContain('chủ sở hữu cuối cùng')
    const demoted = await owner.act('staff.change', { member: owner.id, role: 'support', reason })
    expect(demoted.status).toBe(409)
    expect((await owner.act('staff.enable', { member: member.id, reason })).status).toBe(200)
    expect((await signIn({ email, password, code: member.code(1) })).status).toBe(200)
  })

  test('old ones are forgotten after 90 days', async () => {
    const member = await newMember(portal, 'support', { clock })
    clock.advance(days(91))
    const { dropOldStaffSessions } = await import('./index.ts')
    await dropOldStaffSessions(portal.app.db, clock)
    const left = await portal.app.db
      .selectFrom('staff_session')
      .select('id')
      .where('staff_id', '=', member.id)
      .execute()
    expect(left).toEqual([])
  })
})

describe('an open invitation', () => {
  const listed = async (by: TestMember, wanted: string) =>
    staffList.result
      .parse((await by.call('GET', '/api/operator/staff')).body.result)
      .invitations.find(({ email }) => email === wanted)

  const linkIn = async (email: string) =>
    await eventually(
      'the letter',
      async () => /invitation#([\w-]+)/.exec((await portal.inbox(email))[0]?.text ?? '')?.[1],
    )
  const invited = async (by: TestMember, email: string): Promise<string> => {
    const wanted = { name: 'Friend', email, role: 'owner', reason: 'A colleague' }
    expect((await by.act('staff.invite', wanted)).status).toBe(200)
    return await linkIn(email)
  }

  test('ends with the work of who sent it', async () => {
    const [leaving, staying] = [
      await newMember(portal, 'owner', { clock }),
      await newMember(portal, 'owner', { clock }),
    ]
    const theirs = await invited(leaving, 'friend@operator.example')
    const others = await invited(staying, 'other@operator.example')
    const dismissed = await staying.act('staff.disable', { member: leaving.id, reason: 'Left us' })
    expect(dismissed.status).toBe(200)
    expect((await open(theirs)).status).toBe(422)
    expect((await open(others)).status).toBe(200)
  })

  test('ends when who sent it may invite no more, and stays while they may', async () => {
    const [demoted, staying] = [
      await newMember(portal, 'owner', { clock }),
      await newMember(portal, 'owner', { clock }),
    ]
    const theirs = await invited(demoted, 'of-the-demoted@operator.example')
    const others = await invited(staying, 'of-the-owner@operator.example')
    const change = async (to: object) => {
      const wanted = { member: demoted.id, ...to, reason: 'Another desk' }
      const answer = await staying.act<ActOutcome>('staff.change', wanted)
      expect(answer.status, answer.text).toBe(200)
      return answer.body.result
    }
    await change({ networks: ['127.0.0.0/8'] })
    expect((await open(theirs)).status).toBe(200)
    expect(await change({ role: 'support' })).toMatchObject({
      before: { role: 'owner', invitations: 1 },
      after: { role: 'support', invitations: 0 },
    })
    expect((await open(theirs)).body.error?.code).toBe('link_expired')
    expect((await open(others)).status).toBe(200)
  })

  test('is withdrawn by who may invite, once, and leads nowhere then', async () => {
    const [owner, member] = [
      await newMember(portal, 'owner', { clock }),
      await newMember(portal, 'operations', { clock }),
    ]
    const link = await invite('mistyped@operator.example')
    const mistyped = await listed(owner, 'mistyped@operator.example')
    const wanted = { invitation: mistyped?.id, reason: 'The address was mistyped' }
    expect((await member.act('staff.withdraw', wanted)).status).toBe(403)
    expect((await open(link)).status).toBe(200)
    expect((await owner.act('staff.withdraw', wanted)).status).toBe(200)
    expect((await open(link)).body.error?.code).toBe('link_expired')
    expect(await listed(owner, 'mistyped@operator.example')).toBeUndefined()
    const again = await owner.act('staff.withdraw', wanted)
    expect(again.status).toBe(409)
    expect(again.text).toContain('has ended already')
  })

  test('that is sent again, to the right address, ends the first one', async () => {
    const owner = await newMember(portal, 'owner', { clock })
    const link = await invite('wrong@operator.example')
    const replaces = (await listed(owner, 'wrong@operator.example'))?.id
    const wanted = { name: 'New', email: 'right@operator.example', role: 'support', replaces }
    const sent = await owner.act('staff.invite', { ...wanted, reason: 'Mistyped' })
    expect(sent.status).toBe(200)
    expect((await open(link)).body.error?.code).toBe('link_expired')
    expect(await listed(owner, 'wrong@operator.example')).toBeUndefined()
    expect(await listed(owner, 'right@operator.example')).toMatchObject({ networks: [] })
    expect(
      (await owner.call<TrailAct[]>('GET', '/api/operator/trail')).body.result[0],
    ).toMatchObject({
      act: 'staff.invite',
      before: { email: 'wrong@operator.example' },
      after: { email: 'right@operator.example' },
    })
  })

  test('one that was accepted ends by no press: who accepted it is a member', async () => {
    const owner = await newMember(portal, 'owner', { clock })
    const link = await invite('quick@operator.example')
    const invitation = (await listed(owner, 'quick@operator.example'))?.id
    const { secret } = (await open(link)).body.result
    expect((await accept(link, totpAt(secret, stepOf(clock.now())))).status).toBe(201)
    const again = { name: 'New', email: 'slow@operator.example', role: 'support' }
    for (const answer of [
      await owner.act('staff.withdraw', { invitation, reason: 'Mistyped' }),
      await owner.act('staff.invite', { ...again, replaces: invitation, reason: 'Mistyped' }),
    ]) {
      expect(answer.status).toBe(409)
      expect(answer.text).toContain('was accepted: disable the member instead')
    }
    expect(await listed(owner, 'slow@operator.example')).toBeUndefined()
  })
})

const endpoints = Object.values(contract)
  .flatMap((part) => (typeof part === 'object' ? Object.values(part) : []))
  .filter(
    (part): part is contract.Endpoint =>
      typeof part === 'object' && part !== null && 'path' in part && 'method' in part,
  )
const pathOf = ({ path }: contract.Endpoint): string =>
  path.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000')
/** It fits no schema: a permitted call is answered with 422, 404 or 200, never 401 or 403. */
const anyBody = { nothing: true }
const bodyOf = ({ method, takesBytes }: contract.Endpoint) =>
  (method === 'POST' || method === 'PUT') && takesBytes !== true ? { body: anyBody } : {}

describe('who may call what', () => {
  test('a customer’s token and cookie open no call of the desk', async () => {
    const { token, email, password } = customer
    const signedIn = await portal.call<{ session: { csrfToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      { body: { email, password } },
    )
    const cookie = /portal_session_\d+=[^;]+/.exec(signedIn.headers.get('set-cookie') ?? '')?.[0]
    expect(cookie).toBeDefined()
    const csrf = signedIn.body.result.session.csrfToken
    const ofDesk = endpoints.filter(({ access }) => access === 'staff')
    expect(ofDesk.length).toBeGreaterThan(20)
    for (const endpoint of ofDesk) {
      expect(endpoint.path).toMatch(/^\/api\/operator\//)
      expect(endpoint.may, `${endpoint.path} says what it needs`).toBeDefined()
      const byToken = await portal.call(endpoint.method, pathOf(endpoint), {
        token,
        ...bodyOf(endpoint),
      })
      const value = cookie?.split('=')[1] ?? ''
      const name = `portal_operator_${new URL(portal.url).port}`
      const byCookie = await portal.call(endpoint.method, pathOf(endpoint), {
        headers: { cookie: `${cookie}; ${name}=${value}`, 'x-csrf-token': csrf },
        ...bodyOf(endpoint),
      })
      expect([endpoint.path, byToken.status, byCookie.status]).toEqual([endpoint.path, 401, 401])
    }
  })

  test('a session of the staff opens no customer’s call', async () => {
    const owner = await newMember(portal, 'owner', { clock })
    const value = owner.headers['cookie']?.split('=')[1] ?? ''
    const port = new URL(portal.url).port
    const cookie = `portal_session_${port}=${value}; ${owner.headers['cookie']}`
    const csrf = owner.headers['x-csrf-token'] ?? ''
    const ofCustomers = endpoints.filter(({ access }) => access === 'customer')
    expect(ofCustomers.length).toBeGreaterThan(80)
    for (const endpoint of ofCustomers) {
      const byCookie = await portal.call(endpoint.method, pathOf(endpoint), {
        headers: { cookie, 'x-csrf-token': csrf },
        ...bodyOf(endpoint),
      })
      const byToken = await portal.call(endpoint.method, pathOf(endpoint), {
        token: value,
        ...bodyOf(endpoint),
      })
      expect([endpoint.path, byCookie.status, byToken.status]).toEqual([endpoint.path, 401, 401])
    }
  })

  test('each role opens what its permissions say, and nothing else', async () => {
    const ofDesk = endpoints.filter(
      ({ access, path }) => access === 'staff' && path !== '/api/operator/sign-out',
    )
    const matrix: Record<string, Record<string, string>> = {}
    for (const role of staffRoles) {
      const member = await newMember(portal, role, { clock })
      for (const endpoint of ofDesk) {
        const call = `${endpoint.method} ${endpoint.path}`
        const { status } = await portal.call(endpoint.method, pathOf(endpoint), {
          headers: member.headers,
          ...bodyOf(endpoint),
        })
        matrix[call] ??= {}
        matrix[call][role] = status === 403 ? '403' : 'allowed'
        expect([401, 500], `${call} as ${role}`).not.toContain(status)
      }
    }
    for (const endpoint of ofDesk) {
      const allowed = endpoint.may === undefined ? [] : rolesThatMay[endpoint.may]
      expect([endpoint.path, matrix[`${endpoint.method} ${endpoint.path}`]]).toEqual([
        endpoint.path,
        Object.fromEntries(
          staffRoles.map((role) => [role, allowed.includes(role) ? 'allowed' : '403']),
        ),
      ])
    }
  })
})
