/**
 * A customer's domains and records at a test portal, written through the API and queried at its
 * name server.
 */
import { expect } from 'vitest'
import type { Domain, Record as DnsRecord } from '../contract/dns.ts'
import { dig } from './dig.ts'
import { eventually, type TestCustomer, type TestPortal } from './portal.ts'

/** What an owner of domains does. Owner and portal must exist when the functions are called. */
export function domainsOf(owner: () => TestCustomer, portal: () => TestPortal) {
  let names = 0
  const call = <T>(
    method: string,
    path: string,
    body?: unknown,
    who = owner(),
    headers?: Record<string, string>,
  ) =>
    portal().call<T>(method, path, {
      token: who.token,
      ...(body !== undefined && { body }),
      ...(headers && { headers }),
    })
  const create = async (name = `shop${++names}.com.vn`, who = owner()): Promise<Domain> => {
    const made = await call<Domain>('POST', '/api/dns', { name }, who)
    if (made.status !== 201) throw new Error(made.text)
    return made.body.result
  }
  /**
   * The registry delegates the domain to its pair, and the portal finds it so; a check is allowed
   * every 2 s.
   */
  const activate = async (domain: Domain): Promise<void> => {
    await fetch(`${portal().sandboxUrl}/registry.json`, {
      method: 'POST',
      body: JSON.stringify({ name: domain.name, nameservers: domain.nameserver }),
    })
    let checkedAt = Number.NEGATIVE_INFINITY
    await eventually(`${domain.name} being active`, async () => {
      if (Date.now() - checkedAt > 2_000) {
        checkedAt = Date.now()
        await call('POST', `/api/dns/${domain.id}/check`)
      }
      return (await call<{ active: boolean }>('GET', `/api/dns/${domain.id}`)).body.result.active
    })
  }
  const post = (domain: Domain, over: object, who = owner()) =>
    call<DnsRecord>(
      'POST',
      `/api/dns/${domain.id}/records`,
      {
        id: domain.id,
        name: 'www',
        type: 'A',
        content: '203.0.113.7',
        ttl: 300,
        proxied: true,
        ...over,
      },
      who,
    )
  const add = async (domain: Domain, over: object): Promise<DnsRecord> => {
    const made = await post(domain, over)
    if (made.status !== 201) throw new Error(made.text)
    return made.body.result
  }
  const records = async (domain: Domain, query = ''): Promise<DnsRecord[]> =>
    (await call<{ data: DnsRecord[] }>('GET', `/api/dns/${domain.id}/records${query}`)).body.result
      .data
  const answers = async (name: string, type: string): Promise<readonly string[]> =>
    (await dig(portal().config.DNS_PORT, { name, type, edns: 1232 })).answer
  /** contract.md promises an answer within a second; the module achieves 200 ms. */
  const resolves = (name: string, type: string, lines: readonly string[]) =>
    expect.poll(() => answers(name, type), { timeout: 200, interval: 5 }).toEqual(lines)

  return { call, create, activate, post, add, records, answers, resolves }
}
