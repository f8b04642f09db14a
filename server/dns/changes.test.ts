/**
 * Records through the API, one by one and many at once, what the name server then answers, and the
 * log in which each change may be taken back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain, Record as DnsRecord } from '../../contract/dns.ts'
import type { Change } from '../../contract/dns-changes.ts'
import { dig } from '../../test/dig.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import { join, work } from '../../test/team.ts'
import { tokensAt } from '../../test/tokens.ts'
import { transaction } from '../platform/db.ts'
import { giveDomain } from './hand-over.ts'
import { zoneById } from './store.ts'
import {
  eightAtATime,
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  an = await portal.customer()
})
afterAll(() => portal.close())
const { call, create, post, add, records, resolves } = domainsOf(
  () => an,
  () => portal,
)

const { tokenFor } = tokensAt(() => portal)

describe('records', () => {
  test('all six types are taken, read back, and answered', async () => {
    const domain = await create()
    const made = [
      { type: 'A', name: '@', content: '203.0.113.7' },
      { type: 'AAAA', name: '@', content: '2001:DB8::7', data: '2001:db8::7' },
      { type: 'CNAME', name: 'www', content: 'shop.example.com.', data: 'shop.example.com' },
      { type: 'TXT', name: '_dmarc', content: 'v=DMARC1; p="none" \\ đ' },
      { type: 'MX', name: '@', content: 'mail.example.com', priority: 5 },
      { type: 'NS', name: 'child', content: 'ns1.example.com' },
    ] as const
    for (const one of made) {
      const { data, ...body } = { data: one.content, ...one }
      const record = await add(domain, body)
      expect(record).toEqual({
        id: expect.any(String) as string,
        name: one.name,
        type: one.type,
        data: [data],
        ttl: 300,
        proxied: false,
        priority: 'priority' in one ? 5 : null,
        version: 1,
      })
      expect((await call('GET', `/api/dns/${domain.id}/records/${record.id}`)).body.result).toEqual(
        record,
      )
    }
    await resolves(domain.name, 'A', [`${domain.name} 300 A 203.0.113.7`])
    await resolves(domain.name, 'AAAA', [`${domain.name} 300 AAAA 2001:db8::7`])
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 300 CNAME shop.example.com`])
    await resolves(`_dmarc.${domain.name}`, 'TXT', [
      `_dmarc.${domain.name} 300 TXT v=DMARC1; p="none" \\ đ`,
    ])
    await resolves(domain.name, 'MX', [`${domain.name} 300 MX 5 mail.example.com`])
    const below = { name: `x.child.${domain.name}`, type: 'A' } as const
    const authority = await eventually('the name server has it', async () => {
      const { authority: found } = await dig(portal.config.DNS_PORT, below)
      return found.some((line) => line.includes(' NS ')) && found
    })
    expect(authority).toEqual([`child.${domain.name} 300 NS ns1.example.com`])
    expect((await records(domain)).map(({ type }) => type)).toEqual([
      'NS',
      'MX',
      'TXT',
      'CNAME',
      'AAAA',
      'A',
    ])
    expect((await records(domain, '?type=MX')).map(({ type }) => type)).toEqual(['MX'])
    expect((await records(domain, '?search=DMARC')).map(({ name }) => name)).toEqual(['_dmarc'])
    expect(await records(domain, '?search=%25')).toEqual([])
  })

  test('bad input: 422 with fields in both languages, and nothing is written', async () => {
    const domain = await create()
    await add(domain, { name: 'alias', type: 'CNAME', content: 'a.example.com' })
    await add(domain, {})
    const before = await records(domain)
    for (const [field, over] of [
      ['content', { content: '1.2.3' }],
      ['content', { type: 'AAAA' }],
      ['content', { type: 'MX', name: '@' }],
      ['content', { type: 'NS', name: 'sub' }],
      ['content', { type: 'TXT', content: 'a\nb' }],
      ['content', { type: 'TXT', content: 'đ'.repeat(1025) }],
      ['content', { type: 'TXT', content: 'x'.repeat(65_536) }],
      ['content', {}],
      ['content', { type: 'MX', content: `alias.${domain.name}` }],
      ['name', { name: 'alias' }],
      ['name', { type: 'CNAME', content: 'a.example.com' }],
      ['name', { name: '@', type: 'CNAME', content: 'a.example.com' }],
      ['name', { name: '@', type: 'NS', content: 'ns.example.com' }],
      ['name', { name: 'a b' }],
      ['name', { name: '' }],
      ['ttl', { ttl: 29 }],
      ['ttl', { ttl: 86_401 }],
      ['ttl', { ttl: '300' }],
      ['priority', { type: 'MX', content: 'm.example.com', priority: 65_536 }],
      ['type', { type: 'SRV' }],
      ['type', { type: 'LUA' }],
      ['id', { id: 'another' }],
      ['colour', { colour: 'red' }],
    ] as const) {
      const refused = await post(domain, over)
      expect(refused.status, JSON.stringify(over)).toBe(422)
      expect(Object.keys(refused.body.error?.fields ?? {}), JSON.stringify(over)).toEqual([field])
    }
    const vi = await call(
      'POST',
      `/api/dns/${domain.id}/records`,
      { name: 'x', type: 'A', content: 'y', ttl: 300 },
      an,
      {
        'accept-language': 'vi',
      },
    )
    expect(vi.body.error?.fields).toEqual({ content: 'Nhập địa chỉ IPv4, ví dụ 203.0.113.7.' })
    expect(await records(domain)).toEqual(before)
  })

  test('CNAMEs may not lead in a circle, nor stand where mail goes', async () => {
    const domain = await create()
    await add(domain, { name: 'a', type: 'CNAME', content: `b.${domain.name}` })
    await add(domain, { name: 'b', type: 'CNAME', content: `c.${domain.name}` })
    expect(
      (await post(domain, { name: 'c', type: 'CNAME', content: `a.${domain.name}` })).body.error
        ?.fields,
    ).toHaveProperty('content')
    await add(domain, { name: '@', type: 'MX', content: `mail.${domain.name}` })
    expect(
      (await post(domain, { name: 'mail', type: 'CNAME', content: 'x.example.com' })).body.error
        ?.fields,
    ).toHaveProperty('name')
  })

  test('a set has one TTL: the one that was written last', async () => {
    const domain = await create()
    const first = await add(domain, {})
    await add(domain, { content: '203.0.113.8', ttl: 60 })
    expect((await records(domain)).map(({ ttl }) => ttl)).toEqual([60, 60])
    await resolves(`www.${domain.name}`, 'A', [
      `www.${domain.name} 60 A 203.0.113.7`,
      `www.${domain.name} 60 A 203.0.113.8`,
    ])
    const stale = {
      name: 'www',
      type: 'A',
      content: '203.0.113.9',
      ttl: 300,
      version: first.version,
    }
    expect((await call('PUT', `/api/dns/${domain.id}/records/${first.id}`, stale)).status).toBe(409)
  })

  test('changed and deleted, and answered so within 200 ms', async () => {
    const domain = await create()
    const record = await add(domain, { name: 'x' })
    const path = `/api/dns/${domain.id}/records/${record.id}`
    const changed = await call<DnsRecord>('PUT', path, {
      id: domain.id,
      name: 'y',
      type: 'TXT',
      content: 'now a text',
      ttl: 60,
      proxied: true,
      priority: 1,
    })
    expect(changed.body.result).toEqual({
      ...record,
      name: 'y',
      type: 'TXT',
      data: ['now a text'],
      ttl: 60,
      version: 2,
    })
    await resolves(`y.${domain.name}`, 'TXT', [`y.${domain.name} 60 TXT now a text`])
    await resolves(`x.${domain.name}`, 'A', [])
    expect((await call('DELETE', path)).status).toBe(200)
    await resolves(`y.${domain.name}`, 'TXT', [])
    for (const method of ['GET', 'DELETE']) expect((await call(method, path)).status).toBe(404)
  })

  test('two tabs: the second to save hears of it, and loses nothing', async () => {
    const domain = await create()
    const seen = await add(domain, {})
    const path = `/api/dns/${domain.id}/records/${seen.id}`
    const body = { name: 'www', type: 'A', ttl: 300, version: seen.version }
    expect((await call('PUT', path, { ...body, content: '203.0.113.8' })).status).toBe(200)
    expect(await call('PUT', path, { ...body, content: '203.0.113.9' })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    })
    expect((await call('DELETE', `${path}?version=${seen.version}`)).status).toBe(409)
    expect((await records(domain))[0]?.data).toEqual(['203.0.113.8'])
    const many = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        call('PUT', path, { ...body, version: 2, content: `203.0.113.${n + 20}` }),
      ),
    )
    expect(many.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('the same Idempotency-Key adds one record', async () => {
    const domain = await create()
    const body = { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300 }
    const twice = await Promise.all(
      [1, 2].map(() =>
        call('POST', `/api/dns/${domain.id}/records`, body, an, { 'idempotency-key': 'once' }),
      ),
    )
    expect(twice.some(({ status }) => status === 201)).toBe(true)
    expect(await records(domain)).toHaveLength(1)
  })

  test('ten at once are all kept', async () => {
    const domain = await create()
    const made = await eightAtATime(10, (n) => post(domain, { name: `h${n}` }))
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
    await Promise.all(
      made.map((_, n) =>
        resolves(`h${n}.${domain.name}`, 'A', [`h${n}.${domain.name} 300 A 203.0.113.7`]),
      ),
    )
  })

  test('many are deleted in one change, or none', async () => {
    const domain = await create()
    const [a, b, c] = [
      await add(domain, { name: 'a' }),
      await add(domain, { name: 'b' }),
      await add(domain, { name: 'c' }),
    ]
    const path = `/api/dns/${domain.id}/records/delete`
    expect((await call('POST', path, { ids: [a.id, 'none'] })).status).toBe(404)
    expect(await records(domain)).toHaveLength(3)
    const { changeId } = (await call<{ changeId: string }>('POST', path, { ids: [a.id, b.id] }))
      .body.result
    expect(await records(domain)).toEqual([c])
    expect((await call('POST', `/api/dns/${domain.id}/changes/${changeId}/undo`, {})).status).toBe(
      200,
    )
    expect((await records(domain)).map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c'])
    await resolves(`a.${domain.name}`, 'A', [`a.${domain.name} 300 A 203.0.113.7`])
  })
})

describe('the change log', () => {
  const changes = async (domain: Domain): Promise<Change[]> =>
    (await call<{ data: Change[] }>('GET', `/api/dns/${domain.id}/changes`)).body.result.data
  const undo = (domain: Domain, change: Change | undefined) =>
    call<Change>('POST', `/api/dns/${domain.id}/changes/${change?.id}/undo`, {})

  test('names the member or the token that acted, and no one of a former owner', async () => {
    const domain = await create()
    const [helper, binh] = [
      await portal.customer({ name: 'Trần Thị Hoa' }),
      await portal.customer({ name: 'Lê Văn Bình' }),
    ]
    const asMember = await work(
      portal,
      helper,
      await join(portal, an, helper, { role: 'technical' }),
    )
    const asProgram = await tokenFor(an, { name: 'deploy', scopes: ['domains:write'] })
    for (const [name, token] of [
      ['a', an.token],
      ['b', asMember],
      ['c', asProgram],
    ] as const) {
      const body = { name, type: 'A', content: '203.0.113.7', ttl: 300, proxied: false }
      const made = await portal.call('POST', `/api/dns/${domain.id}/records`, { token, body })
      expect(made.status, made.text).toBe(201)
    }
    const who = async (reader: TestCustomer) => {
      const path = `/api/dns/${domain.id}/changes`
      const read = await portal.call<{ data: Change[] }>('GET', path, { token: reader.token })
      return read.body.result.data.map((change) => `${change.by} ${change.who}`)
    }
    expect(await who(an)).toEqual([
      'token Token deploy',
      'member Trần Thị Hoa',
      'owner Nguyễn Văn An',
    ])
    await transaction(portal.app.db, async (tx) => {
      await giveDomain(tx, await zoneById(tx, domain.id), binh.id)
    })
    const former = 'former_owner The owner before you'
    expect(await who(binh)).toEqual([former, former, former])
  })

  test('says who, when, before and after; deletes, edits and undos are undone', async () => {
    const domain = await create()
    const record = await add(domain, {})
    const path = `/api/dns/${domain.id}/records/${record.id}`
    await call('PUT', path, { name: 'www', type: 'A', content: '203.0.113.8', ttl: 60 })
    await call('DELETE', path)
    const log = await changes(domain)
    const state = (content: string, ttl: number) => ({
      name: 'www',
      type: 'A',
      data: [content],
      ttl,
      proxied: false,
      priority: null,
    })
    expect(log.map(({ who, action, before, after }) => ({ who, action, before, after }))).toEqual([
      { who: 'Nguyễn Văn An', action: 'delete', before: [state('203.0.113.8', 60)], after: [] },
      {
        who: 'Nguyễn Văn An',
        action: 'edit',
        before: [state('203.0.113.7', 300)],
        after: [state('203.0.113.8', 60)],
      },
      { who: 'Nguyễn Văn An', action: 'add', before: [], after: [state('203.0.113.7', 300)] },
    ])
    expect(await undo(domain, log[1])).toMatchObject({ status: 409 })
    expect((await undo(domain, log[0])).body.result).toMatchObject({
      action: 'undo',
      after: [state('203.0.113.8', 60)],
    })
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 60 A 203.0.113.8`])
    expect((await call<DnsRecord>('GET', path)).body.result).toMatchObject({
      id: record.id,
      data: ['203.0.113.8'],
    })
    expect((await undo(domain, log[0])).status).toBe(409)
    const [undone] = await changes(domain)
    expect((await undo(domain, undone)).status).toBe(200)
    await resolves(`www.${domain.name}`, 'A', [])
  })

  test('what stands there now keeps the old one out', async () => {
    const domain = await create()
    const record = await add(domain, { type: 'CNAME', content: 'a.example.com' })
    await call('DELETE', `/api/dns/${domain.id}/records/${record.id}`)
    await add(domain, {})
    const [, deletion] = await changes(domain)
    expect(await undo(domain, deletion)).toMatchObject({
      status: 422,
      body: { error: { fields: { name: expect.any(String) as string } } },
    })
  })
})
