/**
 * Attempts to take an account over, and what its owner sees: letters, the history of sign-ins, the
 * list of sessions. docs/takeover.md shows it as a page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountAt } from '../../test/account-page.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { code, form, newcomersTo, wrong, type SignedIn } from '../../test/newcomers.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { makeSshKey } from '../../test/ssh-keys.ts'
import { days, minutes, seconds } from '../platform/clock.ts'
import { stepOf, totpAt } from './totp.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { auth, signIn, me, codeFor, active, passInCounters } = newcomersTo(() => portal)
const { account } = accountAt(() => portal)

const thief = '203.0.113.66'
const password = 'Another-horse-10'
type Person = Awaited<ReturnType<typeof active>>
const enter = (person: Person, given = person.password) =>
  auth<SignedIn>('login', { email: person.email, password: given }, { ip: thief })
const tokenOf = (answer: Awaited<ReturnType<typeof enter>>): string =>
  answer.body.result.token.accessToken

/** What the owner sees: mail and SMS since then, and the account page. */
async function seenBy(person: Person, token: string) {
  await jobsIdle(portal.app.db)
  const told = async (to: string) => (await portal.inbox(to)).map(({ text }) => text)
  const signIns = await account<{ ip: string; outcome: string }[]>(token, 'GET', '/sign-ins')
  const sessions = await account<{ current: boolean; ip: string | null }[]>(
    token,
    'GET',
    '/sessions',
  )
  const ofThief = signIns.body.result.filter(({ ip }) => ip === thief)
  return {
    mail: await told(person.email),
    sms: await told(person.phone),
    /** Sign-ins from the thief's network, oldest first. */
    outcomes: ofThief.map(({ outcome }) => outcome).toReversed(),
    sessionsThere: sessions.body.result.filter(({ ip }) => ip === thief).length,
  }
}

test('a password is guessed: the owner reads of each try, and is not kept out', async () => {
  const person = await active()
  const token = await signIn(person)
  const answers = []
  for (let n = 0; n < 8; n++) answers.push(code(await enter(person, `Guess-number-${n}`)))
  expect(answers.slice(0, 5)).toEqual(Array(5).fill([401, 'bad_credentials']))
  expect(answers.at(-1)).toEqual([429, 'rate_limited'])
  const seen = await seenBy(person, token)
  expect(seen.outcomes.length).toBeGreaterThanOrEqual(5)
  expect(new Set(seen.outcomes)).toEqual(new Set(['failed']))
  expect(await signIn(person)).toBeTruthy()
})

test('a password is known: a letter says from where, and its link ends everything', async () => {
  const person = await active()
  const token = await signIn(person)
  const stolen = tokenOf(await enter(person))
  const seen = await seenBy(person, token)
  expect(seen).toMatchObject({ outcomes: ['succeeded'], sessionsThere: 1 })
  const letter = seen.mail.find((text) => text.includes('/auth/not-me?token=')) ?? ''
  expect(letter).toContain(thief)
  const link = /token=([\w-]+)/.exec(letter)?.[1]
  expect((await auth('not-me', { token: link })).status).toBe(200)
  for (const one of [token, stolen]) expect((await me(one)).status).toBe(401)
  expect(code(await enter(person))).toEqual([401, 'bad_credentials'])
  await auth('recover', { email: person.email })
  const mailed = await codeFor(person.email)
  expect((await auth('reset', { email: person.email, code: mailed, password })).status).toBe(200)
  expect(await signIn({ email: person.email, password })).toBeTruthy()
})

