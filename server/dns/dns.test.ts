/** Domains and records through the API, and what the name server then answers. */
import http from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain, Record as DnsRecord } from '../../contract/dns.ts'
import type { Change, ImportPlan } from '../../contract/dns-changes.ts'
import { dig } from '../../test/dig.ts'
import { eventually, openTestHouse, type TestCustomer, type TestHouse } from '../../test/house.ts'

let portal: TestHouse
let an: TestCustomer
let binh: TestCustomer
beforeAll(async () => {
  portal = await openTestHouse()
  an = await portal.customer()
  binh = await portal.customer()
})
afterAll(() => portal.close())

let names = 0
const call = <T>(method: string, path: string, body?: unknown, who = an, headers?: Record<string, string>) =>
  portal.call<T>(method, path, { token: who.token, ...(body !== undefined && { body }), ...(headers && { headers }) })
const create = async (name = `shop${++names}.com.vn`, who = an): Promise<Domain> => {
  const made = await call<Domain>('POST', '/api/dns', { name }, who)
  if (made.status !== 201) throw new Error(made.text)
  return made.body.result
}
const post = (domain: Domain, over: object, who = an) =>
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
  (await call<{ data: DnsRecord[] }>('GET', `/api/dns/${domain.id}/records${query}`)).body.result.data
const answers = async (name: string, type: string): Promise<readonly string[]> =>
  (await dig(portal.config.DNS_PORT, { name, type, edns: 1232 })).answer
