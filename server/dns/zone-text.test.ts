/**
 * A domain's zone file through the API: export, import, preview, refusal as a whole, and the name
 * server's answers afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Domain, Record as DnsRecord } from '../../contract/dns.ts'
import type { Change, ImportPlan } from '../../contract/dns-changes.ts'
import { domainsOf } from '../../test/domain-owner.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  an = await portal.customer()
})
afterAll(() => portal.close())
const { call, create, add, records, answers, resolves } = domainsOf(
  () => an,
  () => portal,
)

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
    await resolves(`y.x.${other.name}`, 'TXT', [
      `y.x.${other.name} 300 TXT ${'đ'.repeat(300)} "quoted" \\ ; $`,
    ])
  })

  test('a preview writes nothing; then the sets of the file become what it says', async () => {
    const domain = await create()
    await add(domain, { name: 'www' })
    await add(domain, { name: 'old', content: '203.0.113.1' })
    const text =
      'www 60 IN A 203.0.113.7\n    60 IN A 203.0.113.8\n@ IN NS ns.other.example.\nnew IN ' +
      'TXT "hello"\n'
    const preview = (await send(domain, text, { preview: true, mode: 'replace' })).body.result
    expect(preview).toMatchObject({ applied: false, unchanged: 0 })
    expect(preview.added.map(({ name, data }) => `${name} ${data[0]}`)).toEqual([
      'www 203.0.113.8',
      'new hello',
    ])
    expect(preview.changed.map(({ before, after }) => [before.ttl, after.ttl])).toEqual([[300, 60]])
    expect(preview.removed.map(({ name }) => name)).toEqual(['old'])
    expect(preview.skipped).toEqual([{ line: 3, text: `${domain.name}. NS ns.other.example` }])
    expect(await records(domain)).toHaveLength(2)
    expect((await send(domain, text)).body.result).toMatchObject({ applied: true, removed: [] })
    expect((await records(domain)).map(({ name }) => name).toSorted()).toEqual([
      'new',
      'old',
      'www',
      'www',
    ])
    await resolves(`new.${domain.name}`, 'TXT', [`new.${domain.name} 60 TXT hello`])
  })

  test('merged, a file adds its values and removes nothing; by sets, it replaces', async () => {
    const domain = await create()
    await add(domain, { name: '@', type: 'MX', content: 'mail.example.com', priority: 5 })
    await add(domain, { name: '@', type: 'MX', content: 'backup.example.com', priority: 9 })
    await add(domain, { name: 'www' })
    const text = '@ 3600 IN MX 10 mx.new-host.com.\n'
    const shown = (plan: ImportPlan) => ({
      added: plan.added.map(({ data, ttl }) => `${data[0]} ${ttl}`),
      changed: plan.changed.length,
      removed: plan.removed.map(({ data }) => data[0] ?? '').toSorted(),
      unchanged: plan.unchanged,
    })
    const merged = { added: ['mx.new-host.com 300'], changed: 0, removed: [], unchanged: 3 }
    expect(shown((await send(domain, text, { preview: true })).body.result)).toEqual(merged)
    const bySets = (await send(domain, text, { preview: true, mode: 'sets' })).body.result
    expect(shown(bySets)).toEqual({
      added: ['mx.new-host.com 3600'],
      changed: 0,
      removed: ['backup.example.com', 'mail.example.com'],
      unchanged: 1,
    })
    expect(shown((await send(domain, text)).body.result)).toEqual(merged)
    expect(
      (await records(domain)).filter(({ type }) => type === 'MX').map(({ data }) => data[0]),
    ).toHaveLength(3)
    // A second alias of one name cannot be added beside the first.
    await add(domain, { name: 'shop', type: 'CNAME', content: 'one.example.com' })
    expect((await send(domain, 'shop IN CNAME two.example.com.\n')).status).toBe(422)
  })

  test('as large as a domain may be, it goes out and in, its change shown in part', async () => {
    const domain = await create()
    const text = Array.from(
      { length: 9_990 },
      (_, n) => `a-rather-long-host-name-${n} 300 IN A 10.1.${n >> 8}.${n & 255}`,
    ).join('\n')
    expect(text.length).toBeGreaterThan(400_000)
    expect((await send(domain, text)).body.result.added).toHaveLength(9_990)
    const out = await file(domain)
    expect(out.text.length).toBeGreaterThan(200_000)
    expect((await send(domain, out.text, { preview: true })).body.result).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      unchanged: 9_990,
    })
    const list = await call<{ data: Change[] }>('GET', `/api/dns/${domain.id}/changes`)
    expect(list.text.length).toBeLessThan(50_000)
    expect(list.body.result.data[0]).toMatchObject({ beforeCount: 0, afterCount: 9_990 })
    expect(list.body.result.data[0]?.after).toHaveLength(100)
    expect((await send(domain, 'x'.repeat(1_048_577))).status).toBe(422)
  })

  test('an empty text is a record, as BIND writes it', async () => {
    const domain = await create()
    expect((await send(domain, 'e 300 IN TXT ""\n')).body.result.added).toMatchObject([
      { name: 'e', data: [''] },
    ])
    await resolves(`e.${domain.name}`, 'TXT', [`e.${domain.name} 300 TXT`])
    expect((await file(domain)).text).toMatch(/^e\s.*TXT\s+""$/m)
    expect((await send(domain, (await file(domain)).text)).body.result.unchanged).toBe(1)
    await add(domain, { name: 'typed', type: 'TXT', content: '""' })
    const { status } = await call('POST', `/api/dns/${domain.id}/records`, {
      name: 'blank',
      type: 'TXT',
      content: '  ',
      ttl: 300,
    })
    expect(status).toBe(422)
  })

  test('one bad line refuses all, and every bad line is named', async () => {
    const domain = await create()
    const refused = await send(
      domain,
      'a IN A 203.0.113.1\nb IN A 1.2.3\n$INCLUDE x\nc IN CNAME a\nc IN A 203.0.113.1\n@ IN ' +
        'SRV 1 1 1 a\n',
    )
    expect(refused.status).toBe(422)
    expect(refused.body.error?.fields?.['content']).toMatch(/Line 2: [^]*Line 3: /)
    expect(await records(domain)).toEqual([])
    const beside = await send(domain, 'c IN CNAME a\nc IN A 203.0.113.1\n')
    expect(beside.body.error?.fields?.['content']).toMatch(/^Line [12]: c: /)
    expect(await records(domain)).toEqual([])
  })

  test('three thousand records: imported, listed page by page, answered', async () => {
    const domain = await create()
    const text = Array.from(
      { length: 3000 },
      (_, n) => `h${n} 300 IN A 10.1.${n >> 8}.${n & 255}`,
    ).join('\n')
    const began = performance.now()
    expect((await send(domain, text)).body.result.added).toHaveLength(3000)
    expect(performance.now() - began).toBeLessThan(10_000)
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(1)
    const [made] = (await call<{ data: Change[] }>('GET', `/api/dns/${domain.id}/changes`)).body
      .result.data
    const undone = await call<Change>('POST', `/api/dns/${domain.id}/changes/${made?.id}/undo`, {})
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(0)
    expect(
      (await call('POST', `/api/dns/${domain.id}/changes/${undone.body.result.id}/undo`, {}))
        .status,
    ).toBe(200)
    await expect.poll(() => answers(`h2999.${domain.name}`, 'A'), { timeout: 1000 }).toHaveLength(1)
    const seen = new Set<string>()
    let cursor: string | null | undefined = ''
    while (cursor !== null && cursor !== undefined) {
      const page: Awaited<ReturnType<typeof call<{ data: DnsRecord[] }>>> = await call<{
        data: DnsRecord[]
      }>('GET', `/api/dns/${domain.id}/records?limit=100${cursor && `&cursor=${cursor}`}`)
      for (const { id } of page.body.result.data) seen.add(id)
      cursor = page.body.page?.next
    }
    expect(seen.size).toBe(3000)
  })
})