test('a password is known, and there is a second factor: it opens nothing', async () => {
  const person = await active()
  const token = await signIn(person)
  const begun = await account<{ secret: string }>(token, 'POST', '/security/totp', {
    password: person.password,
  })
  const { secret } = begun.body.result
  const shown = (steps = 0) => totpAt(secret, stepOf(clock.now()) + steps)
  expect((await account(token, 'POST', '/security/totp/confirm', { code: shown() })).status).toBe(
    200,
  )
  const used = shown()
  clock.advance(seconds(30))
  const asked = await enter(person)
  expect(code(asked)).toEqual([403, 'second_factor_required'])
  const { challenge } = asked.body.error as { challenge?: string }
  // A wrong code, a used one, and so on, until the sign-in has ended.
  const bring = async (given: string) =>
    code(await auth('second-factor', { challenge, code: given }, { ip: thief }))
  const answers = [await bring(used)]
  for (let n = 0; n < 5; n++) answers.push(await bring(wrong(shown())))
  expect(answers.every(([status]) => status >= 400)).toBe(true)
  expect((await bring(shown()))[0]).toBeGreaterThanOrEqual(400)
  const seen = await seenBy(person, token)
  expect(seen.outcomes.length).toBeGreaterThan(0)
  expect(new Set(seen.outcomes)).toEqual(new Set(['failed']))
  expect(seen.sessionsThere).toBe(0)
})

test('a code to recover is asked for and guessed: it is the owner’s letter, and ends', async () => {
  const person = await active()
  const token = await signIn(person)
  const from = { ip: thief }
  expect((await auth('recover', { email: person.email }, from)).status).toBe(200)
  const mailed = await codeFor(person.email)
  const reset = async (given: string) =>
    code(await auth('reset', { email: person.email, code: given, password }, from))
  for (let n = 0; n < 5; n++) expect((await reset(wrong(mailed)))[0]).toBe(422)
  expect((await reset(mailed))[0]).toBe(422)
  const seen = await seenBy(person, token)
  expect(seen.mail[0]).toContain(mailed)
  expect(await signIn(person)).toBeTruthy()
})

test('a session is stolen: it changes nothing that the password guards, and is ended', async () => {
  const person = await active()
  const token = await signIn(person)
  const stolen = tokenOf(await enter(person))
  const tries = [
    await account(stolen, 'PUT', '/password', { current: 'Guess-number-1', password }),
    await account(stolen, 'POST', '/email', { email: 'thief@example.vn', password: 'Guess-1-x' }),
    await account(stolen, 'POST', '/phone', { phone: '+84912345678', password: 'Guess-1-x' }),
    await account(stolen, 'POST', '/tokens', { name: 'mine', password: 'Guess-1-x' }),
  ]
  for (const { status, text } of tries) expect(status, text).toBe(422)
  expect((await seenBy(person, token)).sessionsThere).toBe(1)
  const ended = await account<{ ended: number }>(token, 'POST', '/sessions/revoke-others')
  expect(ended.body.result.ended).toBe(1)
  expect((await me(stolen)).status).toBe(401)
})

test('a key for SFTP is added by the thief: a letter tells it, and the link ends it', async () => {
  const person = await active()
  const owner = { id: person.id, token: await signIn(person) } as TestCustomer
  await portal.topUp(owner, 500_000)
  const { id, name } = await orderServer(portal, owner)
  const keys = `/api/wp/${id}/sftp/keys`
  const add = (token: string, called: string) =>
    portal.call('POST', keys, { token, body: { name: called, key: makeSshKey().public } })
  expect((await add(owner.token, 'of the owner')).status).toBe(201)
  clock.advance(minutes(5))
  const stolen = tokenOf(await enter(person))
  clock.advance(minutes(1))
  expect((await add(stolen, 'of the thief')).status).toBe(201)
  const mail = await mailTo(person.email)
  const told = mail.find((text) => text.includes('of the thief')) ?? ''
  for (const part of [name, 'SHA256:', `${portal.url}/wordpress/${id}?tab=files`])
    expect(told).toContain(part)
  expect((await auth('not-me', { token: linkOf(mail) })).status).toBe(200)
  const left = await portal.app.db
    .selectFrom('site_ssh_key')
    .select('name')
    .where('site_id', '=', id)
    .execute()
  expect(left).toEqual([{ name: 'of the owner' }])
})

const linkOf = (mail: readonly string[]): string | undefined =>
  mail.map((text) => /not-me\?token=([\w-]+)/.exec(text)?.[1]).find(Boolean)
