/**
 * Domains through the API: claiming one, pointing it at a site, and the name server's answers,
 * after a restart too.
 */
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain } from '../../contract/dns.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
let binh: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  an = await portal.customer()
  binh = await portal.customer()
})
afterAll(() => portal.close())
const { call, create, post, add, answers, resolves } = domainsOf(
  () => an,
  () => portal,
)

describe('domains', () => {
  test('a domain is claimed, shown, listed, and answered while it waits', async () => {
    const domain = await create('Chào-Mừng.vn')
    expect(domain).toMatchObject({
      name: 'chào-mừng.vn',
      ascii: 'xn--cho-mng-9va6330e.vn',
      active: false,
      verification: { found: [] },
      movedAt: null,
      capabilities: { proxied: false },
    })
    expect(domain.nameserver).toHaveLength(2)
    expect(domain.verification.expected).toEqual(domain.nameserver)
    expect((await call<Domain>('GET', `/api/dns/${domain.id}`)).body.result).toMatchObject({
      id: domain.id,
      name: 'chào-mừng.vn',
    })
    const list = await call<{ data: Domain[] }>('GET', '/api/dns?search=ch%C3%A0o')
    expect(list.body.result.data.map(({ id }) => id)).toEqual([domain.id])
    await resolves(
      domain.ascii,
      'NS',
      domain.nameserver.map((host) => `${domain.ascii} 3600 NS ${host}`),
    )
  })

  test('what is no domain of one’s own is refused, and nothing is written', async () => {
    const before = (await call<{ data: Domain[] }>('GET', '/api/dns')).body.result.data.length
    for (const name of [
      'com',
      'com.vn',
      'github.io',
      'localhost',
      '127.0.0.1',
      '::1',
      'a b.vn',
      'a..vn',
      '-a.vn',
      `${'a'.repeat(64)}.vn`,
      '1.2.3',
      'x',
    ])
      expect(await call('POST', '/api/dns', { name }), name).toMatchObject({
        status: 422,
        body: { error: { code: 'invalid_input', fields: { name: expect.any(String) as string } } },
      })
    for (const name of [
      'ns1.letspanel-dns.example',
      'letspanel-dns.example',
      'x.letspanel-dns.example',
      'example',
    ])
      expect((await call('POST', '/api/dns', { name })).status, name).toBe(422)
    expect((await call<{ data: Domain[] }>('GET', '/api/dns')).body.result.data).toHaveLength(
      before,
    )
  })

  test('pasted with a scheme and a path, it is still a domain', async () => {
    expect((await create('https://Pasted-Name.vn/index.html')).name).toBe('pasted-name.vn')
  })

  test('each account has its own pair for its domains; a returning name gets another', async () => {
    const first = await create()
    const second = await create()
    expect(second.nameserver).toEqual(first.nameserver)
    const other = await create(undefined, binh)
    expect(other.nameserver).not.toEqual(first.nameserver)
    const pairs = new Set([first.nameserver.join()])
    for (let again = 0; again < 3; again++) {
      const [{ id } = first] = (
        await call<{ data: Domain[] }>('GET', `/api/dns?search=${first.name}`)
      ).body.result.data
      expect((await call('DELETE', `/api/dns/${id}`)).status).toBe(200)
      pairs.add((await create(first.name)).nameserver.join())
    }
    expect(pairs.size).toBe(4)
  })

  test('twice in one list is a conflict; two accounts may wait, and none is answered', async () => {
    const mine = await create()
    expect((await call('POST', '/api/dns', { name: mine.name.toUpperCase() })).status).toBe(409)
    const theirs = await create(mine.name, binh)
    await post(theirs, { content: '198.51.100.66' }, binh)
    await post(mine, {})
    await resolves(`www.${mine.name}`, 'A', [])
    expect((await call('DELETE', `/api/dns/${mine.id}`)).status).toBe(200)
    await resolves(`www.${mine.name}`, 'A', [`www.${mine.name} 300 A 198.51.100.66`])
  })

  test('two accounts that delete their claims of one name at once both succeed', async () => {
    for (let round = 0; round < 8; round++) {
      const claims = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const mine = await create()
          return [
            [mine, an],
            [await create(mine.name, binh), binh],
          ] as const
        }),
      )
      const answers = await Promise.all(
        claims
          .flat()
          .toReversed()
          .map(([claim, who]) => call('DELETE', `/api/dns/${claim.id}`, undefined, who)),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    }
  })

  test("somebody else's domain does not exist", async () => {
    const domain = await create()
    const record = await add(domain, {})
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/records'],
      ['POST', '/records', { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300 }],
      ['GET', `/records/${record.id}`],
      [
        'PUT',
        `/records/${record.id}`,
        { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300 },
      ],
      ['DELETE', `/records/${record.id}`],
      ['GET', '/zone'],
      ['POST', '/zone', { content: 'a' }],
      ['GET', '/changes'],
      ['POST', '/changes/1/undo', {}],
      ['POST', '/point', { wp: 'x' }],
    ] as const) {
      expect(
        (await call(method, `/api/dns/${domain.id}${path}`, body, binh)).status,
        `${method} ${path}`,
      ).toBe(404)
      expect((await call(method, `/api/dns/none${path}`, body)).status, `${method} ${path}`).toBe(
        404,
      )
    }
    expect(
      (await call('GET', `/api/dns/check?domain=${domain.name}`, undefined, binh)).status,
    ).toBe(404)
  })
})

