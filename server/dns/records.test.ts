/**
 * Records in the forms that customers type and search, through the API: their faults, and the sync
 * of a copy.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain, Record as DnsRecord } from '../../contract/dns.ts'
import type { ImportPlan } from '../../contract/dns-changes.ts'
import { dig } from '../../test/dig.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  an = await portal.customer()
})
afterAll(() => portal.close())

let names = 0
const call = <T>(method: string, path: string, body?: unknown, language = 'en') =>
  portal.call<T>(method, path, {
    token: an.token,
    ...(body !== undefined && { body }),
    headers: { 'accept-language': language },
  })
const create = async (name = `tiem${++names}.com.vn`): Promise<Domain> => {
  const made = await call<Domain>('POST', '/api/dns', { name })
  if (made.status !== 201) throw new Error(made.text)
  return made.body.result
}
type Written = DnsRecord & {
  alsoChanged?: DnsRecord[]
  warnings?: { code: string; text: string }[]
}
const post = (domain: Domain, over: object) =>
  call<Written>('POST', `/api/dns/${domain.id}/records`, {
    name: 'www',
    type: 'A',
    content: '203.0.113.7',
    ttl: 300,
    ...over,
  })
const add = async (domain: Domain, over: object): Promise<Written> => {
  const made = await post(domain, over)
  if (made.status !== 201) throw new Error(made.text)
  return made.body.result
}
const put = (domain: Domain, record: DnsRecord, over: object) =>
  call<Written>('PUT', `/api/dns/${domain.id}/records/${record.id}`, {
    name: record.name,
    type: record.type,
    content: record.data[0],
    ttl: record.ttl,
    ...over,
  })
const found = async (domain: Domain, query: string): Promise<string[]> => {
  const answer = await call<{ data: DnsRecord[] }>('GET', `/api/dns/${domain.id}/records?${query}`)
  return answer.body.result.data.map(({ name, type }) => `${name} ${type}`)
}
const resolves = (name: string, type: string, lines: readonly string[]) =>
  expect
    .poll(async () => (await dig(portal.config.DNS_PORT, { name, type, edns: 1232 })).answer, {
      timeout: 1000,
      interval: 5,
    })
    .toEqual(lines)

describe('the TTL of a set', () => {
  test('is that of the record written last; the answer names those that got it', async () => {
    const domain = await create()
    const first = await add(domain, {})
    expect(first).not.toHaveProperty('alsoChanged')
    await add(domain, { type: 'AAAA', content: '2001:db8::7' })
    const second = await add(domain, { content: '203.0.113.8', ttl: 60 })
    expect(second.alsoChanged).toEqual([{ ...first, ttl: 60, version: 2 }])
    const edited = (await put(domain, second, { ttl: 600 })).body.result
    expect(edited.alsoChanged).toEqual([{ ...first, ttl: 600, version: 3 }])
    expect(
      (await put(domain, second, { content: '203.0.113.9', ttl: 600 })).body.result,
    ).not.toHaveProperty('alsoChanged')
    await resolves(`www.${domain.name}`, 'AAAA', [`www.${domain.name} 300 AAAA 2001:db8::7`])
  })

  test('can be asked for before: one name and type, in whatever spelling', async () => {
    const domain = await create()
    await add(domain, {})
    await add(domain, { type: 'TXT', content: 'a' })
    await add(domain, { name: 'www2' })
    for (const name of ['www', 'WWW', `www.${domain.name}`, `www.${domain.name}.`])
      expect(await found(domain, `type=A&name=${name}`), name).toEqual(['www A'])
    expect(await found(domain, 'name=www')).toEqual(['www TXT', 'www A'])
    expect(await found(domain, 'name=a..b')).toEqual([])
    expect(await found(domain, 'type=&search=')).toHaveLength(3)
  })
})

describe('a text in quotation marks', () => {
  test('is served as the strings that it denotes', async () => {
    const domain = await create()
    const record = await add(domain, {
      name: '@',
      type: 'TXT',
      content: '"v=spf1 include:_spf.example.com" " -all"',
    })
    expect(record.data).toEqual(['v=spf1 include:_spf.example.com -all'])
    await resolves(domain.name, 'TXT', [
      `${domain.name} 300 TXT v=spf1 include:_spf.example.com -all`,
    ])
    expect(
      (
        await post(domain, {
          name: '@',
          type: 'TXT',
          content: 'v=spf1 include:_spf.example.com -all',
        })
      ).status,
    ).toBe(422)
    const refused = await call(
      'POST',
      `/api/dns/${domain.id}/records`,
      { name: 'x', type: 'TXT', content: '"\\999"', ttl: 300 },
      'vi',
    )
    expect(refused.body.error?.fields?.['content']).toMatch(/^Trong dấu ngoặc kép/)
  })

  test('that belongs to the text itself stays, imported, edited and exported', async () => {
    const domain = await create()
    const path = `/api/dns/${domain.id}/zone`
    await call<ImportPlan>('POST', path, { content: 'q 300 IN TXT "\\"quoted\\""\n' })
    const [record] = (await call<{ data: DnsRecord[] }>('GET', `/api/dns/${domain.id}/records`))
      .body.result.data
    if (!record) throw new Error('nothing was imported')
    expect(record.data).toEqual(['"quoted"'])
    expect((await put(domain, record, { ttl: 60 })).body.result).toMatchObject({
      data: ['"quoted"'],
      ttl: 60,
    })
    await resolves(`q.${domain.name}`, 'TXT', [`q.${domain.name} 60 TXT "quoted"`])
    const file = (await call('GET', path)).text
    expect(
      (await call<ImportPlan>('POST', path, { content: file, mode: 'replace' })).body.result,
    ).toMatchObject({
      unchanged: 1,
      removed: [],
    })
    expect((await put(domain, record, { content: '"plain"' })).body.result.data).toEqual(['plain'])
  })
})

test('an A-label that stands for nothing is refused as record, target and domain', async () => {
  const domain = await create()
  const sentence =
    'A part of this name begins with xn-- but is not valid. Type the name ' +
    'in its own letters, such as chào.'
  expect((await post(domain, { name: 'xn--zzzz99999' })).body.error?.fields).toEqual({
    name: sentence,
  })
  expect(
    (await post(domain, { type: 'CNAME', content: 'xn--abc-x.example.com' })).body.error?.fields,
  ).toEqual({ content: sentence })
  expect((await call('POST', '/api/dns', { name: 'xn--a.vn' })).body.error?.fields).toEqual({
    name: sentence,
  })
  const vi = await call(
    'POST',
    `/api/dns/${domain.id}/zone`,
    { content: 'ok A 203.0.113.1\nxn--a A 203.0.113.1\n' },
    'vi',
  )
  expect(vi.body.error?.fields?.['content']).toMatch(
    /^Dòng 2: Một phần của tên này bắt đầu bằng xn--/,
  )
})

describe('a search', () => {
  test('finds records by full names, values, and the letters of other scripts', async () => {
    const domain = await create('Bánh-Mì.vn')
    await add(domain, { name: '@', type: 'MX', content: 'mail.phở.example' })
    await add(domain, { name: 'www' })
    await add(domain, { name: 'cà-phê.shop' })
    await add(domain, { name: '_dmarc', type: 'TXT', content: 'v=DMARC1; p=none' })
    for (const [search, hits] of [
      [`www.${domain.ascii}`, ['www A']],
      ['www.bánh-mì.vn', ['www A']],
      ['WWW.BÁNH-MÌ.VN', ['www A']],
      ['phê', ['cà-phê.shop A']],
      ['cà-phê.shop.bánh-mì', ['cà-phê.shop A']],
      ['bánh-mì.vn', ['_dmarc TXT', 'cà-phê.shop A', 'www A', '@ MX']],
      ['phở', ['@ MX']],
      ['dmarc1', ['_dmarc TXT']],
      ['xn--c', ['cà-phê.shop A']],
      ['w_w', []],
      ['%', []],
    ] as const) {
      const ascii = hits.map((hit) => hit.replace('cà-phê', 'xn--c-ph-0na7d'))
      expect(
        await found(domain, `search=${encodeURIComponent(search.normalize('NFD'))}`),
        search,
      ).toEqual(ascii)
    }
  })

  test('finds domains by the letters of an A-label, and by a full name inside', async () => {
    const list = async (search: string): Promise<string[]> => {
      const answer = await call<{ data: Domain[] }>(
        'GET',
        `/api/dns?search=${encodeURIComponent(search)}`,
      )
      return answer.body.result.data.map(({ name }) => name)
    }
    const typed = await create('Hoa-Sứ.com')
    const encoded = await create('xn--cho-mng-9va6330e.com')
    expect(await list('hoa-sứ')).toEqual([typed.name])
    expect(await list('www.hoa-sứ.com')).toEqual([typed.name])
    expect(await list(`mail.${typed.ascii}`)).toEqual([typed.name])
    expect(await list('chào')).toEqual([encoded.name])
    // Without accents, with blanks in place of hyphens, and as a pasted address.
    expect(await list('chao mung.com')).toEqual([encoded.name])
    expect(await list(' HOA SU')).toEqual([typed.name])
    expect(await list('https://hoa-su.com/index.html')).toEqual([typed.name])
    expect(await list('notoa-sứ.com')).toEqual([])
  })
})

describe('an import', () => {
  const text =
    '$TTL 5\nwww A 203.0.113.1\nwww 600 A 203.0.113.2\n@ 172800 MX 5 mail.example.com.\n@ 300 ' +
    'TXT "kept"\n@ 3600 NS ns.example.com.\n'
  test('says of every TTL that it does not keep which line, from what, and to what', async () => {
    const domain = await create()
    const path = `/api/dns/${domain.id}/zone`
    const preview = (await call<ImportPlan>('POST', path, { content: text, preview: true })).body
      .result
    expect(
      preview.adjusted.map(({ line, name, type, from, to }) => ({ line, name, type, from, to })),
    ).toEqual([
      { line: 2, name: 'www', type: 'A', from: 5, to: 30 },
      { line: 3, name: 'www', type: 'A', from: 600, to: 30 },
      { line: 4, name: '@', type: 'MX', from: 172_800, to: 86_400 },
    ])
    expect(preview.adjusted.map((one) => one.text)).toEqual([
      'Line 2: www A gets a TTL of 30 seconds instead of 5: a TTL is 30 to 86400 seconds here.',
      'Line 3: www A gets a TTL of 30 seconds instead of 600: the A records of a name share ' +
        'the TTL of the first.',
      'Line 4: @ MX gets a TTL of 86400 seconds instead of 172800: a TTL is 30 to 86400 ' +
        'seconds here.',
    ])
    const vi = (await call<ImportPlan>('POST', path, { content: text }, 'vi')).body.result
    expect(vi.adjusted[1]?.text).toBe(
      'Dòng 3: TTL của www A đổi từ 600 thành 30 giây, vì các bản ghi A cùng tên dùng chung ' +
        'TTL của bản ghi đầu tiên.',
    )
    expect(vi.added.map(({ ttl }) => ttl)).toEqual([30, 30, 86_400, 300])
    expect(
      (await call<ImportPlan>('POST', path, { content: (await call('GET', path)).text })).body
        .result.adjusted,
    ).toEqual([])
  })
})

describe('a copy of the records', () => {
  interface Changed {
    serial: number
    data: DnsRecord[] | null
    gone: string[]
  }
  const since = async (domain: Domain, serial: number): Promise<Changed> =>
    (await call<Changed>('GET', `/api/dns/${domain.id}/changed-records?since=${serial}`)).body
      .result
  const whole = async (domain: Domain): Promise<{ data: DnsRecord[]; serial: number }> =>
    (
      await call<{ data: DnsRecord[]; serial: number }>(
        'GET',
        `/api/dns/${domain.id}/records?limit=100`,
      )
    ).body.result

  test('is told what changed since it was read, by anybody, and is the list again', async () => {
    const domain = await create()
    const [a, b] = [await add(domain, { name: 'a' }), await add(domain, { name: 'b' })]
    let copy = await whole(domain)
    const catchUp = async () => {
      const { data, gone, serial } = await since(domain, copy.serial)
      const fresh = new Map(data?.map((record) => [record.id, record]))
      const had = new Set(copy.data.map(({ id }) => id))
      copy = {
        serial,
        data: [
          ...(data ?? []).filter(({ id }) => !had.has(id)),
          ...copy.data
            .filter(({ id }) => !gone.includes(id))
            .map((record) => fresh.get(record.id) ?? record),
        ],
      }
      expect(copy).toEqual(await whole(domain))
      return { data, gone }
    }
    expect(await catchUp()).toEqual({ data: [], gone: [] })
    await add(domain, { name: 'a', content: '203.0.113.9', ttl: 60 })
    expect((await catchUp()).data?.map(({ ttl }) => ttl)).toEqual([60, 60])
    const removed = await call<{ changeId: string }>(
      'POST',
      `/api/dns/${domain.id}/records/delete`,
      { ids: [a.id, b.id] },
    )
    expect((await catchUp()).gone.toSorted()).toEqual([a.id, b.id].toSorted())
    await call('POST', `/api/dns/${domain.id}/changes/${removed.body.result.changeId}/undo`, {})
    await call('POST', `/api/dns/${domain.id}/zone`, {
      content: 'c 60 A 203.0.113.1\nd 60 TXT "x"\n',
    })
    await catchUp()
    await call('POST', `/api/dns/${domain.id}/zone`, {
      content: 'e 60 A 203.0.113.1\n',
      mode: 'replace',
    })
    await catchUp()
    expect(copy.data).toHaveLength(1)
  })

  test('is told to begin again when it lags too far behind or never was', async () => {
    const domain = await create()
    const { serial } = await whole(domain)
    expect(await since(domain, serial + 1000)).toMatchObject({ data: null })
    const file = Array.from(
      { length: 2001 },
      (_, n) => `h${n} 300 IN A 10.1.${n >> 8}.${n & 255}`,
    ).join('\n')
    await call('POST', `/api/dns/${domain.id}/zone`, { content: file })
    const lagging = await since(domain, serial)
    expect(lagging).toMatchObject({ data: null, gone: [] })
    expect(await since(domain, lagging.serial)).toEqual({
      serial: lagging.serial,
      data: [],
      gone: [],
    })
    for (const bad of ['x', '-1', '1.5'])
      expect(
        (await call('GET', `/api/dns/${domain.id}/changed-records?since=${bad}`)).status,
        bad,
      ).toBe(422)
    expect((await call('GET', '/api/dns/none/changed-records?since=0')).status).toBe(404)
  })
})

test('what is allowed and probably not meant is told with what was written', async () => {
  const domain = await create()
  expect((await add(domain, {})).warnings).toBeUndefined()
  await add(domain, { name: 'dele', type: 'NS', content: 'ns1.example.com' })
  expect((await add(domain, { name: 'a.dele' })).warnings).toMatchObject([{ code: 'occluded' }])
  await add(domain, { name: '@', type: 'TXT', content: 'v=spf1 -all' })
  const second = await add(domain, { name: '@', type: 'TXT', content: 'v=spf1 mx -all' })
  expect(second.warnings).toMatchObject([{ code: 'spf_twice' }])
  const mail = await add(domain, {
    name: '@',
    type: 'MX',
    content: `mail.${domain.name}`,
    priority: 5,
  })
  expect(mail.warnings).toMatchObject([{ code: 'mail_host_missing' }])
  await add(domain, { name: 'mail' })
  const put = await call<Written>('PUT', `/api/dns/${domain.id}/records/${mail.id}`, {
    name: '@',
    type: 'MX',
    content: `mail.${domain.name}`,
    ttl: 600,
    priority: 5,
  })
  expect(put.body.result.warnings).toBeUndefined()
  const inside = await call<Written>(
    'POST',
    `/api/dns/${domain.id}/records`,
    { name: 'nas', type: 'A', content: '192.168.1.5', ttl: 300 },
    'vi',
  )
  expect(inside.body.result.warnings).toEqual([
    { code: 'private_address', text: expect.stringContaining('địa chỉ nội bộ') as string },
  ])
})
