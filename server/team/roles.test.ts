/**
 * The calls that each role opens in another customer's account: a table derived from the contract.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as contract from '../../contract/index.ts'
import { memberActs } from '../../contract/member-acts.ts'
import {
  memberRefusal,
  memberRoles,
  memberRolesThatMay,
  permissionsOf,
  type MemberRole,
} from '../../contract/member-roles.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { subjectOf } from '../../contract/token-scopes.ts'
import {
  manualClock,
  openTestPortal,
  type Answer,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { join, work } from '../../test/team.ts'
import { minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

const endpoints = Object.values(contract)
  .flatMap((part) => (typeof part === 'object' ? Object.values(part as object) : []))
  .filter(
    (one): one is Endpoint =>
      typeof one === 'object' && one !== null && 'method' in one && 'path' in one,
  )
const ofCustomers = endpoints.filter(
  ({ access, identifies }) => access === 'customer' || identifies === true,
)
const named = ({ method, path }: Endpoint) => `${method} ${path}`
const nobody = '00000000-0000-4000-8000-000000000000'
/** With an empty body. */
const ask = (endpoint: Endpoint, token: string, id = nobody): Promise<Answer> => {
  const { method, path, takesBytes } = endpoint
  return portal.call(method, path.replace(':id', id).replace(/:\w+/g, nobody), {
    token,
    ...(method !== 'GET' && method !== 'DELETE' && { body: takesBytes ? ' ' : {} }),
    ...(takesBytes && { headers: { 'content-type': 'application/octet-stream' } }),
  })
}
const code = (answer: Answer): string | undefined =>
  (answer.body as Answer['body'] | undefined)?.error?.code

/** These calls end the session that makes them, so they come last. */
const ends = ['POST /api/v1/auth/logout', 'POST /api/v1/auth/lock']
const inOrder = [
  ...ofCustomers.filter((one) => !ends.includes(named(one))),
  ...ofCustomers.filter((one) => ends.includes(named(one))),
]