/** Delegates as the name's owner does at the registrar. */
const delegate = (domain: Domain) =>
  fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: domain.name, nameservers: domain.nameserver }),
  })
/** The status that visitors of the name get. */
const statusOn = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port: portal.config.SITES_PORT, path: '/', headers: { host } },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        },
      )
      .on('error', reject)
  })

test(
  'a domain is pointed at a WordPress server in one change, which can be undone',
  { timeout: 120_000 },
  async () => {
    await portal.topUp(an, 1_000_000)
    const order = {
      size: 1,
      region: 1,
      disk: 10_240,
      mariadb_disk_size: 10_240,
      user: 'an',
      password: 'Secret-pass-9!',
      replicate: 1,
    }
    const { id } = (await call<{ id: string }>('POST', '/api/wp', order)).body.result
    const site = (await call<{ name: string }>('GET', `/api/wp/${id}`)).body.result
    const domain = await create()
    await add(domain, { name: '@', content: '198.51.100.1' })
    await add(domain, { name: '@', type: 'MX', content: 'mail.example.com' })
    const path = `/api/dns/${domain.id}/point`
    expect((await call('POST', path, { wp: 'none' })).status).toBe(404)
    interface Pointed {
      changeId: string | null
      added: { type: string; data: string[] }[]
      removed: { type: string; data: string[] }[]
    }
    const tried = await call<Pointed>('POST', path, { wp: id, preview: true })
    expect(tried.body.result).toMatchObject({
      changeId: null,
      added: [
        { name: '@', type: 'A', data: ['127.0.0.1'] },
        { name: 'www', type: 'CNAME', data: [`${site.name}.localhost`] },
      ],
      removed: [{ name: '@', type: 'A', data: ['198.51.100.1'] }],
    })
    await resolves(domain.name, 'A', [`${domain.name} 300 A 198.51.100.1`])
    const pointed = await call<{ changeId: string; domains: string[] }>('POST', path, { wp: id })
    // The domain's ownership is not proven yet.
    expect(pointed.body.result.domains).toEqual([])
    await resolves(domain.name, 'A', [`${domain.name} 300 A 127.0.0.1`])
    await resolves(`www.${domain.name}`, 'CNAME', [
      `www.${domain.name} 300 CNAME ${site.name}.localhost`,
    ])
    await resolves(domain.name, 'MX', [`${domain.name} 300 MX 10 mail.example.com`])
    expect(
      (await call<{ changeId: string | null }>('POST', path, { wp: id })).body.result.changeId,
    ).toBeNull()
    expect(
      (await call('POST', `/api/dns/${domain.id}/changes/${pointed.body.result.changeId}/undo`, {}))
        .status,
    ).toBe(200)
    await resolves(domain.name, 'A', [`${domain.name} 300 A 198.51.100.1`])

    await delegate(domain)
    expect(
      (await call<{ isValid: boolean }>('GET', `/api/dns/check?domain=${domain.name}`)).body.result
        .isValid,
    ).toBe(true)
    const names = [domain.name, `www.${domain.name}`]
    expect(
      (await call<{ domains: string[] }>('POST', path, { wp: id })).body.result.domains,
    ).toEqual(names)
    for (const name of names)
      await eventually(`the site on ${name}`, async () => (await statusOn(name)) === 200, 60)
    expect(
      (await call<{ domains: string[] }>('GET', `/api/wp/${id}`)).body.result.domains.toSorted(),
    ).toEqual(names)
  },
)