/** As contract.md promises: within a second; as the room does: within 200 ms. */
const resolves = (name: string, type: string, lines: readonly string[]) =>
  expect.poll(() => answers(name, type), { timeout: 200, interval: 5 }).toEqual(lines)

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
    expect((await call<Domain>('GET', `/api/dns/${domain.id}`)).body.result).toMatchObject({ id: domain.id, name: 'chào-mừng.vn' })
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
    for (const name of ['ns1.letspanel-dns.example', 'letspanel-dns.example', 'x.letspanel-dns.example', 'example'])
      expect((await call('POST', '/api/dns', { name })).status, name).toBe(422)
    expect((await call<{ data: Domain[] }>('GET', '/api/dns')).body.result.data).toHaveLength(before)
  })

  test('pasted with a scheme and a path, it is still a domain', async () => {
    expect((await create('https://Pasted-Name.vn/index.html')).name).toBe('pasted-name.vn')
  })

  test('each account has its own pair, for all of its domains; a name that comes back gets another', async () => {
    const first = await create()
    const second = await create()
    expect(second.nameserver).toEqual(first.nameserver)
    const other = await create(undefined, binh)
    expect(other.nameserver).not.toEqual(first.nameserver)
    const pairs = new Set([first.nameserver.join()])
    for (let again = 0; again < 3; again++) {
      const [{ id } = first] = (await call<{ data: Domain[] }>('GET', `/api/dns?search=${first.name}`)).body.result.data
      expect((await call('DELETE', `/api/dns/${id}`)).status).toBe(200)
      pairs.add((await create(first.name)).nameserver.join())
    }
    expect(pairs.size).toBe(4)
  })

  test('twice in one list is a conflict; two accounts may both wait, and the first is answered', async () => {
    const mine = await create()
    expect((await call('POST', '/api/dns', { name: mine.name.toUpperCase() })).status).toBe(409)
    const theirs = await create(mine.name, binh)
    await post(theirs, { content: '198.51.100.66' }, binh)
    await add(mine, {})
    await resolves(`www.${mine.name}`, 'A', [`www.${mine.name} 300 A 203.0.113.7`])
    expect((await call('DELETE', `/api/dns/${mine.id}`)).status).toBe(200)
    await resolves(`www.${mine.name}`, 'A', [`www.${mine.name} 300 A 198.51.100.66`])
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
      ['PUT', `/records/${record.id}`, { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300 }],
      ['DELETE', `/records/${record.id}`],
      ['GET', '/zone'],
      ['POST', '/zone', { content: 'a' }],
      ['GET', '/changes'],
      ['POST', '/changes/1/undo', {}],
      ['POST', '/point', { wp: 'x' }],
    ] as const) {
      expect((await call(method, `/api/dns/${domain.id}${path}`, body, binh)).status, `${method} ${path}`).toBe(404)
      expect((await call(method, `/api/dns/none${path}`, body)).status, `${method} ${path}`).toBe(404)
    }
    expect((await call('GET', `/api/dns/check?domain=${domain.name}`, undefined, binh)).status).toBe(404)
  })
})

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
      expect((await call('GET', `/api/dns/${domain.id}/records/${record.id}`)).body.result).toEqual(record)
    }
    await resolves(domain.name, 'A', [`${domain.name} 300 A 203.0.113.7`])
    await resolves(domain.name, 'AAAA', [`${domain.name} 300 AAAA 2001:db8::7`])
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 300 CNAME shop.example.com`])
    await resolves(`_dmarc.${domain.name}`, 'TXT', [`_dmarc.${domain.name} 300 TXT v=DMARC1; p="none" \\ đ`])
    await resolves(domain.name, 'MX', [`${domain.name} 300 MX 5 mail.example.com`])
    expect((await dig(portal.config.DNS_PORT, { name: `x.child.${domain.name}`, type: 'A' })).authority).toEqual([
      `child.${domain.name} 300 NS ns1.example.com`,
    ])
    expect((await records(domain)).map(({ type }) => type)).toEqual(['NS', 'MX', 'TXT', 'CNAME', 'AAAA', 'A'])
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
    const vi = await call('POST', `/api/dns/${domain.id}/records`, { name: 'x', type: 'A', content: 'y', ttl: 300 }, an, {
      'accept-language': 'vi',
    })
    expect(vi.body.error?.fields).toEqual({ content: 'Nhập địa chỉ IPv4, ví dụ 203.0.113.7.' })
    expect(await records(domain)).toEqual(before)
  })

  test('CNAMEs may not lead in a circle, nor stand where mail goes', async () => {
    const domain = await create()
    await add(domain, { name: 'a', type: 'CNAME', content: `b.${domain.name}` })
    await add(domain, { name: 'b', type: 'CNAME', content: `c.${domain.name}` })
    expect((await post(domain, { name: 'c', type: 'CNAME', content: `a.${domain.name}` })).body.error?.fields).toHaveProperty('content')
    await add(domain, { name: '@', type: 'MX', content: `mail.${domain.name}` })
    expect((await post(domain, { name: 'mail', type: 'CNAME', content: 'x.example.com' })).body.error?.fields).toHaveProperty('name')
  })

  test('a set has one TTL: the one that was written last', async () => {
    const domain = await create()
    const first = await add(domain, {})
    await add(domain, { content: '203.0.113.8', ttl: 60 })
    expect((await records(domain)).map(({ ttl }) => ttl)).toEqual([60, 60])
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 60 A 203.0.113.7`, `www.${domain.name} 60 A 203.0.113.8`])
    const stale = { name: 'www', type: 'A', content: '203.0.113.9', ttl: 300, version: first.version }
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
    expect(changed.body.result).toEqual({ ...record, name: 'y', type: 'TXT', data: ['now a text'], ttl: 60, version: 2 })
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
      Array.from({ length: 8 }, (_, n) => call('PUT', path, { ...body, version: 2, content: `203.0.113.${n + 20}` })),
    )
    expect(many.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('the same Idempotency-Key adds one record', async () => {
    const domain = await create()
    const body = { name: 'www', type: 'A', content: '203.0.113.7', ttl: 300 }
    const twice = await Promise.all(
      [1, 2].map(() => call('POST', `/api/dns/${domain.id}/records`, body, an, { 'idempotency-key': 'once' })),
    )
    expect(twice.some(({ status }) => status === 201)).toBe(true)
    expect(await records(domain)).toHaveLength(1)
  })

  test('ten at once are all kept', async () => {
    const domain = await create()
    const made = await Promise.all(Array.from({ length: 10 }, (_, n) => post(domain, { name: `h${n}` })))
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
    await Promise.all(made.map((_, n) => resolves(`h${n}.${domain.name}`, 'A', [`h${n}.${domain.name} 300 A 203.0.113.7`])))
  })

  test('many are deleted in one change, or none', async () => {
    const domain = await create()
    const [a, b, c] = [await add(domain, { name: 'a' }), await add(domain, { name: 'b' }), await add(domain, { name: 'c' })]
    const path = `/api/dns/${domain.id}/records/delete`
    expect((await call('POST', path, { ids: [a.id, 'none'] })).status).toBe(404)
    expect(await records(domain)).toHaveLength(3)
    const { changeId } = (await call<{ changeId: string }>('POST', path, { ids: [a.id, b.id] })).body.result
    expect(await records(domain)).toEqual([c])
    expect((await call('POST', `/api/dns/${domain.id}/changes/${changeId}/undo`, {})).status).toBe(200)
    expect((await records(domain)).map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c'])
    await resolves(`a.${domain.name}`, 'A', [`a.${domain.name} 300 A 203.0.113.7`])
  })
})

