/** Tokens for programs: what each opens, on which servers and domains, from where, how long. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as contract from '../../contract/index.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { subjectOf, tokenScopes, type TokenScope } from '../../contract/token-scopes.ts'
import type { Token } from '../../contract/tokens.ts'
import type { Server } from '../../contract/wordpress.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { createAccountActs } from '../auth/index.ts'
import { stepOf, totpAt } from '../auth/totp.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endTeam } from '../customer-team.ts'
import { days, minutes, seconds } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { newToken, publicIdOf } from './secret.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())

type Made = { token: Token; secret: string }
const make = (who: TestCustomer, wish: object) =>
  portal.call<Made>('POST', '/api/v1/account/tokens', {
    token: who.token,
    body: { name: 'a program', password: who.password, ...wish },
  })
/** The secret of a new one. */
const tokenFor = async (who: TestCustomer, wish: object): Promise<string> => {
  const made = await make(who, wish)
  expect(made.status, made.text).toBe(201)
  return made.body.result.secret
}
const list = async (who: TestCustomer): Promise<Token[]> =>
  (await portal.call<Token[]>('GET', '/api/v1/account/tokens', { token: who.token })).body.result
const code = (answer: Answer): [number, string | undefined] => [
  answer.status,
  // A file is no JSON.
  (answer.body as Answer['body'] | undefined)?.error?.code,
]
/** An order that nobody has paid is a server as well. */
const order = async (who: TestCustomer): Promise<string> => {
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: who.token,
    body: {
      size: 1,
      region: 1,
      disk: 10_240,
      mariadb_disk_size: 10_240,
      user: 'an',
      password: 'Mat-khau-9!',
      replicate: 1,
    },
  })
  expect(placed.status, placed.text).toBe(201)
  return placed.body.result.id
}
const claim = async (who: TestCustomer, name: string): Promise<string> => {
  const made = await portal.call<{ id: string }>('POST', '/api/dns', {
    token: who.token,
    body: { name },
  })
  expect(made.status, made.text).toBe(201)
  return made.body.result.id
}

/** Every call of the contract that a customer makes. */
const endpoints = Object.values(contract)
  .flatMap((part) => (typeof part === 'object' ? Object.values(part as object) : []))
  .filter(
    (one): one is Endpoint =>
      typeof one === 'object' && one !== null && 'method' in one && 'path' in one,
  )
const ofCustomers = endpoints.filter(({ access }) => access === 'customer')
const named = ({ method, path }: Endpoint) => `${method} ${path}`
const nobody = '00000000-0000-4000-8000-000000000000'
const addressOf = ({ path }: Endpoint, id = nobody): string =>
  path.replace(':id', id).replace(/:\w+/g, nobody)

/** With a body that says nothing. */
const ask = (endpoint: Endpoint, token: string, id?: string): Promise<Answer> => {
  const { method, takesBytes } = endpoint
  return portal.call(method, addressOf(endpoint, id), {
    token,
    ...(method !== 'GET' && method !== 'DELETE' && { body: takesBytes ? ' ' : {} }),
    ...(takesBytes && { headers: { 'content-type': 'application/octet-stream' } }),
  })
}