describe('the name server and the database', () => {
  test('after a restart everything is answered as before', async () => {
    const domain = await create()
    await add(domain, {})
    await portal.reopen()
    expect(await answers(`www.${domain.name}`, 'A')).toEqual([
      `www.${domain.name} 300 A 203.0.113.7`,
    ])
    expect((await portal.call('GET', '/readyz')).status).toBe(200)
  })

  test('what another process wrote is found without being told', async () => {
    const domain = await create()
    const record = await add(domain, {})
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 300 A 203.0.113.7`])
    // An edit without its notification: the state that a process leaves if it is killed right after
    // the commit.
    await portal.app.db.transaction().execute(async (tx) => {
      const { serial } = await tx
        .selectFrom('dns_zone')
        .select('serial')
        .where('id', '=', domain.id)
        .executeTakeFirstOrThrow()
      const before = { ...record, content: '203.0.113.7' }
      await tx
        .updateTable('dns_record')
        .set({ content: '203.0.113.99' })
        .where('id', '=', record.id)
        .execute()
      await tx
        .updateTable('dns_zone')
        .set({ serial: serial + 1n, touched_at: new Date() })
        .where('id', '=', domain.id)
        .execute()
      await tx
        .insertInto('dns_change')
        .values({
          zone_id: domain.id,
          serial: serial + 1n,
          customer_id: an.id,
          at: new Date(),
          action: 'edit',
          before: JSON.stringify([before]),
          after: JSON.stringify([{ ...before, content: '203.0.113.99' }]),
        })
        .execute()
    })
    await expect
      .poll(() => answers(`www.${domain.name}`, 'A'))
      .toEqual([`www.${domain.name} 300 A 203.0.113.99`])
  })

  test('the name servers answer for themselves', async () => {
    const [first = ''] = (await create()).nameserver
    expect(await answers(first, 'A')).toEqual([`${first} 3600 A 127.0.0.1`])
  })
})

describe('a CNAME that leads back to itself through a wildcard', () => {
  const loop = { content: 'These CNAME records would form a loop.' }
  const alias = (domain: Domain, name: string, target: string) =>
    post(domain, { name, type: 'CNAME', content: `${target}.${domain.name}` })
  const faults = async (domain: Domain, name: string, target: string) =>
    (await alias(domain, name, target)).body.error?.fields

  test('is refused, one by one and in a file', async () => {
    const domain = await create()
    expect(await faults(domain, '*', 'www')).toEqual(loop)
    await add(domain, { name: 'www' })
    expect((await alias(domain, '*', 'www')).status).toBe(201)
    // A name that exists because something is below it, and a name with a closer wildcard, are not
    // covered by "*".
    await add(domain, { name: 'deep.shop' })
    expect(await faults(domain, '*.shop', 'a.b.shop')).toEqual(loop)
    expect((await alias(domain, '*.shop', 'shop')).status).toBe(201)
    expect((await alias(domain, 'a', 'none')).status).toBe(201)
    expect(await faults(domain, 'b', 'b.none')).toBeUndefined()

    const other = await create()
    expect((await alias(other, 'one', 'two')).status).toBe(201)
    expect(await faults(other, '*', 'one')).toEqual(loop)
    const file = await call('POST', `/api/dns/${other.id}/zone`, {
      content: `* 300 IN CNAME one.${other.name}.\n`,
      mode: 'merge',
      preview: true,
    })
    expect(file.status).toBe(422)
    expect(file.text).toContain(loop.content)
  })
})