describe('the change log', () => {
  const changes = async (domain: Domain): Promise<Change[]> =>
    (await call<{ data: Change[] }>('GET', `/api/dns/${domain.id}/changes`)).body.result.data
  const undo = (domain: Domain, change: Change | undefined) => call<Change>('POST', `/api/dns/${domain.id}/changes/${change?.id}/undo`, {})

  test('says who, when, before and after; a delete and an edit are undone, and the undo too', async () => {
    const domain = await create()
    const record = await add(domain, {})
    const path = `/api/dns/${domain.id}/records/${record.id}`
    await call('PUT', path, { name: 'www', type: 'A', content: '203.0.113.8', ttl: 60 })
    await call('DELETE', path)
    const log = await changes(domain)
    const state = (content: string, ttl: number) => ({ name: 'www', type: 'A', data: [content], ttl, proxied: false, priority: null })
    expect(log.map(({ who, action, before, after }) => ({ who, action, before, after }))).toEqual([
      { who: 'Nguyễn Văn An', action: 'delete', before: [state('203.0.113.8', 60)], after: [] },
      { who: 'Nguyễn Văn An', action: 'edit', before: [state('203.0.113.7', 300)], after: [state('203.0.113.8', 60)] },
      { who: 'Nguyễn Văn An', action: 'add', before: [], after: [state('203.0.113.7', 300)] },
    ])
    expect(await undo(domain, log[1])).toMatchObject({ status: 409 })
    expect((await undo(domain, log[0])).body.result).toMatchObject({ action: 'undo', after: [state('203.0.113.8', 60)] })
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 60 A 203.0.113.8`])
    expect((await call<DnsRecord>('GET', path)).body.result).toMatchObject({ id: record.id, data: ['203.0.113.8'] })
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
    expect(await undo(domain, deletion)).toMatchObject({ status: 422, body: { error: { fields: { name: expect.any(String) as string } } } })
  })
})

describe('zone files', () => {
  const file = async (domain: Domain) => await call('GET', `/api/dns/${domain.id}/zone`)
  const send = (domain: Domain, content: string, over: object = {}) =>
    call<ImportPlan>('POST', `/api/dns/${domain.id}/zone`, { content, ...over })

  test('what goes out comes in again, and changes nothing', async () => {
    const domain = await create()
    await add(domain, { name: '@' })
    await add(domain, { name: '@', type: 'MX', content: 'mail.example.com', priority: 7 })
    await add(domain, { name: 'nomail', type: 'MX', content: '.', priority: 0 })
    await add(domain, { name: '*.x', type: 'TXT', content: `${'đ'.repeat(300)} "quoted" \\ ; $` })
    const out = await file(domain)
    expect(out.headers.get('content-type')).toContain('text/plain')
    expect(out.text).toMatch(/IN MX\s+7 mail\.example\.com\./)
    expect((await send(domain, out.text, { mode: 'replace' })).body.result).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      unchanged: 4,
    })
    const other = await create()
    const there = await send(other, out.text.replaceAll(`${domain.name}.`, `${other.name}.`))
    expect(there.body.result).toMatchObject({ applied: true, unchanged: 0 })
    expect(there.body.result.added).toHaveLength(4)
    await resolves(`y.x.${other.name}`, 'TXT', [`y.x.${other.name} 300 TXT ${'đ'.repeat(300)} "quoted" \\ ; $`])
  })

  test('a preview tells and writes nothing; then the sets that the file names become what it says', async () => {
    const domain = await create()
    await add(domain, { name: 'www' })
    await add(domain, { name: 'old', content: '203.0.113.1' })
    const text = 'www 60 IN A 203.0.113.7\n    60 IN A 203.0.113.8\n@ IN NS ns.other.example.\nnew IN TXT "hello"\n'
    const preview = (await send(domain, text, { preview: true, mode: 'replace' })).body.result
    expect(preview).toMatchObject({ applied: false, unchanged: 0 })
    expect(preview.added.map(({ name, data }) => `${name} ${data[0]}`)).toEqual(['www 203.0.113.8', 'new hello'])
    expect(preview.changed.map(({ before, after }) => [before.ttl, after.ttl])).toEqual([[300, 60]])
    expect(preview.removed.map(({ name }) => name)).toEqual(['old'])
    expect(preview.skipped).toEqual([{ line: 3, text: `${domain.name}. NS ns.other.example` }])
    expect(await records(domain)).toHaveLength(2)
    expect((await send(domain, text)).body.result).toMatchObject({ applied: true, removed: [] })
    expect((await records(domain)).map(({ name }) => name).toSorted()).toEqual(['new', 'old', 'www', 'www'])
    await resolves(`new.${domain.name}`, 'TXT', [`new.${domain.name} 60 TXT hello`])
  })

  test('one bad line refuses all, and every bad line is named', async () => {
    const domain = await create()
    const refused = await send(domain, 'a IN A 203.0.113.1\nb IN A 1.2.3\n$INCLUDE x\nc IN CNAME a\nc IN A 203.0.113.1\n@ IN SRV 1 1 1 a\n')
    expect(refused.status).toBe(422)
    expect(refused.body.error?.fields?.['content']).toMatch(/Line 2: [^]*Line 3: /)
    expect(await records(domain)).toEqual([])
    const beside = await send(domain, 'c IN CNAME a\nc IN A 203.0.113.1\n')
    expect(beside.body.error?.fields?.['content']).toMatch(/^Line [12]: c: /)
    expect(await records(domain)).toEqual([])
  })

  test('three thousand records: imported, listed page by page, answered', async () => {
    const domain = await create()
    const text = Array.from({ length: 3000 }, (_, n) => `h${n} 300 IN A 10.1.${n >> 8}.${n & 255}`).join('\n')
    const began = performance.now()
    expect((await send(domain, text)).body.result.added).toHaveLength(3000)
    expect(performance.now() - began).toBeLessThan(10_000)
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(1)
    const [made] = (await call<{ data: Change[] }>('GET', `/api/dns/${domain.id}/changes`)).body.result.data
    const undone = await call<Change>('POST', `/api/dns/${domain.id}/changes/${made?.id}/undo`, {})
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(0)
    expect((await call('POST', `/api/dns/${domain.id}/changes/${undone.body.result.id}/undo`, {})).status).toBe(200)
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(1)
    const seen = new Set<string>()
    let cursor: string | null | undefined = ''
    while (cursor !== null && cursor !== undefined) {
      const page: Awaited<ReturnType<typeof call<{ data: DnsRecord[] }>>> = await call<{ data: DnsRecord[] }>(
        'GET',
        `/api/dns/${domain.id}/records?limit=100${cursor && `&cursor=${cursor}`}`,
      )
      for (const { id } of page.body.result.data) seen.add(id)
      cursor = page.body.page?.next
    }
    expect(seen.size).toBe(3000)
  })
})

/** At the registrar, as the owner of the name would. */
const delegate = (domain: Domain) =>
  fetch(`${portal.sandboxUrl}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: domain.name, nameservers: domain.nameserver }),
  })
