/** A name below another one, while that one comes to our name servers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Domain } from '../../contract/dns.ts'
import { dig } from '../../test/dig.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { createDelegation, ownAddresses } from './addresses.ts'
import { judge } from './below.ts'
import type { DelegationCheck } from './delegation/index.ts'

let portal: TestPortal
let owner: TestCustomer
let stranger: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  owner = await portal.customer()
  stranger = await portal.customer()
})
afterAll(() => portal.close())

async function claim(name: string, { token }: TestCustomer): Promise<Domain> {
  const made = await portal.call<Domain>('POST', '/api/dns', { token, body: { name } })
  expect(made.status, made.text).toBe(201)
  return made.body.result
}
async function delegate({ name, nameserver: nameservers }: Domain): Promise<void> {
  const answer = await fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, nameservers }),
  })
  expect(answer.ok).toBe(true)
}

test('the answer of our own server proves no name below, however the looks fall', async () => {
  const domain = await claim('giua-chung.com', owner)
  const below = await claim(`login.${domain.name}`, stranger)
  const { DNS_NAME_SERVERS: names, DNS_PORT: port, HOST: host } = portal.config
  for (const { name } of [domain, below])
    await expect.poll(async () => (await dig(port, { name, type: 'SOA' })).answer).toHaveLength(1)
  const real = createDelegation({
    roots: [`127.0.0.1:${portal.registryPort}`],
    withSandbox: true,
    own: { addresses: ownAddresses([], host), port, names },
    sites: { addresses: () => Promise.resolve([]), certificateIssuers: [] },
  })
  let looks = 0
  const delegation: DelegationCheck = {
    ...real,
    // The owner delegates between the look at the name above and the look at this one.
    async check(of) {
      const found = await real.check(of)
      looks += 1
      if (looks === 1) await delegate(domain)
      return found
    },
  }
  const zone = { name: below.name, name_servers: below.nameserver }
  const judged = await judge({ db: portal.app.db, delegation, pool: new Set(names) }, zone)
  expect(looks).toBeGreaterThan(2)
  expect(judged).toMatchObject({ foreign: true, verdict: { isValid: false } })
})
