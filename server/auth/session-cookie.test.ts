/**
 * Sessions held by a cookie (contract.md section 8): what the cookie opens, the CSRF token of
 * writes, its lifetime, and its changes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { code, newcomersTo } from '../../test/newcomers.ts'
import { manualClock, openTestPortal, type Answer, type TestPortal } from '../../test/portal.ts'
import { hours, minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  // One proxy in front, which names the visitor's scheme.
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { me, active } = newcomersTo(() => portal)

interface BrowserSession {
  id: string
  csrfToken: string | null
  remembered: boolean
  expiresAt: string
  locked: boolean
}
interface SignedIn {
  token: { accessToken: string; expiresAt: string }
  session: BrowserSession & { csrfToken: string }
}

/** A browser: stores the cookies that it gets, and sends them. */
function browser(headers: Record<string, string> = {}) {
  const jar = new Map<string, string>()
  const set: string[] = []
  const call = async <T = unknown>(
    method: string,
    path: string,
    options: {
      body?: unknown
      token?: string
      csrf?: string | null
      headers?: Record<string, string>
    } = {},
  ): Promise<Answer<T>> => {
    const answer = await portal.call<T>(method, path, {
      ...(options.body !== undefined && { body: options.body }),
      ...(options.token !== undefined && { token: options.token }),
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(typeof options.csrf === 'string' && { 'x-csrf-token': options.csrf }),
        ...headers,
        ...options.headers,
      },
    })
    for (const cookie of answer.headers.getSetCookie()) {
      set.push(cookie)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return answer
  }
  const ofSession = (cookie: string) => cookie.includes('portal_session')
  return {
    call,
    jar,
    /** The header that last set the session's cookie. */
    lastCookie: () => set.findLast(ofSession) ?? '',
    name: () => [...jar.keys()].find(ofSession) ?? '',
    async signIn(who: { email: string; password: string }, remember?: boolean): Promise<SignedIn> {
      const answer = await call<SignedIn>('POST', '/api/v1/auth/login', {
        body: {
          email: who.email,
          password: who.password,
          ...(remember !== undefined && { remember }),
        },
      })
      expect(answer.status, answer.text).toBe(200)
      return answer.body.result
    },
    me: () => call('GET', '/api/v1/auth/me'),
    session: async () =>
      (await call<BrowserSession | null>('GET', '/api/v1/auth/session')).body.result,
    sessions: async () =>
      (await call<{ id: string; remembered: boolean }[]>('GET', '/api/v1/account/sessions')).body
        .result,
  }
}

