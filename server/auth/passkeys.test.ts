/** Passkeys, used by their owner, on a wrong site, as a copy, and by somebody else. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountAt } from '../../test/account-page.ts'
import { createAuthenticator } from '../../test/authenticator.ts'
import { challengeOf, code, newcomersTo, type SignedIn } from '../../test/newcomers.ts'
import { freePort, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  // Passkeys belong to a host name, never to an address.
  const port = await freePort()
  portal = await openTestPortal({
    clock,
    env: {
      TRUST_PROXY: 'on',
      PORT: String(port),
      PORTAL_URL: `http://localhost:${port}`,
    },
  })
})
afterAll(() => portal.close())
const { auth, signIn, me, active, login } = newcomersTo(() => portal)
const { account, security } = accountAt(() => portal)

describe('passkeys', () => {
  interface Begun {
    challenge: string
    options: { challenge: string; rpId?: string; rp?: { id: string } }
  }
  const begin = async () => (await auth<Begun>('passkey/options')).body.result
  async function withPasskey() {
    const person = await active()
    const token = await signIn(person)
    const { passkeyOrigin: origin } = await security(token)
    const authenticator = createAuthenticator()
    const begun = await account<Begun>(token, 'POST', '/security/passkeys/options', {
      password: person.password,
    })
    expect(begun.status, begun.text).toBe(200)
    const { challenge, options } = begun.body.result
    const add = (response: object, name = 'Laptop') =>
      account<{ recoveryCodes: string[] | null }>(token, 'POST', '/security/passkeys', {
        challenge,
        response,
        name,
      })
    return { person, token, origin, authenticator, options, add }
  }
  async function added() {
    const made = await withPasskey()
    const answer = await made.add(made.authenticator.create(made.options, made.origin))
    expect(answer.status, answer.text).toBe(201)
    return { ...made, recoveryCodes: answer.body.result.recoveryCodes ?? [] }
  }
  const enter = (challenge: string, response: object) =>
    auth<SignedIn>('passkey', { challenge, response })

  test('sign in without a password, and are asked for beside it', async () => {
    const { person, token, origin, authenticator, recoveryCodes } = await added()
    expect(origin).toBe(portal.url)
    expect(recoveryCodes).toHaveLength(10)
    expect((await security(token)).passkeys).toMatchObject([{ name: 'Laptop' }])
    challengeOf(await login(person))
    const { challenge, options } = await begin()
    const entered = await enter(challenge, authenticator.get(options, origin))
    expect(entered.status, entered.text).toBe(200)
    const fresh = entered.body.result.token.accessToken
    expect((await me(fresh)).body.result).toMatchObject({ email: person.email })
    // It counts as the second factor, also for the recent-factor check.
    expect((await portal.call('DELETE', '/api/wp/unknown', { token: fresh })).status).toBe(404)
    clock.advance(minutes(11))
    expect((await portal.call('DELETE', '/api/wp/unknown', { token: fresh })).status).toBe(403)
    const more = await begin()
    const response = authenticator.get(more.options, origin)
    const proven = await auth('reauthenticate', { challenge: more.challenge, response }, { token })
    expect(proven.status, proven.text).toBe(200)
    expect((await portal.call('DELETE', '/api/wp/unknown', { token })).status).toBe(404)
  })

  test('an answer whose id is no text is refused by its form', async () => {
    const { challenge } = await begin()
    for (const id of [{}, 5])
      expect(code(await enter(challenge, { id }))).toEqual([422, 'invalid_input'])
  })

  test('a wrong site, a replay, another challenge, and somebody else’s are refused', async () => {
    const { origin, authenticator } = await added()
    const refused = [422, 'passkey_refused']
    const one = await begin()
    const other = 'http://localhost:1'
    expect(code(await enter(one.challenge, authenticator.get(one.options, other)))).toEqual(refused)
    // A challenge counts once, also when its answer was refused.
    expect(code(await enter(one.challenge, authenticator.get(one.options, origin)))).toEqual(
      refused,
    )
    const two = await begin()
    const signed = authenticator.get(two.options, origin)
    expect((await enter(two.challenge, signed)).status).toBe(200)
    expect(code(await enter(two.challenge, signed))).toEqual(refused)
    const three = await begin()
    expect(code(await enter(three.challenge, signed))).toEqual(refused)
    const four = await begin()
    const elsewhere = authenticator.get({ ...four.options, rpId: 'example.org' }, origin)
    expect(code(await enter(four.challenge, elsewhere))).toEqual(refused)
    const five = await begin()
    const stranger = createAuthenticator().get(five.options, origin)
    expect(code(await enter(five.challenge, stranger))).toEqual(refused)
    const six = await begin()
    clock.advance(minutes(10))
    expect(code(await enter(six.challenge, authenticator.get(six.options, origin)))).toEqual(
      refused,
    )
    // Another customer's passkey proves nothing for this one.
    const token = await signIn(await active())
    const seven = await begin()
    const response = authenticator.get(seven.options, origin)
    expect(
      code(await auth('reauthenticate', { challenge: seven.challenge, response }, { token })),
    ).toEqual(refused)
    for (const bad of [{}, { id: 'x', response: null }])
      expect(code(await enter((await begin()).challenge, bad))).toEqual(refused)
  })

  test('a copy whose counter is behind is refused', async () => {
    const { origin, authenticator } = await added()
    const copy = authenticator.copy()
    const use = async (by: typeof authenticator) => {
      const { challenge, options } = await begin()
      return (await enter(challenge, by.get(options, origin))).status
    }
    expect(await use(authenticator)).toBe(200)
    expect(await use(authenticator)).toBe(200)
    expect(await use(copy)).toBe(422)
    expect(await use(authenticator)).toBe(200)
  })

  test('a new one from another site, or for another customer, is refused', async () => {
    const { authenticator, options, add, origin, token } = await withPasskey()
    expect(code(await add(authenticator.create(options, 'https://evil.example')))).toEqual([
      422,
      'passkey_refused',
    ])
    expect(code(await add(authenticator.create(options, origin)))).toEqual([422, 'passkey_refused'])
    expect((await security(token)).passkeys).toEqual([])
    const [an, binh] = [await withPasskey(), await withPasskey()]
    const stolen = await account(binh.token, 'POST', '/security/passkeys', {
      challenge: 'unknown',
      response: an.authenticator.create(an.options, an.origin),
      name: 'x',
    })
    expect(code(stolen)).toEqual([422, 'passkey_refused'])
  })

  test('removing the last one asks for the password alone again', async () => {
    const { person, token } = await added()
    const [passkey] = (await security(token)).passkeys
    const other = await signIn(await active())
    expect((await account(other, 'DELETE', `/security/passkeys/${passkey?.id}`)).status).toBe(404)
    expect((await account(token, 'DELETE', `/security/passkeys/${passkey?.id}`)).status).toBe(200)
    expect((await login(person)).status).toBe(200)
  })
})
