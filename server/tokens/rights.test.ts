/** The rights of a token for programs: which calls, and which servers and domains. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../contract/endpoint.ts'
import { subjectOf, tokenScopes, type TokenScope } from '../../contract/token-scopes.ts'
import type { Server } from '../../contract/wordpress.ts'
import { endpoints } from '../../test/endpoints.ts'
import { code } from '../../test/newcomers.ts'
import {
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { tokensAt } from '../../test/tokens.ts'
import { minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { TRUST_PROXY: 'on' } })
})
afterAll(() => portal.close())
const { make, tokenFor, claim } = tokensAt(() => portal)

/** An unpaid order counts as a server, too. */
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

/** Every call of the contract that a customer makes. */
const ofCustomers = endpoints.filter(({ access }) => access === 'customer')
const named = ({ method, path }: Endpoint) => `${method} ${path}`
const nobody = '00000000-0000-4000-8000-000000000000'
const addressOf = ({ path }: Endpoint, id = nobody): string =>
  path.replace(':id', id).replace(/:\w+/g, nobody)

/** With an empty body. */
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
        // Any answer about unknown ids other than 403 means that the call was admitted.
        const isOpen = answer.status !== 403
        if (isOpen !== opens || answer.status === 401 || answer.status >= 500)
          wrong.push(`${scope}: ${named(endpoint)}: ${answer.status}`)
        if (asked % 250 === 0) clock.advance(minutes(2))
      }
      // The test makes more calls a minute than a token may.
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
    // A signed-in customer sees both.
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
        // A call without an id is about everything or creates something: with limits only lists
        // that filter are open.
        const { status } = await asked('')
        if ((status === 403) === (endpoint.narrows === true))
          wrong.push(`all: ${named(endpoint)}: ${status}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('checks, and so activates, its own domain alone, if it may write', async () => {
    const limits = { domains: [domains[0]] }
    const token = await tokenFor(an, { scopes: ['domains:write'], ...limits })
    const check = (name: string, by = token) =>
      portal.call('GET', `/api/dns/check?domain=${name}`, { token: by })
    expect((await check('mot-cua-toi.vn')).status).toBe(200)
    expect((await check('hai-cua-toi.vn')).status).toBe(404)
    const reads = await tokenFor(an, { scopes: ['domains:read'] })
    expect((await check('mot-cua-toi.vn', reads)).body.message).toBe(
      'This token lacks the scope domains:write.',
    )
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