let addresses = 0
/** The thief has session and password, and sets an email address of their own. */
async function takenBy(person: Person) {
  const stolen = tokenOf(await enter(person))
  addresses += 1
  const email = `thief-new${addresses}@example.vn`
  const asked = await account(stolen, 'POST', '/email', { email, password: person.password })
  expect(asked.status, asked.text).toBe(200)
  const given = await codeFor(email)
  const changed = await account(stolen, 'POST', '/email/confirm', { code: given })
  expect(changed.status, changed.text).toBe(200)
  return { stolen, email }
}
const mailTo = async (to: string) => {
  await jobsIdle(portal.app.db)
  return (await portal.inbox(to)).map(({ text }) => text)
}
async function recoverAt(email: string) {
  await auth('recover', { email })
  await jobsIdle(portal.app.db)
  // Letters of the same moment arrive in any order.
  const newest = (await portal.inbox(email)).find(({ text }) => text.includes('Mã khôi phục'))
  const mailed = /\b\d{6}\b/.exec(newest?.text ?? '')?.[0] ?? '000000'
  return code(await auth('reset', { email, code: mailed, password }))
}

test('session and password are stolen: a new e-mail is told to the old, and undone', async () => {
  const person = await active()
  const token = await signIn(person)
  const { stolen, email } = await takenBy(person)
  // The thief also signs in from another network: that letter and its link go to the thief.
  expect(
    (await auth('login', { email, password: person.password }, { ip: '198.51.100.4' })).status,
  ).toBe(200)
  const mail = await mailTo(person.email)
  expect(mail[0]).toContain(email)
  const theirs = linkOf(await mailTo(email))
  expect(theirs).toBeTruthy()
  // The letter about the sign-in came to the old address, ends everything and undoes the change.
  const denied = await auth<{ email: string }>('not-me', { token: linkOf(mail) })
  expect(denied.body.result).toEqual({ email: person.email })
  for (const one of [token, stolen]) expect((await me(one)).status).toBe(401)
  expect(code(await auth('not-me', { token: theirs }))).toEqual([422, 'link_expired'])
  expect((await recoverAt(email))[0]).toBe(422)
  expect(await recoverAt(person.email)).toEqual([200, undefined])
  expect(await signIn({ email: person.email, password })).toBeTruthy()
})

test('the old e-mail has another account by then: nobody is in before support helps', async () => {
  const person = await active()
  await signIn(person)
  const { email } = await takenBy(person)
  const link = linkOf(await mailTo(person.email))
  // An address is not proven by a registration; a phone is.
  const other = { ...form(), email: person.email }
  await auth('register', other)
  const sent = await codeFor(other.phone)
  expect((await auth('active', { email: person.email, code: sent })).status).toBe(200)
  const denied = await auth('not-me', { token: link })
  expect(code(denied)).toEqual([403, 'address_lost'])
  expect((await recoverAt(email))[0]).toBe(200)
  expect(code(await auth('login', { email, password }))).toEqual([403, 'account_blocked'])
  expect(code(await auth('not-me', { token: link }))).toEqual([422, 'link_expired'])
})

/** The thief has session and password, and adds an app of their own. */
async function withAppOf(person: Person, token: string) {
  const asked = { password: person.password }
  const begun = await account<{ secret: string }>(token, 'POST', '/security/totp', asked)
  const { secret } = begun.body.result
  const shown = () => totpAt(secret, stepOf(clock.now()))
  const confirm = { code: shown() }
  const confirmed = await account(token, 'POST', '/security/totp/confirm', confirm)
  expect(confirmed.status, confirmed.text).toBe(200)
  return { shown }
}

test('session and password are stolen: an app that is added is told, and taken back', async () => {
  const person = await active()
  // From the owner's network, so that no letter about a sign-in is written.
  const stolen = await signIn(person)
  await withAppOf(person, stolen)
  const [told] = await mailTo(person.email)
  expect(told).toContain('ứng dụng xác thực vừa được thêm')
  expect(code(await enter(person))).toEqual([403, 'second_factor_required'])
  expect((await auth('not-me', { token: linkOf([told ?? '']) })).status).toBe(200)
  expect((await me(stolen)).status).toBe(401)
  expect(await recoverAt(person.email)).toEqual([200, undefined])
  const own = await signIn({ email: person.email, password })
  // The owner adds and removes their own factor: the owner is told of both.
  const { shown } = await withAppOf({ ...person, password }, own)
  await auth('reauthenticate', { code: shown() }, { token: own })
  expect((await account(own, 'DELETE', '/security/totp')).status).toBe(200)
  const letters = await mailTo(person.email)
  expect(letters.some((text) => text.includes('vừa được gỡ khỏi tài khoản'))).toBe(true)
})