describe('which call is open to a member', () => {
  test('is shown in a tab just where the server opens it', () => {
    const calls = ofCustomers.flatMap((one) =>
      one.member === undefined || one.member === 'self' ? [] : [{ ...one, member: one.member }],
    )
    for (const role of memberRoles) {
      const whole = { role, servers: null, domains: null }
      for (const call of calls)
        expect(
          permissionsOf(whole).includes(call.member),
          `${role}: ${call.method} ${call.path}`,
        ).toBe(memberRefusal(whole, call, nobody) === undefined)
      // With limits to some servers and domains: permissions contain what the role still opens.
      const some = { role, servers: [nobody], domains: [nobody] }
      for (const call of calls)
        if (call.narrows !== true && memberRefusal(some, call, nobody) === undefined)
          expect(permissionsOf(some)).toContain(call.member)
      expect(permissionsOf(some)).not.toContain('money:read')
    }
  })

  test('is said in the contract, and what is the owner’s own never is', () => {
    expect(ofCustomers.length).toBeGreaterThan(170)
    const open = ofCustomers.filter(({ member }) => member !== undefined)
    expect(open.length).toBeGreaterThan(130)
    const own = new RegExp(
      '^/api/v1/account/(password|email|phone|sessions|sign-ins|security|tokens|webhooks|data|' +
        'close|closing)|^/api/v1/team/(members|invitations|acts)|/sftp/keys|' +
        '^/api/v1/auth/(unlock|pusher)|notifications/read',
    )
    expect(open.filter(({ path }) => own.test(path)).map(named)).toEqual([])
    expect(endpoints.filter((one) => one.member && !ofCustomers.includes(one))).toEqual([])
    // A role that only reads is open to no write but that which leaves the account.
    const writes = open.filter(({ method }) => method !== 'GET')
    const read = writes.filter(
      ({ member }) =>
        member && member !== 'self' && memberRolesThatMay[member].includes('read_only'),
    )
    expect(read.map(named)).toEqual(['POST /api/v1/auth/logout'])
  })

  test('has a sentence for the owner where it changes something, and no sentence is left', () => {
    const writes = ofCustomers
      .filter(({ method, member }) => method !== 'GET' && member !== undefined && member !== 'self')
      .map(named)
    expect(Object.keys(memberActs).toSorted()).toEqual(
      [...writes, 'POST /api/v1/team/accounts/:id/enter'].toSorted(),
    )
  })

  test('every call with every role: what the role opens, and no other', async () => {
    const owner = await portal.customer()
    const wrong: string[] = []
    const table = new Map<MemberRole, number>()
    let asked = 0
    for (const role of memberRoles) {
      const person = await portal.customer()
      const token = await work(portal, person, await join(portal, owner, person, { role }))
      for (const endpoint of inOrder) {
        const { member } = endpoint
        const opens = member !== undefined && memberRolesThatMay[member].includes(role)
        // The lock needs a call before the account is left.
        if (named(endpoint) === ends[0]) await portal.app.db.deleteFrom('rate_limit').execute()
        const answer = await ask(endpoint, token)
        asked += 1
        if (opens) table.set(role, (table.get(role) ?? 0) + 1)
        // Any answer about unknown ids other than 403 means that the call was admitted.
        const isOpen = answer.status !== 403
        const ended = answer.status === 401 && !ends.includes(named(endpoint))
        if (isOpen !== opens || ended || answer.status >= 500)
          wrong.push(`${role}: ${named(endpoint)}: ${answer.status} ${answer.text.slice(0, 80)}`)
        if (asked % 250 === 0) clock.advance(minutes(2))
      }
    }
    expect(wrong).toEqual([])
    expect(asked).toBe(memberRoles.length * ofCustomers.length)
    expect(asked - [...table.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThan(250)
  })
})

describe('a member who is limited', () => {
  let owner: TestCustomer
  let servers: string[]
  let domains: string[]
  const order = async (): Promise<string> => {
    const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: owner.token,
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
  const claim = async (name: string): Promise<string> => {
    const made = await portal.call<{ id: string }>('POST', '/api/dns', {
      token: owner.token,
      body: { name },
    })
    expect(made.status, made.text).toBe(201)
    return made.body.result.id
  }
  beforeAll(async () => {
    owner = await portal.customer()
    servers = [await order(), await order()]
    domains = [await claim('mot-cua-nhom.vn'), await claim('hai-cua-nhom.vn')]
  })

  test('opens every call of the own server and domain, and of no other', async () => {
    const person = await portal.customer()
    const id = await join(portal, owner, person, {
      role: 'technical',
      servers: [servers[0]],
      domains: [domains[0]],
    })
    const token = await work(portal, person, id)
    const own = { server: servers[0]!, domain: domains[0]! }
    const another = { server: servers[1]!, domain: domains[1]! }
    const wrong: string[] = []
    for (const endpoint of ofCustomers) {
      const { member } = endpoint
      if (member === undefined || member === 'self' || member === 'look') continue
      if (!memberRolesThatMay[member].includes('technical')) continue
      const subject = subjectOf(endpoint)
      if (subject && member !== 'zones') {
        const elsewhere = await ask(endpoint, token, another[subject])
        if (elsewhere.status !== 403) wrong.push(`another: ${named(endpoint)}: ${elsewhere.status}`)
        const asked = () => ask(endpoint, token, own[subject].toUpperCase())
        // A read does no harm here, in capitals as well.
        if (endpoint.method === 'GET' && (await asked()).status === 403)
          wrong.push(`own: ${named(endpoint)}`)
      } else {
        // A call without an id is about everything or creates something: with limits only lists
        // that filter are open.
        const { status } = await ask(endpoint, token, subject && own[subject])
        if ((status === 403) === (endpoint.narrows === true))
          wrong.push(`all: ${named(endpoint)}: ${status}`)
      }
    }
    expect(wrong).toEqual([])
    const shown = await portal.call<{ id: string }[]>('GET', '/api/wp', { token })
    expect(shown.body.result.map((one) => one.id)).toEqual([servers[0]])
    const zones = await portal.call<{ data: { id: string }[] }>('GET', '/api/dns', { token })
    expect(zones.body.result.data.map((one) => one.id)).toEqual([domains[0]])
  })

  test('to nothing of one kind sees none of it, also what comes later', async () => {
    const person = await portal.customer()
    const id = await join(portal, owner, person, { role: 'read_only', domains: [] })
    const token = await work(portal, person, id)
    const zones = await portal.call<{ data: unknown[] }>('GET', '/api/dns', { token })
    expect(zones.body.result.data).toEqual([])
    await claim('ba-cua-nhom.vn')
    const later = await portal.call<{ data: unknown[] }>('GET', '/api/dns', { token })
    expect(later.body.result.data).toEqual([])
    const all = await portal.call<unknown[]>('GET', '/api/wp', { token })
    expect(all.body.result).toHaveLength(2)
    // Wallet and invoices name every domain.
    expect(code(await portal.call('GET', '/api/payments/stripe', { token }))).toBe('forbidden')
    const me = await portal.call<{ balance: number; email: string }>('GET', '/api/v1/auth/me', {
      token,
    })
    expect(me.body.result).toMatchObject({ balance: 0, email: '', phone: '' })
  })

  test('is changed when something of the list is gone', async () => {
    const gone = await claim('bon-cua-nhom.vn')
    const person = await portal.customer()
    const id = await join(portal, owner, person, {
      role: 'technical',
      domains: [domains[0], gone],
    })
    const { token, password } = owner
    expect((await portal.call('DELETE', `/api/dns/${gone}`, { token })).status).toBe(200)
    const change = (of: object) =>
      portal.call<{ domains: string[] }>('PUT', `/api/v1/team/members/${id}`, {
        token,
        body: { role: 'read_only', servers: null, password, ...of },
      })
    const changed = await change({ domains: [domains[0], gone] })
    expect([changed.status, changed.body.result.domains]).toEqual([200, [domains[0]]])
    // It is no longer in the member's list.
    const again = await change({ domains: [gone] })
    expect(again.body.error?.fields).toHaveProperty('domains')
  })

  test('is limited to what is the owner’s, and to roles that do not need the whole', async () => {
    const invite = (rights: object) =>
      portal.call('POST', '/api/v1/team/invitations', {
        token: owner.token,
        body: { email: 'ai-do@example.vn', ...rights, password: owner.password },
      })
    const stranger = await portal.customer()
    const foreign = await invite({ role: 'technical', servers: [servers[0], stranger.id] })
    expect(foreign.body.error?.fields).toHaveProperty('servers')
    const none = await invite({ role: 'technical', domains: ['no id'] })
    expect(none.body.error?.fields).toHaveProperty('domains')
    const whole = await invite({ role: 'billing', servers: [servers[0]] })
    expect(whole.body.error?.fields).toHaveProperty('role')
    const nobodys = await invite({ role: 'admin' })
    expect(nobodys.body.error?.fields).toHaveProperty('role')
  })
})