describe('a session that a cookie holds', () => {
  test('reads by the cookie alone; a write needs the CSRF token, or changes nothing', async () => {
    const person = await active()
    const { call, signIn, me: mine, lastCookie, session } = browser()
    const { session: opened, token } = await signIn(person, false)
    expect(lastCookie()).toMatch(
      new RegExp(
        `^portal_session_${new URL(portal.url).port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax$`,
      ),
    )
    expect((await mine()).status).toBe(200)
    const rename = (csrf: string | null, options: object = {}) =>
      call('PUT', '/api/v1/account', { body: { name: 'Lê Bình' }, csrf, ...options })
    const wrongToken = opened.csrfToken.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    for (const csrf of [null, '', wrongToken, token.accessToken])
      expect(code(await rename(csrf))).toEqual([403, 'forbidden'])
    const name = async () =>
      (await call<{ name: string }>('GET', '/api/v1/account')).body.result.name
    expect(await name()).toBe(person.name)
    // A refused call is not stored under its key: the right call under the same key succeeds.
    const key = { headers: { 'idempotency-key': 'rename' } }
    expect((await rename(null, key)).status).toBe(403)
    expect((await rename(opened.csrfToken, key)).status).toBe(200)
    const again = await rename(opened.csrfToken, key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await name()).toBe('Lê Bình')
    // A reloaded page gets the token again: from this call, and in a header of every answer.
    expect(await session()).toMatchObject({ ...opened, expiresAt: expect.any(String) as string })
    expect((await mine()).headers.get('x-csrf-token')).toBe(opened.csrfToken)
  })

  test('a sign-in that is repeated under its key signs the browser in, too', async () => {
    const person = await active()
    const sent = {
      body: { email: person.email, password: person.password },
      headers: { 'idempotency-key': 'sign-in whose answer was lost' },
    }
    const [lost, again] = [browser(), browser()]
    const first = await lost.call<SignedIn>('POST', '/api/v1/auth/login', sent)
    const second = await again.call<SignedIn>('POST', '/api/v1/auth/login', sent)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.text).toBe(first.text)
    expect(second.headers.getSetCookie()).toEqual(first.headers.getSetCookie())
    expect(second.headers.get('x-csrf-token')).toBe(second.body.result.session.csrfToken)
    expect((await again.me()).status).toBe(200)
    // A refused one sets nothing.
    const wrong = await browser().call('POST', '/api/v1/auth/login', {
      body: { ...sent.body, password: 'Another-one-4' },
    })
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []])
    // The cookie is a secret: what is kept does not show it.
    const kept = await portal.app.db.selectFrom('idempotency').select('headers').execute()
    const cookie = again.jar.get(again.name()) ?? 'none'
    expect(kept.some(({ headers }) => headers?.toString('latin1').includes(cookie))).toBe(false)
    expect(kept.some(({ headers }) => headers !== null)).toBe(true)
  })

  test('a bearer call needs no CSRF token, and counts before the cookie', async () => {
    const [an, binh] = [await active(), await active()]
    const { call, signIn } = browser()
    await signIn(an)
    const { token } = await browser().signIn(binh)
    const renamed = await call<{ email: string }>('PUT', '/api/v1/account', {
      body: { name: 'Ánh Dương' },
      token: token.accessToken,
    })
    expect([renamed.status, renamed.body.result.email]).toEqual([200, binh.email])
    expect(code(await call('GET', '/api/v1/auth/me', { token: 'dead' }))).toEqual([
      401,
      'unauthenticated',
    ])
    // An Authorization header for a proxy in front is ignored.
    const basic = await call('GET', '/api/v1/auth/me', { headers: { authorization: 'Basic YTpi' } })
    expect(basic.status).toBe(200)
  })

  test('the token, the cookie and the CSRF token do not stand in for each other', async () => {
    const person = await active()
    const { signIn, name, jar } = browser()
    const { token, session } = await signIn(person, true)
    const cookie = jar.get(name()) ?? ''
    const as = (value: string) =>
      portal.call('GET', '/api/v1/auth/me', { headers: { cookie: `${name()}=${value}` } })
    expect((await as(cookie)).status).toBe(200)
    for (const value of [token.accessToken, session.csrfToken, session.id])
      expect((await as(value)).status).toBe(401)
    for (const value of [cookie, session.csrfToken, session.id])
      expect((await me(value)).status).toBe(401)
  })

  test('neighbours under the same domain and other sites have nothing of it', async () => {
    const person = await active()
    const { call, signIn } = browser()
    const { session } = await signIn(person, false)
    for (const site of ['same-site', 'cross-site'])
      for (const method of ['GET', 'POST'])
        expect(
          code(
            await call(method, method === 'GET' ? '/api/v1/account' : '/api/v1/auth/logout', {
              csrf: session.csrfToken,
              headers: { 'sec-fetch-site': site },
            }),
          ),
        ).toEqual([403, 'forbidden'])
    for (const site of ['same-origin', 'none'])
      expect(
        (await call('GET', '/api/v1/account', { headers: { 'sec-fetch-site': site } })).status,
      ).toBe(200)
  })

  test('by https the cookie is Secure and bound to this host', async () => {
    const person = await active()
    const { signIn, lastCookie, me: mine } = browser({ 'x-forwarded-proto': 'https' })
    await signIn(person, true)
    expect(lastCookie()).toMatch(
      /^__Host-portal_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
    )
    expect((await mine()).status).toBe(200)
  })

  test('channels, log tickets and rate limits work with it', async () => {
    const person = await active()
    const { call, signIn } = browser()
    const { session } = await signIn(person, false)
    const form = new URLSearchParams({
      socket_id: '1.1',
      channel_name: `private-${person.id}`,
    }).toString()
    const channel = (csrf: string | null) =>
      call('POST', '/api/v1/auth/pusher', {
        body: form,
        csrf,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    expect(code(await channel(null))).toEqual([403, 'forbidden'])
    const granted = await channel(session.csrfToken)
    expect(granted.status, granted.text).toBe(200)
    expect(JSON.parse(granted.text)).toHaveProperty('auth')
  })
})