test('an app of the week before “Forgot password” ends with it, no older one', async () => {
  const person = await active()
  await withAppOf(person, await signIn(person))
  clock.advance(days(6))
  expect(await recoverAt(person.email)).toEqual([200, undefined])
  expect((await mailTo(person.email))[0]).toContain('thêm lớp xác thực của họ')
  const own = await signIn({ email: person.email, password })
  const { shown } = await withAppOf({ ...person, password }, own)
  clock.advance(days(7) + seconds(1))
  await passInCounters(minutes(1))
  expect(await recoverAt(person.email)).toEqual([200, undefined])
  const { challenge } = (await enter({ ...person, password })).body.error as { challenge?: string }
  expect((await auth('second-factor', { challenge, code: shown() })).status).toBe(200)
})

test('the phone of the account is as it was, too', async () => {
  const person = await active()
  await signIn(person)
  const stolen = tokenOf(await enter(person))
  const { phone } = form()
  const wish = { phone, password: person.password }
  expect((await account(stolen, 'POST', '/phone', wish)).status).toBe(200)
  const given = await codeFor(phone)
  expect((await account(stolen, 'POST', '/phone/confirm', { code: given })).status).toBe(200)
  const link = linkOf(await mailTo(person.email))
  expect((await auth('not-me', { token: link })).status).toBe(200)
  expect(await recoverAt(person.email)).toEqual([200, undefined])
  const again = await signIn({ email: person.email, password })
  const { body } = await account<{ phone: string }>(again, 'GET', '')
  expect(body.result.phone).toBe(person.phone)
})

test('a program’s token is stolen: it opens what it is for, and is seen and revoked', async () => {
  const person = await active()
  const token = await signIn(person)
  const made = await account<{ secret: string; token: { id: string } }>(token, 'POST', '/tokens', {
    name: 'a program',
    password: person.password,
    scopes: ['servers:read'],
  })
  expect(made.status, made.text).toBe(201)
  const { secret, token: own } = made.body.result
  const by = (method: string, path: string, body?: object) =>
    portal.call(method, path, {
      token: secret,
      headers: { 'x-forwarded-for': thief },
      ...(body && { body }),
    })
  expect((await by('GET', '/api/wp')).status).toBe(200)
  for (const [method, path] of [
    ['GET', '/api/v1/account'],
    ['PUT', '/api/v1/account/password'],
    ['POST', '/api/v1/account/tokens'],
    ['POST', '/api/wp'],
    ['POST', '/api/dns'],
  ] as const)
    expect([path, (await by(method, path, method === 'GET' ? undefined : {})).status]).toEqual([
      path,
      403,
    ])
  const list = await account<{ id: string; lastUsedFrom: string | null }[]>(token, 'GET', '/tokens')
  expect(list.body.result.find(({ id }) => id === own.id)).toMatchObject({ lastUsedFrom: thief })
  expect((await account(token, 'DELETE', `/tokens/${own.id}`)).status).toBe(200)
  expect((await by('GET', '/api/wp')).status).toBe(401)
})

test('an email and a phone are squatted: the owner registers all the same', async () => {
  const owner = form()
  const squatted = await auth<{ id: string }>('register', owner, { ip: thief })
  expect(squatted.status, squatted.text).toBe(201)
  const first = await codeFor(owner.phone)
  const own = await auth<{ id: string }>('register', { ...owner, password }, { ip: '192.0.2.8' })
  expect(own.status, own.text).toBe(201)
  const sent = await codeFor(owner.phone, first)
  expect((await auth('active', { email: owner.email, code: sent })).status).toBe(200)
  expect(code(await enter({ ...owner, id: '', code: '' }))).toEqual([401, 'bad_credentials'])
  expect(await signIn({ email: owner.email, password })).toBeTruthy()
})