describe('which call a token opens', () => {
  test('is said in the contract, and nothing that pays, signs in or asks again is', () => {
    expect(ofCustomers.length).toBeGreaterThan(100)
    const opened = ofCustomers.filter(({ scope }) => scope !== undefined)
    expect(opened.length).toBeGreaterThan(60)
    // A write needs a scope that says so.
    expect(
      opened.filter(({ method, scope }) => method !== 'GET' && !scope?.endsWith(':write')),
    ).toEqual([])
    expect(opened.filter(({ asksAgain }) => asksAgain === true).map(named)).toEqual([])
    expect(endpoints.filter((one) => one.scope !== undefined && one.access !== 'customer')).toEqual(
      [],
    )
    const neverOpen =
      /^\/api\/v1\/|^\/api\/notifications|attach|checkout|\/pay$|cancel|resume|confirm|admin-link/
    expect(opened.filter(({ path }) => neverOpen.test(path)).map(named)).toEqual([])
    const spends = ['POST /api/wp', 'PUT /api/wp/:id', 'PUT /api/wp/:id/disk']
    expect(opened.map(named).filter((one) => spends.includes(one))).toEqual([])
  })

  test('every call with every scope: what its scope opens, and no other', async () => {
    const an = await portal.customer()
    const held = new Map<TokenScope, string>()
    for (const scope of tokenScopes) held.set(scope, await tokenFor(an, { scopes: [scope] }))
    const wrong: string[] = []
    let asked = 0
    for (const [scope, token] of held) {
      for (const endpoint of ofCustomers) {
        const opens = endpoint.scope === scope || endpoint.scope === scope.replace('write', 'read')
        const answer = await ask(endpoint, token)
        asked += 1
        // Whatever it says of ids that nobody has, it was let in.
        const isOpen = answer.status !== 403
        if (isOpen !== opens || answer.status === 401 || answer.status >= 500)
          wrong.push(`${scope}: ${named(endpoint)}: ${answer.status}`)
        if (asked % 250 === 0) clock.advance(minutes(2))
      }
      // So many calls a minute are more than a token has.
      await portal.app.db.deleteFrom('rate_limit').execute()
    }
    expect(wrong).toEqual([])
    expect(asked).toBe(tokenScopes.length * ofCustomers.length)
  })

  test('and nothing of the staff, of sessions, or without its own prefix', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: [...tokenScopes] })
    const refused = await portal.call('GET', '/api/v1/auth/me', { token })
    expect(code(refused)).toEqual([403, 'forbidden'])
    expect(refused.body.message).toContain('No token opens this call')
    expect((await portal.call('GET', '/api/operator/session', { token })).status).toBe(401)
    const signedIn = await portal.call('POST', '/api/v1/auth/pusher', {
      token,
      body: { socket_id: '1.1', channel_name: `private-${an.id}` },
    })
    expect(code(signedIn)).toEqual([403, 'forbidden'])
    const lacking = await tokenFor(an, { scopes: ['servers:read'] })
    const other = await portal.call('GET', '/api/dns', { token: lacking })
    expect(code(other)).toEqual([403, 'forbidden'])
    expect(other.body.message).toBe('This token lacks the scope domains:read.')
    const inVietnamese = await portal.call('GET', '/api/dns', {
      token: lacking,
      headers: { 'accept-language': 'vi' },
    })
    expect(inVietnamese.body.message).toBe('Token này thiếu quyền domains:read.')
  })
})