describe('how long it lasts', () => {
  test('a remembered one lives thirty days unused, its token twelve hours', async () => {
    const person = await active()
    const { signIn, me: mine, session } = browser()
    const { token } = await signIn(person, true)
    expect(new Date(token.expiresAt).getTime() - clock.now().getTime()).toBe(hours(12))
    // Using the cookie does not keep alive a token that a script could have read.
    for (let at = 0; at < 12; at += 4) {
      clock.advance(hours(4))
      expect((await mine()).status).toBe(200)
    }
    expect((await me(token.accessToken)).status).toBe(401)
    clock.advance(hours(29 * 24))
    expect(await session()).toMatchObject({ remembered: true })
    expect((await me(token.accessToken)).status).toBe(401)
    clock.advance(hours(12))
    expect((await mine()).status).toBe(401)
    expect(await session()).toBeNull()
  })

  test('the token of a remembered one lives on while it is used itself', async () => {
    const person = await active()
    const { signIn, me: mine } = browser()
    const { token } = await signIn(person, true)
    for (let n = 0; n < 4; n++) {
      clock.advance(hours(11))
      // Using the cookie in the same minute does not hide the token's use.
      expect((await mine()).status).toBe(200)
      expect((await me(token.accessToken)).status).toBe(200)
    }
  })

  test('one that is not remembered ends after twelve idle hours and with the browser', async () => {
    const person = await active()
    const { signIn, me: mine, lastCookie } = browser()
    await signIn(person, false)
    expect(lastCookie()).not.toContain('Max-Age')
    clock.advance(hours(12) - minutes(1))
    expect((await mine()).status).toBe(200)
    clock.advance(hours(12))
    expect((await mine()).status).toBe(401)
  })

  test('a screen puts its session in the place of the one before; a program does not', async () => {
    const [an, binh] = [await active(), await active()]
    const { signIn, sessions } = browser()
    const first = await signIn(an, false)
    const second = await signIn(an, true)
    expect((await me(first.token.accessToken)).status).toBe(401)
    expect(await sessions()).toMatchObject([{ id: second.session.id, remembered: true }])
    await signIn(binh, false)
    expect((await me(second.token.accessToken)).status).toBe(401)
    const third = await signIn(an)
    await signIn(an)
    expect((await me(third.token.accessToken)).status).toBe(200)
    expect(await sessions()).toHaveLength(2)
  })

  test('signing out ends cookie and token alike, and the browser forgets the cookie', async () => {
    const person = await active()
    for (const by of ['cookie', 'token'] as const) {
      const { call, signIn, me: mine, jar, name } = browser()
      const { token, session } = await signIn(person, true)
      const cookie = `${name()}=${jar.get(name())}`
      const answer = await call(
        'POST',
        '/api/v1/auth/logout',
        by === 'cookie' ? { csrf: session.csrfToken } : { token: token.accessToken },
      )
      expect(answer.status).toBe(200)
      expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
      expect(name()).toBe('')
      expect((await mine()).status).toBe(401)
      expect((await me(token.accessToken)).status).toBe(401)
      expect((await portal.call('GET', '/api/v1/auth/me', { headers: { cookie } })).status).toBe(
        401,
      )
    }
    // A program's sign-out of another session leaves this cookie.
    const { call, signIn, me: mine } = browser()
    const other = await browser().signIn(person)
    await signIn(person, true)
    await call('POST', '/api/v1/auth/logout', { token: other.token.accessToken })
    expect((await mine()).status).toBe(200)
  })
})