/** What visitors of the name get. */
const statusOn = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port: portal.config.SITES_PORT, path: '/', headers: { host } }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      .on('error', reject)
  })

test('a domain is pointed at a WordPress server in one change, which can be undone', { timeout: 120_000 }, async () => {
  await portal.topUp(an, 1_000_000)
  const order = { size: 1, region: 1, disk: 10_240, mariadb_disk_size: 10_240, user: 'an', password: 'Secret-pass-9!', replicate: 1 }
  const { id } = (await call<{ id: string }>('POST', '/api/wp', order)).body.result
  const site = (await call<{ name: string }>('GET', `/api/wp/${id}`)).body.result
  const domain = await create()
  await add(domain, { name: '@', content: '198.51.100.1' })
  await add(domain, { name: '@', type: 'MX', content: 'mail.example.com' })
  const path = `/api/dns/${domain.id}/point`
  expect((await call('POST', path, { wp: 'none' })).status).toBe(404)
  const pointed = await call<{ changeId: string; domains: string[] }>('POST', path, { wp: id })
  // Whose domain it is, nobody has shown yet.
  expect(pointed.body.result.domains).toEqual([])
  await resolves(domain.name, 'A', [`${domain.name} 300 A 127.0.0.1`])
  await resolves(`www.${domain.name}`, 'CNAME', [`www.${domain.name} 300 CNAME ${site.name}.localhost`])
  await resolves(domain.name, 'MX', [`${domain.name} 300 MX 10 mail.example.com`])
  expect((await call<{ changeId: string | null }>('POST', path, { wp: id })).body.result.changeId).toBeNull()
  expect((await call('POST', `/api/dns/${domain.id}/changes/${pointed.body.result.changeId}/undo`, {})).status).toBe(200)
  await resolves(domain.name, 'A', [`${domain.name} 300 A 198.51.100.1`])

  await delegate(domain)
  expect((await call<{ isValid: boolean }>('GET', `/api/dns/check?domain=${domain.name}`)).body.result.isValid).toBe(true)
  const names = [domain.name, `www.${domain.name}`]
  expect((await call<{ domains: string[] }>('POST', path, { wp: id })).body.result.domains).toEqual(names)
  for (const name of names) await eventually(`the site on ${name}`, async () => (await statusOn(name)) === 200, 60)
  expect((await call<{ domains: string[] }>('GET', `/api/wp/${id}`)).body.result.domains.toSorted()).toEqual(names)
})