describe('a token that is limited', () => {
  let an: TestCustomer
  let servers: string[]
  let domains: string[]
  beforeAll(async () => {
    an = await portal.customer()
    servers = [await order(an), await order(an)]
    domains = [await claim(an, 'mot-cua-toi.vn'), await claim(an, 'hai-cua-toi.vn')]
  })

  test('is shown its own servers and domains in lists, page by page', async () => {
    const token = await tokenFor(an, {
      scopes: ['servers:read', 'domains:read'],
      servers: [servers[0]],
      domains: [domains[1]],
    })
    const shown = await portal.call<{ id: string }[]>('GET', '/api/wp?limit=1', { token })
    expect(shown.body.result.map(({ id }) => id)).toEqual([servers[0]])
    expect(shown.body.page?.next).toBeNull()
    const all = await portal.call<{ data: { id: string }[] }>('GET', '/api/dns', { token })
    expect(all.body.result.data.map(({ id }) => id)).toEqual([domains[1]])
    const looked = await portal.call<{ data: unknown[] }>('GET', '/api/dns?search=mot-cua-toi', {
      token,
    })
    expect(looked.body.result.data).toEqual([])
    // Whoever is signed in sees both.
    const whole = await portal.call<{ id: string }[]>('GET', '/api/wp', { token: an.token })
    expect(whole.body.result).toHaveLength(2)
  })

  test('opens every call of its own server and domain, and of no other', async () => {
    const token = await tokenFor(an, {
      scopes: ['servers:write', 'domains:write'],
      servers: [servers[0]],
      domains: [domains[0]],
    })
    const own = { server: servers[0]!, domain: domains[0]! }
    const another = { server: servers[1]!, domain: domains[1]! }
    const wrong: string[] = []
    for (const endpoint of ofCustomers) {
      if (endpoint.scope === undefined || !/^(servers|domains):/.test(endpoint.scope)) continue
      const subject = subjectOf(endpoint)
      const asked = (id: string) => ask(endpoint, token, id)
      if (subject) {
        const elsewhere = await asked(another[subject])
        if (code(elsewhere).join() !== '403,forbidden')
          wrong.push(`another: ${named(endpoint)}: ${elsewhere.status}`)
        // A read does no harm here, in capitals as well.
        if (endpoint.method === 'GET' && (await asked(own[subject].toUpperCase())).status === 403)
          wrong.push(`own: ${named(endpoint)}`)
      } else {
        // What names none tells of all, or makes a new one: only lists that leave the rest out.
        const { status } = await asked('')
        if ((status === 403) === (endpoint.narrows === true))
          wrong.push(`all: ${named(endpoint)}: ${status}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('is limited to what is the customer’s, and sees neither wallet nor invoices', async () => {
    const stranger = await portal.customer()
    const theirs = await order(stranger)
    const refused = await make(an, { scopes: ['servers:read'], servers: [servers[0], theirs] })
    expect(refused.body.error?.fields).toHaveProperty('servers')
    const none = await make(an, { scopes: ['servers:read'], servers: ['no id'] })
    expect(none.body.error?.fields).toHaveProperty('servers')
    const foreign = await make(an, { scopes: ['domains:read'], domains: [nobody] })
    expect(foreign.body.error?.fields).toHaveProperty('domains')
    const paid = await make(an, { scopes: ['servers:read', 'invoices:read'], servers })
    expect(paid.body.error?.fields).toHaveProperty('scopes')
    // A token of one customer opens nothing of another, limited or not.
    const token = await tokenFor(an, { scopes: ['servers:write'] })
    expect((await portal.call('GET', `/api/wp/${theirs}`, { token })).status).toBe(404)
  })

  test('is told no link that opens an invoice, unless it may read invoices', async () => {
    const linksFor = async (token: string): Promise<string[]> =>
      (await portal.call<Server[]>('GET', '/api/wp', { token })).body.result.flatMap(
        ({ invoice }) => (invoice ? [invoice.hosted_invoice_url] : []),
      )
    const own = await linksFor(an.token)
    expect(own.map((link) => link.includes('/invoice'))).toEqual([true, true])
    expect(await linksFor(await tokenFor(an, { scopes: ['servers:write'] }))).toEqual(['', ''])
    const both = await tokenFor(an, { scopes: ['servers:read', 'invoices:read'] })
    expect(await linksFor(both)).toEqual(own)
  })

  test('does not move a name away from a server that it may not touch', async () => {
    const token = await tokenFor(an, { scopes: ['servers:write'], servers: [servers[0]] })
    await portal.app.db
      .insertInto('site_domain')
      .values({
        site_id: servers[1]!,
        customer_id: an.id,
        name: 'shop.mot-cua-toi.vn',
        verified: true,
        proof: 'txt',
        created_at: clock.now(),
        checked_at: clock.now(),
      })
      .execute()
    const taken = await portal.call('PUT', `/api/wp/${servers[0]}/domain`, {
      token,
      body: { domains: ['shop.mot-cua-toi.vn'] },
    })
    expect(taken.status).toBe(422)
  })
})

describe('a token', () => {
  test('is shown once, kept as a hash, and recognised by its form and checksum', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    expect(token).toMatch(/^cpt_[0-9A-Za-z]{50}$/)
    expect(publicIdOf(token)).toBe(token.slice(4, 16))
    const [shown] = await list(an)
    expect(shown).toMatchObject({ name: 'a program', begins: token.slice(0, 16), expired: false })
    expect(JSON.stringify(shown)).not.toContain(token.slice(16))
    const row = await portal.app.db
      .selectFrom('program_token')
      .selectAll()
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(token.slice(16, 40))
    // One letter changed: no token, and no look-up.
    for (let at = 4; at < token.length; at++) {
      const other = token[at] === 'a' ? 'b' : 'a'
      expect(publicIdOf(token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined()
    }
    // Of the right form, and of nobody; and one with the public part of another.
    const guessed = newToken()
    for (const wrong of [guessed.token, `${token}x`, token.slice(0, 16)])
      expect(code(await portal.call('GET', '/api/wp', { token: wrong }))).toEqual([
        401,
        'unauthenticated',
      ])
    await portal.app.db
      .updateTable('program_token')
      .set({ public_id: guessed.publicId })
      .where('id', '=', row.id)
      .execute()
    const stolen = await portal.call('GET', '/api/wp', { token: guessed.token })
    expect(code(stolen)).toEqual([401, 'unauthenticated'])
    expect(stolen.body.message).toBe('This token is unknown, revoked or expired.')
  })

  test('is made with the password, and the second factor of whoever has one', async () => {
    const an = await portal.customer()
    const wrong = await make(an, { scopes: ['servers:read'], password: 'not this one' })
    expect(wrong.body.error?.fields).toHaveProperty('password')
    const begun = await portal.call<{ secret: string }>('POST', '/api/v1/account/security/totp', {
      token: an.token,
      body: { password: an.password },
    })
    const { secret } = begun.body.result
    const confirmed = await portal.call('POST', '/api/v1/account/security/totp/confirm', {
      token: an.token,
      body: { code: totpAt(secret, stepOf(clock.now())) },
    })
    expect(confirmed.status).toBe(200)
    clock.advance(minutes(11))
    const asked = await make(an, { scopes: ['servers:read'] })
    expect(code(asked)).toEqual([403, 'reauthentication_required'])
    await portal.call('POST', '/api/v1/auth/reauthenticate', {
      token: an.token,
      body: { code: totpAt(secret, stepOf(clock.now())) },
    })
    expect((await make(an, { scopes: ['servers:read'] })).status).toBe(201)
    const letter = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('a program')),
    )
    expect(letter.text).toContain('servers:read')
    expect(letter.text).toContain('/account/programs')
  })

  test('ends by itself, after 90 days where nothing is said, after a year at most', async () => {
    const an = await portal.customer()
    const usual = await tokenFor(an, { scopes: ['servers:read'] })
    const long = await tokenFor(an, { scopes: ['servers:read'], expiresInDays: 365 })
    expect((await make(an, { scopes: ['servers:read'], expiresInDays: 366 })).status).toBe(422)
    const ask = async (token: string) => (await portal.call('GET', '/api/wp', { token })).status
    clock.advance(days(90) - seconds(1))
    expect(await ask(usual)).toBe(200)
    clock.advance(seconds(1))
    expect(await ask(usual)).toBe(401)
    expect(await ask(long)).toBe(200)
    clock.advance(days(275))
    expect(await ask(long)).toBe(401)
  })

  test('that is used is told of a week before it ends, once', async () => {
    const an = await portal.customer()
    const used = await tokenFor(an, { scopes: ['servers:read'], name: 'the one in use' })
    await tokenFor(an, { scopes: ['servers:read'], name: 'the idle one' })
    await portal.call('GET', '/api/wp', { token: used })
    const told = async () => {
      await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tell-ending-tokens', {}))
      await eventually('the job is done', async () => {
        const { rows } = await sql`select from pgboss.job
          where name = 'tell-ending-tokens' and state in ('created', 'active')`.execute(
          portal.app.db,
        )
        return rows.length === 0
      })
      const { rows } = await sql<{ name: string }>`select name from program_token
        where customer_id = ${an.id} and ending_told_at is not null`.execute(portal.app.db)
      return rows.map(({ name }) => name)
    }
    clock.advance(days(83) - seconds(1))
    expect(await told()).toEqual([])
    clock.advance(seconds(1))
    expect(await told()).toEqual(['the one in use'])
    await told()
    const letters = await eventually('the letter comes', async () => {
      const found = (await portal.inbox(an.email)).filter(({ text }) =>
        text.includes('hết hạn lúc'),
      )
      return found.length > 0 && found
    })
    expect(letters).toHaveLength(1)
    expect(letters[0]?.text).toContain('the one in use')
  })

  test('is used from where it may be, IPv4 and IPv6', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, {
      scopes: ['servers:read'],
      networks: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'],
    })
    const from = async (ip: string) =>
      code(await portal.call('GET', '/api/wp', { token, headers: { 'x-forwarded-for': ip } }))
    expect(await from('203.0.113.9')).toEqual([200, undefined])
    expect(await from('2001:db8:1::5')).toEqual([200, undefined])
    expect(await from('::ffff:198.51.100.7')).toEqual([200, undefined])
    for (const elsewhere of ['203.0.114.9', '2001:db9::1', '198.51.100.8', '127.0.0.1'])
      expect(await from(elsewhere)).toEqual([403, 'forbidden'])
    for (const odd of ['203.0.113', '203.0.113.0/33', 'example.vn', '2001:db8::/129'])
      expect((await make(an, { scopes: ['servers:read'], networks: [odd] })).status).toBe(422)
  })

  test('has its last use written, and seldom', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const used = async (ip: string) => {
      await portal.call('GET', '/api/wp', { token, headers: { 'x-forwarded-for': ip } })
      return (await list(an))[0]?.lastUsedFrom
    }
    expect((await list(an))[0]?.lastUsedAt).toBeNull()
    expect(await used('203.0.113.1')).toBe('203.0.113.1')
    expect(await used('203.0.113.2')).toBe('203.0.113.1')
    clock.advance(minutes(5) + seconds(1))
    expect(await used('203.0.113.2')).toBe('203.0.113.2')
  })

  test('is revoked at once, by its own customer only', async () => {
    const [an, other] = [await portal.customer(), await portal.customer()]
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const [{ id } = { id: '' }] = await list(an)
    const revoke = (who: TestCustomer) =>
      portal.call('DELETE', `/api/v1/account/tokens/${id}`, { token: who.token })
    expect((await revoke(other)).status).toBe(404)
    expect((await portal.call('GET', '/api/wp', { token })).status).toBe(200)
    expect((await revoke(an)).status).toBe(200)
    expect((await portal.call('GET', '/api/wp', { token })).status).toBe(401)
    expect(await list(an)).toEqual([])
  })

  test('of one customer there are twenty at most, however many are made at once', async () => {
    const an = await portal.customer()
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => make(an, { scopes: ['servers:read'] })),
    )
    expect(tries.every(({ status }) => status === 201)).toBe(true)
    for (let more = 6; more < 18; more++) await tokenFor(an, { scopes: ['servers:read'] })
    const last = await Promise.all(
      Array.from({ length: 4 }, () => make(an, { scopes: ['servers:read'] })),
    )
    expect(last.filter(({ status }) => status === 409)).toHaveLength(2)
    expect(await list(an)).toHaveLength(20)
  })

  test('that calls too often is told to wait; other tokens and the customer are not', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const other = await tokenFor(an, { scopes: ['servers:read'] })
    let refused: Answer | undefined
    for (let calls = 0; calls < 320 && !refused; calls++) {
      const answer = await portal.call('GET', '/api/wp', { token })
      if (answer.status !== 200) refused = answer
    }
    expect(refused && code(refused)).toEqual([429, 'rate_limited'])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await portal.call('GET', '/api/wp', { token: other })).status).toBe(200)
    expect((await portal.call('GET', '/api/wp', { token: an.token })).status).toBe(200)
  })

  test('is answered nothing under a key that the customer or another token used', async () => {
    const an = await portal.customer()
    const domain = await claim(an, 'khoa-chung.vn')
    const [one, two] = [
      await tokenFor(an, { scopes: ['domains:write'] }),
      await tokenFor(an, { scopes: ['domains:write'] }),
    ]
    const body = { name: 'www', type: 'A', content: '192.0.2.1', ttl: 300 }
    const add = (token: string) =>
      portal.call('POST', `/api/dns/${domain}/records`, {
        token,
        body,
        headers: { 'idempotency-key': 'the same for all' },
      })
    const first = await add(one)
    expect(first.status, first.text).toBe(201)
    expect((await add(one)).headers.get('idempotency-replayed')).toBe('true')
    for (const token of [two, an.token])
      expect((await add(token)).headers.get('idempotency-replayed')).toBeNull()
  })
})

describe('every token ends', () => {
  const isGone = async (token: string): Promise<boolean> =>
    (await portal.call('GET', '/api/wp', { token })).status === 401

  test('when the owner says that a sign-in was not theirs', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    await portal.call('POST', '/api/v1/auth/login', {
      body: { email: an.email, password: an.password },
      headers: { 'x-forwarded-for': '198.51.100.77', 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
    })
    const letter = await eventually('the letter comes', async () =>
      (await portal.inbox(an.email)).find(({ text }) => text.includes('not-me')),
    )
    const link = /token=([\w-]+)/.exec(letter.text)?.[1] ?? ''
    expect(await isGone(token)).toBe(false)
    const denied = await portal.call('POST', '/api/v1/auth/not-me', { body: { token: link } })
    expect(denied.status, denied.text).toBe(200)
    expect(await isGone(token)).toBe(true)
    expect(
      await portal.app.db
        .selectFrom('program_token')
        .select('id')
        .where('customer_id', '=', an.id)
        .execute(),
    ).toEqual([])
  })

  test('when the customer is blocked, and stays ended when they are not any more', async () => {
    const an = await portal.customer()
    const token = await tokenFor(an, { scopes: ['servers:read'] })
    const acts = createAccountActs({
      clock,
      endLive: async () => undefined,
      endPrograms: createEndPrograms(clock),
      endTeam,
    })
    await transaction(portal.app.db, (tx) => acts.block(tx, an.id))
    expect(await isGone(token)).toBe(true)
    await transaction(portal.app.db, (tx) => acts.unblock(tx, an.id))
    expect(await isGone(token)).toBe(true)
  })
})

test('the API document names the scheme, and the scope of each call', async () => {
  const document = (await (await fetch(`${portal.url}/api/openapi.json`)).json()) as {
    components: { securitySchemes: Record<string, { scheme: string; description: string }> }
    paths: Record<string, Record<string, { security: Record<string, string[]>[] }>>
  }
  expect(document.components.securitySchemes['token']).toMatchObject({
    type: 'http',
    scheme: 'bearer',
  })
  for (const scope of tokenScopes)
    expect(document.components.securitySchemes['token']?.description).toContain(scope)
  const wrong = ofCustomers.filter((endpoint) => {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}')
    const told = document.paths[path]?.[endpoint.method.toLowerCase()]?.security
      .map((one) => one['token']?.[0])
      .find((one) => one !== undefined)
    return told !== endpoint.scope
  })
  expect(wrong.map(named)).toEqual([])
})
