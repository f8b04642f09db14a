/**
 * A domain released here whose registrar still names our name servers cannot be taken over by
 * cycling through pairs of names.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Check, Domain } from '../../contract/dns.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestCustomer
beforeAll(async () => {
  // Four name servers are six pairs.
  portal = await openTestPortal({ clock, env: { DNS_NAME_SERVERS: 'ns[1-4].dns.example.net' } })
  owner = await portal.customer()
})
afterAll(() => portal.close())

const call = <T>(method: string, path: string, who: TestCustomer, body?: unknown) =>
  portal.call<T>(method, path, { token: who.token, ...(body !== undefined && { body }) })
const claim = (name: string, who: TestCustomer) => call<Domain>('POST', '/api/dns', who, { name })
async function delegate(name: string, nameservers: readonly string[]): Promise<void> {
  const answer = await fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, nameservers }),
  })
  expect(answer.status).toBe(200)
}
const isValid = async (name: string, who: TestCustomer): Promise<boolean> =>
  (await call<Check>('GET', `/api/dns/check?domain=${name}`, who)).body.result.isValid
const releaseDomain = (domain: Domain, who: TestCustomer) =>
  call('DELETE', `/api/dns/${domain.id}`, who)

test('whoever claims it again and again never gets the pair that the parent names', async () => {
  const left = (await claim('gone.com', owner)).body.result
  await delegate('gone.com', left.nameserver)
  expect(await isValid('gone.com', owner)).toBe(true)
  expect((await releaseDomain(left, owner)).status).toBe(200)

  const given = new Set<string>()
  // Several accounts, because one account may claim a name only a few times.
  for (let account = 0; account < 3; account++) {
    const attacker = await portal.customer()
    for (let turn = 0; turn < 5; turn++) {
      const { status, body } = await claim('gone.com', attacker)
      expect(status).toBe(201)
      given.add(body.result.nameserver.join())
      expect(await isValid('gone.com', attacker)).toBe(false)
      await releaseDomain(body.result, attacker)
    }
  }
  expect(given).not.toContain(left.nameserver.join())
  expect(given.size).toBe(5)
}, 120_000)

test('a pair active for another stays out of reach though the parent forgot it', async () => {
  const left = (await claim('moved.com', owner)).body.result
  await delegate('moved.com', left.nameserver)
  expect(await isValid('moved.com', owner)).toBe(true)
  await releaseDomain(left, owner)
  await delegate('moved.com', ['ns1.elsewhere.example', 'ns2.elsewhere.example'])
  const attacker = await portal.customer()
  for (let turn = 0; turn < 5; turn++) {
    const { body } = await claim('moved.com', attacker)
    expect(body.result.nameserver).not.toEqual(left.nameserver)
    await releaseDomain(body.result, attacker)
  }
  // The sixth claim of a day is refused; another name can still be claimed, and this one on the
  // next day.
  expect(await claim('moved.com', attacker)).toMatchObject({
    status: 429,
    body: { error: { code: 'rate_limited' } },
  })
  expect((await claim('another.com', attacker)).status).toBe(201)
}, 120_000)

test('a stranger’s earlier claim is not answered for a domain that moves in', async () => {
  const stranger = await portal.customer()
  const person = await portal.customer()
  const { answers, post, resolves } = domainsOf(
    () => stranger,
    () => portal,
  )
  const theirs = (await claim('arrives.com', stranger)).body.result
  const record = { id: theirs.id, name: 'www', type: 'A', ttl: 300, proxied: false }
  expect((await post(theirs, { content: '203.0.113.66' })).status).toBe(201)
  await resolves('www.arrives.com', 'A', ['www.arrives.com 300 A 203.0.113.66'])
  const own = (await claim('arrives.com', person)).body.result
  const added = await call('POST', `/api/dns/${own.id}/records`, person, {
    ...record,
    id: own.id,
    content: '203.0.113.7',
  })
  expect(added.status, added.text).toBe(201)
  await resolves('www.arrives.com', 'A', [])
  await delegate('arrives.com', own.nameserver)
  expect(await answers('www.arrives.com', 'A')).toEqual([])
  // A stranger's check helps the owner: the parent names a pair that is not the stranger's.
  expect(await isValid('arrives.com', stranger)).toBe(false)
  await resolves('www.arrives.com', 'A', ['www.arrives.com 300 A 203.0.113.7'])
  expect(await isValid('arrives.com', person)).toBe(true)
  await resolves('www.arrives.com', 'A', ['www.arrives.com 300 A 203.0.113.7'])
}, 120_000)

test('nobody is given the pair of a claim that another account has', async () => {
  const stranger = await portal.customer()
  const kept = (await claim('paired.com', stranger)).body.result
  const turning = await portal.customer()
  for (let turn = 0; turn < 5; turn++) {
    const { status, body } = await claim('paired.com', turning)
    if (status === 201) await releaseDomain(body.result, turning)
  }
  const person = await portal.customer()
  const { status, body } = await claim('paired.com', person)
  expect(status).toBe(201)
  expect(body.result.nameserver.toSorted()).not.toEqual(kept.nameserver.toSorted())
}, 120_000)

test('a claim of a name above that nobody proved hides no domain below', async () => {
  const person = await portal.customer()
  const { create, add, resolves } = domainsOf(
    () => person,
    () => portal,
  )
  const own = await create('login.unproven.com')
  await add(own, {})
  const answer = ['www.login.unproven.com 300 A 203.0.113.7']
  await resolves('www.login.unproven.com', 'A', answer)
  const stranger = await portal.customer()
  const above = (await claim('unproven.com', stranger)).body.result
  await add(own, { name: 'api' })
  await resolves('api.login.unproven.com', 'A', ['api.login.unproven.com 300 A 203.0.113.7'])
  // The owner is proven now: the name below is the owner's to delegate.
  await delegate('unproven.com', above.nameserver)
  expect(await isValid('unproven.com', stranger)).toBe(true)
  await resolves('www.login.unproven.com', 'A', [])
}, 120_000)

test('where every pair is out of reach the claim is refused and nothing is written', async () => {
  const name = 'crowded.com'
  for (let turn = 0; turn < 6; turn++) {
    const person = await portal.customer()
    const { status, body } = await claim(name, person)
    expect(status).toBe(201)
    await delegate(name, body.result.nameserver)
    expect(await isValid(name, person)).toBe(true)
    await releaseDomain(body.result, person)
  }
  const late = await portal.customer()
  expect(await claim(name, late)).toMatchObject({
    status: 409,
    body: {
      error: { code: 'conflict', fields: { name: expect.stringContaining('registrar') as string } },
    },
  })
  expect((await call<{ data: Domain[] }>('GET', '/api/dns', late)).body.result.data).toEqual([])
}, 120_000)
