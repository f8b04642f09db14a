/** The DNS records about letters from a domain: SPF, DKIM and DMARC. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MailDomain } from '../../../contract/wordpress-mail.ts'
import { dig } from '../../../test/dig.ts'
import { signatureOf } from '../../../test/dkim.ts'
import type { TestDns } from '../../../test/dns-server.ts'
import { domainsOf } from '../../../test/domain-owner.ts'
import { mailServersOf, openMailPortal, type MailServer } from '../../../test/mail-world.ts'
import type { TestPortal } from '../../../test/portal.ts'

let dns: TestDns
let portal: TestPortal
let an: MailServer
let domainId: string
beforeAll(async () => {
  ;({ dns, portal } = await openMailPortal())
  an = await server()
  domainId = (await domainFor(an, 'coffee.com.vn')).id
  // A domain of another customer.
  await domainFor(await server(), 'rival.com.vn')
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { call, server, send, became, raw, header, domainFor } = mailServersOf(() => portal)
const texts = async (name: string): Promise<readonly string[]> =>
  (await dig(portal.config.DNS_PORT, { name, type: 'TXT', edns: 4096 })).answer.map((line) =>
    line.slice(line.indexOf(' TXT ') + ' TXT '.length),
  )

describe('SPF, DKIM and DMARC', () => {
  const records = async (of = an): Promise<MailDomain[]> =>
    (await call<{ data: MailDomain[] }>(of, 'GET', '/mail/records')).body.result.data
  const stateOf = (domain: MailDomain | undefined): Record<string, string> =>
    Object.fromEntries((domain?.records ?? []).map(({ kind, state: of }) => [kind, of]))

  test('are written by one press where the zone is here; SPF stays one record', async () => {
    const zone = domainsOf(
      () => an.owner,
      () => portal,
    )
    await zone.add({ id: domainId } as never, {
      name: '@',
      type: 'TXT',
      content: 'v=spf1 include:_spf.google.com -all',
      proxied: false,
    })
    const [before] = await records()
    expect([before?.domain, before?.here]).toEqual(['coffee.com.vn', true])
    expect(stateOf(before)).toEqual({ spf: 'differs', dkim: 'missing', dmarc: 'missing' })
    const written = await call<MailDomain>(an, 'POST', '/mail/records', {
      domain: 'coffee.com.vn',
    })
    expect(written.status, written.text).toBe(200)
    expect(stateOf(written.body.result)).toEqual({ spf: 'found', dkim: 'found', dmarc: 'found' })
    expect(await texts('coffee.com.vn')).toEqual([
      'v=spf1 include:_spf.relay.example include:_spf.google.com -all',
    ])
    expect(await texts('_dmarc.coffee.com.vn')).toEqual(['v=DMARC1; p=none'])
    // The same request again changes nothing.
    const again = await call<MailDomain>(an, 'POST', '/mail/records', { domain: 'coffee.com.vn' })
    expect(again.body.result).toEqual(written.body.result)
    expect(await texts('coffee.com.vn')).toHaveLength(1)
  })

  test('the signature of a letter holds by the key in the zone', async () => {
    const headers = 'From: an@coffee.com.vn\r\nContent-Type: text/html; charset=UTF-8'
    const body = `<p>Xin chào ${'rất dài '.repeat(300)}</p>\n.\n..\n`
    expect(await send(an, { to: 'signed@example.vn', subject: 'Đã ký', body, headers })).toBe(true)
    await became(an, 'signed@example.vn', 'sent')
    const signature = await signatureOf(await raw('signed@example.vn'), texts)
    expect(signature?.domain).toBe('coffee.com.vn')
    // With one word changed the signature is invalid.
    const letter = (await raw('signed@example.vn')).toString('latin1')
    const altered = letter.replaceAll('an@coffee', 'on@coffee')
    expect(await signatureOf(Buffer.from(altered, 'latin1'), texts)).toBeUndefined()
  })

  test('beside an alias only what may stand is written', async () => {
    const [, www] = await records()
    expect([www?.domain, stateOf(www)['spf']]).toEqual(['www.coffee.com.vn', 'alias'])
    const written = await call<MailDomain>(an, 'POST', '/mail/records', {
      domain: 'www.coffee.com.vn',
    })
    expect(written.status, written.text).toBe(200)
    expect(stateOf(written.body.result)).toEqual({ spf: 'alias', dkim: 'found', dmarc: 'found' })
  })

  test('of a name that only a wildcard answers for leave its visitors what they had', async () => {
    const [zone, name] = ['tea.com.vn', 'blog.tea.com.vn']
    const wild = await server()
    const { id } = await domainFor(wild, zone)
    const domains = domainsOf(
      () => wild.owner,
      () => portal,
    )
    const add = (type: 'A' | 'CNAME' | 'TXT', content: string) =>
      domains.add({ id } as never, { name: '*', type, content, proxied: false })
    const host = `${wild.name}.sites.example.net`
    const alias = await add('CNAME', host)
    dns.records.set(`CNAME ${name}`, [host])
    const put = await call(wild, 'PUT', '/domain', {
      id: wild.id,
      name: wild.name,
      domains: [zone, `www.${zone}`, name],
    })
    expect(put.status, put.text).toBe(200)
    await domains.call('DELETE', `/api/dns/${id}/records/${alias.id}`)
    await add('A', '203.0.113.7')
    await add('TXT', 'v=spf1 include:_spf.google.com -all')
    const written = await call<MailDomain>(wild, 'POST', '/mail/records', { domain: name })
    expect(stateOf(written.body.result)).toEqual({ spf: 'found', dkim: 'found', dmarc: 'found' })
    const { answer } = await dig(portal.config.DNS_PORT, { name, type: 'A' })
    expect(answer).toEqual([`${name} 300 A 203.0.113.7`])
    expect(await texts(name)).toEqual([
      'v=spf1 include:_spf.relay.example include:_spf.google.com -all',
    ])
    // Names below it keep the nearest wildcard, too.
    const below = await dig(portal.config.DNS_PORT, { name: `www.${name}`, type: 'A' })
    expect(below.answer).toEqual([`www.${name} 300 A 203.0.113.7`])
    // The wildcard itself is not changed.
    expect(await texts(`other.${zone}`)).toEqual(['v=spf1 include:_spf.google.com -all'])
  })

  test('of a zone elsewhere are shown, and not written', async () => {
    const name = 'elsewhere.example.org'
    dns.records.set(`CNAME ${name}`, [`${an.name}.sites.example.net`])
    const put = await call(an, 'PUT', '/domain', {
      id: an.id,
      name: an.name,
      domains: ['coffee.com.vn', 'www.coffee.com.vn', name],
    })
    expect(put.status, put.text).toBe(200)
    const shown = (await records()).find(({ domain }) => domain === name)
    expect([shown?.here, stateOf(shown)]).toEqual([
      false,
      { spf: 'alias', dkim: 'missing', dmarc: 'missing' },
    ])
    const refused = await call(an, 'POST', '/mail/records', { domain: name })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('managed elsewhere')
    expect((await call(an, 'POST', '/mail/records', { domain: 'rival.com.vn' })).status).toBe(404)
    // The owner adds the records there.
    for (const record of shown?.records ?? [])
      if (record.kind !== 'spf') dns.records.set(`TXT ${record.name}`, [record.value])
    expect(stateOf((await records()).find(({ domain }) => domain === name))).toEqual({
      spf: 'alias',
      dkim: 'found',
      dmarc: 'found',
    })
  })

  test('letters of a server without a domain are signed by the sites’ domain', async () => {
    const plain = await server()
    expect(await send(plain, { to: 'plain@example.vn' })).toBe(true)
    await became(plain, 'plain@example.vn', 'sent')
    const host = `${plain.name}.sites.example.net`
    expect(await header('plain@example.vn', 'from')).toBe(`wordpress@${host}`)
    expect(await header('plain@example.vn', 'dkim-signature')).toContain('d=sites.example.net;')
    expect(await records(plain)).toEqual([])
  })
})