describe('the name server and the database', () => {
  test('after a restart everything is answered as before', async () => {
    const domain = await create()
    await add(domain, {})
    await portal.reopen()
    expect(await answers(`www.${domain.name}`, 'A')).toEqual([`www.${domain.name} 300 A 203.0.113.7`])
    expect((await portal.call('GET', '/readyz')).status).toBe(200)
  })

  test('what another process wrote is found without being told', async () => {
    const domain = await create()
    const record = await add(domain, {})
    await resolves(`www.${domain.name}`, 'A', [`www.${domain.name} 300 A 203.0.113.7`])
    // The same statements as an edit's, without its telling: as a process that was killed right after the commit leaves it.
    await portal.house.db.transaction().execute(async (tx) => {
      const { serial } = await tx.selectFrom('dns_zone').select('serial').where('id', '=', domain.id).executeTakeFirstOrThrow()
      const before = { ...record, content: '203.0.113.7' }
      await tx.updateTable('dns_record').set({ content: '203.0.113.99' }).where('id', '=', record.id).execute()
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
    await expect.poll(() => answers(`www.${domain.name}`, 'A')).toEqual([`www.${domain.name} 300 A 203.0.113.99`])
  })

  test('the name servers answer for themselves', async () => {
    const [first = ''] = (await create()).nameserver
    expect(await answers(first, 'A')).toEqual([`${first} 3600 A 127.0.0.1`])
  })
})