describe('a new value', () => {
  test('a locked one is open to unlock and sign-out, and goes on under a new cookie', async () => {
    const person = await active()
    const { call, signIn, me: mine, session, jar, name, lastCookie } = browser()
    const before = await signIn(person, true)
    const { csrfToken } = before.session
    const old = { cookie: `${name()}=${jar.get(name())}` }
    expect((await call('POST', '/api/v1/auth/lock', { csrf: csrfToken })).status).toBe(200)
    for (const [method, path] of [
      ['GET', '/api/v1/auth/me'],
      ['PUT', '/api/v1/account'],
      ['POST', '/api/v1/auth/pusher'],
    ] as const)
      expect(code(await call(method, path, { csrf: csrfToken }))).toEqual([401, 'session_locked'])
    expect(await session()).toMatchObject({ id: before.session.id, locked: true, csrfToken })
    const unlock = (password: string, csrf: string | null) =>
      call<SignedIn>('POST', '/api/v1/auth/unlock', { body: { password }, csrf })
    expect(code(await unlock(person.password, null))).toEqual([403, 'forbidden'])
    expect(code(await unlock('wrong-password', csrfToken))).toEqual([401, 'bad_credentials'])
    clock.advance(hours(24 * 3))
    const unlocked = await unlock(person.password, csrfToken)
    expect(unlocked.status, unlocked.text).toBe(200)
    const after = unlocked.body.result
    expect(after.session).toMatchObject({ id: before.session.id, locked: false, remembered: true })
    // The rest of the thirty days.
    expect(lastCookie()).toContain(`Max-Age=${27 * 86_400};`)
    expect(after.session.csrfToken).not.toBe(csrfToken)
    expect((await mine()).status).toBe(200)
    expect((await portal.call('GET', '/api/v1/auth/me', { headers: old })).status).toBe(401)
    expect((await me(before.token.accessToken)).status).toBe(401)
    expect((await me(after.token.accessToken)).status).toBe(200)
  })

  test('a new password brings a new cookie, and who only had the old one is out', async () => {
    const person = await active()
    const { call, signIn, me: mine, jar, name } = browser()
    const { token, session } = await signIn(person, true)
    const old = { cookie: `${name()}=${jar.get(name())}` }
    const password = 'Another-horse-10'
    const changed = await call('PUT', '/api/v1/account/password', {
      body: { current: person.password, password },
      csrf: session.csrfToken,
    })
    expect(changed.status, changed.text).toBe(200)
    expect((await portal.call('GET', '/api/v1/auth/me', { headers: old })).status).toBe(401)
    expect((await me(token.accessToken)).status).toBe(401)
    expect((await mine()).status).toBe(200)
    const csrf = changed.headers.get('x-csrf-token')
    expect(csrf).not.toBe(session.csrfToken)
    expect((await call('PUT', '/api/v1/account', { body: { name: 'Lê Bình' }, csrf })).status).toBe(
      200,
    )
    // A call by token keeps its token.
    const { token: other } = await signIn({ email: person.email, password }, false)
    await call('PUT', '/api/v1/account/password', {
      body: { current: password, password: person.password },
      token: other.accessToken,
    })
    expect((await me(other.accessToken)).status).toBe(200)
    expect((await mine()).status).toBe(200)
  })

  test('the document of the API names cookie and header', async () => {
    const { text } = await portal.call('GET', '/api/openapi.json')
    const { paths, components } = JSON.parse(text) as {
      paths: Record<string, Record<string, { security: object[] }>>
      components: { securitySchemes: Record<string, { in: string; name: string }> }
    }
    expect(components.securitySchemes['cookie']).toMatchObject({
      in: 'cookie',
      name: `portal_session_${new URL(portal.url).port}`,
    })
    expect(components.securitySchemes['csrf']).toMatchObject({ in: 'header', name: 'x-csrf-token' })
    expect(paths['/api/v1/account']?.['get']?.security).toEqual([{ bearer: [] }, { cookie: [] }])
    expect(paths['/api/v1/account']?.['put']?.security).toEqual([
      { bearer: [] },
      { cookie: [], csrf: [] },
    ])
  })
})
