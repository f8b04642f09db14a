/**
 * A domain that was let go of here while its registrar still names our name servers cannot be had
 * by turning through the pairs of names.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Check, Domain } from '../../contract/dns.ts'
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
  // Many accounts, for one account may claim a name only so often.
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
  // Too often for a day; another name is taken as before, and this one on the next.
  expect(await claim('moved.com', attacker)).toMatchObject({
    status: 429,
    body: { error: { code: 'rate_limited' } },
  })
  expect((await claim('another.com', attacker)).status).toBe(201)
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
