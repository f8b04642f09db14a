/** The delegation check on a little internet of real name servers: root, endings, an old host and ours, well and ill behaved. */
import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHierarchy, type Delegation, type Hierarchy, type LittleServer, type LittleZone } from '../../../test/dns-hierarchy.ts'
import { isPublicAddress } from './addresses.ts'
import { createDelegationCheck, type DelegationOptions, type Verdict } from './index.ts'

const pair = ['ns1.portal.example', 'ns2.portal.example']
const pool = [...pair, 'ns3.portal.example', 'ns4.portal.example']
const old = ['ns1.oldhost.com', 'ns2.oldhost.com']
const oldGlue = { 'ns1.oldhost.com': ['198.51.100.20'], 'ns2.oldhost.com': ['198.51.100.20'] }
/** Long enough for a busy machine; what is silent costs as much. */
const patienceMs = 1000
const suffixes = new Set(['com', 'net', 'vn', 'com.vn'])

interface World {
  root: LittleServer[]
  com: LittleServer[]
  vn: LittleServer
  comVn: LittleServer
  oldHost: LittleServer
  ours: LittleServer[]
}
let net: Hierarchy
let world: World

function zone(servers: readonly LittleServer[], name: string, ns: readonly string[], records: LittleZone['records'] = []): LittleZone {
  const made: LittleZone = { name, ns, delegations: new Map(), records }
  for (const server of servers) server.zones.set(name, made)
  return made
}
/** Each server gets a zone of its own, so that a test can let them disagree. */
function delegate(name: string, delegation: Delegation, servers: readonly LittleServer[] = world.com): void {
  const parent = name.slice(name.indexOf('.') + 1)
  for (const server of servers) server.zones.get(parent)?.delegations.set(name, delegation)
}
/** The zone, on our servers. */
const serve = (name: string, records: LittleZone['records'] = [], servers: readonly LittleServer[] = world.ours): LittleZone =>
  zone(servers, name, pair, records)

beforeEach(async () => {
  net = openHierarchy()
  const open = (...addresses: string[]): Promise<LittleServer[]> => Promise.all(addresses.map((address) => net.server(address)))
  const [root, com, [vn, comVn, oldHost], ours] = await Promise.all([
    open('198.51.100.1', '198.51.100.2'),
    open('198.51.100.3', '198.51.100.4'),
    open('198.51.100.5', '198.51.100.6', '198.51.100.20'),
    open('198.51.100.30', '198.51.100.31'),
  ])
  world = { root, com, vn: vn as LittleServer, comVn: comVn as LittleServer, oldHost: oldHost as LittleServer, ours }
  const top = zone(root, '', ['a.root.test', 'b.root.test'])
  top.delegations.set('com', {
    ns: ['a.gtld.test', 'b.gtld.test'],
    glue: { 'a.gtld.test': ['198.51.100.3'], 'b.gtld.test': ['198.51.100.4'] },
  })
  top.delegations.set('vn', { ns: ['a.nic.vn'], glue: { 'a.nic.vn': ['198.51.100.5'] } })
  for (const server of com) zone([server], 'com', ['a.gtld.test', 'b.gtld.test'])
  zone([world.vn], 'vn', ['a.nic.vn']).delegations.set('com.vn', { ns: ['a.com.vn'], glue: { 'a.com.vn': ['198.51.100.6'] } })
  zone([world.comVn], 'com.vn', ['a.com.vn'])
})
afterEach(() => net.close())

function check(domain = 'shop.com', changes: Partial<DelegationOptions> = {}): Promise<Verdict> {
  const place = (server: LittleServer) => net.endpointOf(server.address) as { address: string; port: number }
  return createDelegationCheck({
    roots: world.root.map(place),
    port: 53,
    timeoutMs: patienceMs,
    totalTimeoutMs: 4 * patienceMs,
    ourAddresses: world.ours.map(place),
    ourNames: pool,
    publicSuffix: (name) => suffixes.has(name),
    endpointOf: net.endpointOf,
    ...changes,
  }).check({ domain, expected: pair })
}
/** The reason and the found names, with both languages of the advice looked at. */
function said(verdict: Verdict): string {
  expect(verdict.expected).toEqual(pair)
  if (verdict.isValid) {
    expect(verdict.reason ?? verdict.advice).toBeUndefined()
    return 'valid'
  }
  expect(verdict.advice?.en).toMatch(/^[A-Z].*\.$|^[a-z0-9-]+\.[a-z].*\.$/)
  expect(verdict.advice?.vi).toMatch(/[à-ỹ]/)
  expect(verdict.advice?.vi).not.toBe(verdict.advice?.en)
  return `${verdict.reason}: ${verdict.found.join(' ')}`.trim()
}
const advised = (verdict: Verdict): string => verdict.advice?.en ?? ''
const warned = (verdict: Verdict): string[] => verdict.warnings.map(({ code }) => code)

describe('the eleven scenarios of the field', () => {
  it('1 a name that is not registered', async () => {
    const verdict = await check()
    expect(said(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('register it')
  })
  it('2 delegated elsewhere', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    const verdict = await check()
    expect(said(verdict)).toBe(`other_nameservers: ${old.join(' ')}`)
    expect(advised(verdict)).toBe(
      'shop.com still uses ns1.oldhost.com, ns2.oldhost.com: replace them with ns1.portal.example, ns2.portal.example at the registrar where shop.com was bought.',
    )
  })
  it('3 the child zone claims our name servers, the parent does not', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    zone([world.oldHost], 'shop.com', pair)
    serve('shop.com')
    expect(said(await check())).toBe(`other_nameservers: ${old.join(' ')}`)
    expect(world.oldHost.asked).toEqual([])
  })
  it('4 one of ours and one old', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example', 'ns1.oldhost.com'] })
    serve('shop.com')
    const verdict = await check()
    expect(said(verdict)).toBe('extra_nameservers: ns1.oldhost.com ns1.portal.example')
    expect(advised(verdict)).toContain('remove ns1.oldhost.com and add ns2.portal.example')
  })
  it('5 delegated to us, but the zone is not on our servers', async () => {
    delegate('shop.com', { ns: pair })
    const verdict = await check()
    expect(said(verdict)).toBe(`not_answering: ${pair.join(' ')}`)
    expect(advised(verdict)).toContain('our name servers do not answer')
  })
  it('6 a name in another script (chào.vn)', async () => {
    delegate('xn--cho-bla.vn', { ns: pair }, [world.vn])
    serve('xn--cho-bla.vn')
    expect(said(await check('xn--cho-bla.vn'))).toBe('valid')
  })
  it('7 below an ending of two parts (brand.com.vn)', async () => {
    delegate('brand.com.vn', { ns: pair }, [world.comVn])
    serve('brand.com.vn')
    expect(said(await check('brand.com.vn'))).toBe('valid')
  })
  it('8 an ending itself (com.vn)', async () => {
    const verdict = await check('com.vn')
    expect(said(verdict)).toBe('public_suffix:')
    expect(world.root.flatMap(({ asked }) => asked)).toEqual([])
  })
  it('9 just after the registrar changed it', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    serve('shop.com')
    expect(said(await check())).toBe(`other_nameservers: ${old.join(' ')}`)
    delegate('shop.com', { ns: pair })
    expect(said(await check())).toBe('valid')
  })
  it('10 registered a moment ago', async () => {
    serve('shop.com')
    expect(said(await check())).toBe('not_registered:')
    delegate('shop.com', { ns: pair })
    expect(said(await check())).toBe('valid')
  })
  it('11 a DS record was left at the registrar', async () => {
    delegate('shop.com', { ns: pair, ds: 12345 })
    serve('shop.com')
    const verdict = await check()
    expect(said(verdict)).toBe(`stale_ds: ${pair.join(' ')}`)
    expect(advised(verdict)).toContain('remove the DS record at the registrar')
  })
})

describe('which names the parent has', () => {
  it('12 registered without name servers', async () => {
    world.com.forEach((server) => server.zones.get('com')?.records.push({ type: 'TXT', name: 'shop.com', data: 'parked' }))
    const verdict = await check()
    expect(said(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('has no name servers yet')
  })
  it('13 only one of ours', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example'] })
    serve('shop.com')
    const verdict = await check()
    expect(said(verdict)).toBe('other_nameservers: ns1.portal.example')
    expect(advised(verdict)).toContain('add ns2.portal.example')
  })
  it('14 both of ours and an old one', async () => {
    delegate('shop.com', { ns: [...pair, 'ns1.oldhost.com'] })
    serve('shop.com')
    const verdict = await check()
    expect(said(verdict)).toBe('extra_nameservers: ns1.oldhost.com ns1.portal.example ns2.portal.example')
    expect(advised(verdict)).not.toContain(' and add')
  })
  it('15 the pair of another customer', async () => {
    delegate('shop.com', { ns: ['ns3.portal.example', 'ns4.portal.example'] })
    serve('shop.com')
    expect(said(await check())).toBe('other_nameservers: ns3.portal.example ns4.portal.example')
  })
  it('16 one of each pair', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example', 'ns4.portal.example'] })
    serve('shop.com')
    expect(said(await check())).toBe('extra_nameservers: ns1.portal.example ns4.portal.example')
  })
  it('17 the change has reached one of the two parents', async () => {
    const [first, second] = world.com as [LittleServer, LittleServer]
    delegate('shop.com', { ns: pair }, [first])
    delegate('shop.com', { ns: old, glue: oldGlue }, [second])
    serve('shop.com')
    const verdict = await check()
    expect(said(verdict)).toMatch(/^extra_nameservers/)
    expect(advised(verdict)).toContain('check again in a few minutes')
  })
  it('18 one of the parents does not know the name yet', async () => {
    const [first] = world.com as [LittleServer, LittleServer]
    delegate('shop.com', { ns: pair }, [first])
    serve('shop.com')
    const verdict = await check()
    expect(verdict.isValid).toBe(false)
    expect(advised(verdict)).toContain('nothing to change')
  })
  it('19 capitals and dots at the end', async () => {
    delegate('shop.com', { ns: ['NS2.Portal.Example.', 'Ns1.PORTAL.example'] })
    serve('shop.com')
    expect(said(await check('SHOP.com.'))).toBe('valid')
  })
  it('20 the parent serves the child too', async () => {
    for (const server of world.com) zone([server], 'shop.com', pair)
    serve('shop.com')
    expect(said(await check())).toBe('valid')
  })
  it('21 names that are no names are not believed and not asked for', async () => {
    delegate('shop.com', { ns: ['ns1 .evil<script>.com', 'ns2.portal.example'] })
    serve('shop.com')
    expect((await check()).reason).toBe('extra_nameservers')
  })
})

describe('parents that misbehave', () => {
  beforeEach(() => {
    delegate('shop.com', { ns: pair })
    serve('shop.com')
  })
  const misbehaves = (server: LittleServer | undefined, manner: LittleServer['manner']): void => {
    if (server) server.manner = manner
  }
  it.each([
    ['22', 'silent'],
    ['23', 'refuses'],
    ['24', 'fails'],
    ['25', 'answers aside'],
    ['26', 'refers up'],
  ] as const)('%s one of two %s: the other is believed', async (_, manner) => {
    misbehaves(world.com[0], manner)
    expect(said(await check())).toBe('valid')
  })
  it.each([
    ['27', 'silent'],
    ['28', 'refuses'],
    ['29', 'refers up'],
  ] as const)('%s all of them: %s', async (_, manner) => {
    for (const server of world.com) misbehaves(server, manner)
    const verdict = await check()
    expect(said(verdict)).toBe('not_answering:')
    expect(advised(verdict)).toContain('nothing to change')
  })
  it('30 an answer that does not fit comes over TCP', async () => {
    for (const server of [...world.com, ...world.root]) misbehaves(server, 'truncates')
    expect(said(await check())).toBe('valid')
  })
  it('31 servers that know no EDNS', async () => {
    for (const server of world.com) misbehaves(server, 'knows no EDNS')
    expect(said(await check())).toBe('valid')
  })
  it('32 one root server is silent', async () => {
    misbehaves(world.root[0], 'silent')
    expect(said(await check())).toBe('valid')
  })
  it('33 every root server is silent, and the check ends in time', async () => {
    for (const server of world.root) misbehaves(server, 'silent')
    const began = performance.now()
    expect(said(await check())).toBe('not_answering:')
    expect(performance.now() - began).toBeLessThan(4 * patienceMs + 1000)
  })
})

describe('servers whose addresses are not given', () => {
  it('34 the parent has none: its servers are looked up', async () => {
    for (const server of world.root) server.zones.get('')?.delegations.set('net', { ns: ['a.netic.com'] })
    delegate('netic.com', { ns: ['a.netic.com'], glue: { 'a.netic.com': ['198.51.100.20'] } })
    zone([world.oldHost], 'netic.com', ['a.netic.com'], [{ type: 'A', name: 'a.netic.com', data: '198.51.100.20' }])
    zone([world.oldHost], 'net', ['a.netic.com']).delegations.set('shop.net', { ns: pair })
    serve('shop.net')
    expect(said(await check('shop.net'))).toBe('valid')
  })
  it('35 two that lead to each other: an end, and few questions', async () => {
    for (const server of world.root) server.zones.get('')?.delegations.set('net', { ns: ['a.loop.com', 'b.loop.com'] })
    delegate('loop.com', { ns: ['a.other.com'] })
    delegate('other.com', { ns: ['a.loop.com'] })
    expect(said(await check('shop.net'))).toBe('not_answering:')
    const asked = [...world.root, ...world.com].flatMap((server) => server.asked)
    expect(asked.length).toBeLessThanOrEqual(60)
  })
  it('36 servers inside the domain, without glue', async () => {
    delegate('shop.com', { ns: ['ns1.shop.com', 'ns2.shop.com'] })
    const verdict = await check()
    expect(said(verdict)).toBe('other_nameservers: ns1.shop.com ns2.shop.com')
    expect(warned(verdict)).toEqual(['missing_glue'])
  })
  it('37 glue that leads into a private network is named and not followed', async () => {
    delegate('shop.com', { ns: ['ns1.shop.com'], glue: { 'ns1.shop.com': ['10.0.0.1'] } })
    const verdict = await check()
    expect(said(verdict)).toBe('other_nameservers: ns1.shop.com')
    expect(warned(verdict)).toEqual(['private_glue'])
  })
  it('38 glue of a stranger for a name outside its zone is not believed', async () => {
    delegate('shop.com', { ns: pair, glue: { 'a.root.test': ['198.51.100.20'] } })
    serve('shop.com')
    expect(said(await check())).toBe('valid')
    expect(world.oldHost.asked).toEqual([])
  })
})

describe('our own servers', () => {
  beforeEach(() => delegate('shop.com', { ns: pair }))
  it('39 silent', async () => {
    for (const server of world.ours) server.manner = 'silent'
    expect(said(await check())).toBe(`not_answering: ${pair.join(' ')}`)
  })
  it('40 one is silent, the other answers', async () => {
    serve('shop.com')
    ;(world.ours[0] as LittleServer).manner = 'silent'
    expect(said(await check())).toBe('valid')
  })
  it('41 one does not have the zone', async () => {
    serve('shop.com', [], world.ours.slice(0, 1))
    expect(said(await check())).toMatch(/^not_answering/)
  })
})

describe('below a domain that is registered', () => {
  beforeEach(() => delegate('shop.com', { ns: ['ns3.portal.example', 'ns4.portal.example'] }))
  it('42 delegated by a zone of ours', async () => {
    zone(world.ours, 'shop.com', pool.slice(2)).delegations.set('blog.shop.com', { ns: pair })
    // the cut hides the zone below from the same server, as a server of both would answer for it
    for (const server of world.ours) zone([server], 'blog.shop.com', pair)
    expect(said(await check('blog.shop.com'))).toBe('valid')
  })
  it('43 not delegated: told where', async () => {
    zone(world.ours, 'shop.com', pool.slice(2))
    const verdict = await check('blog.shop.com')
    expect(said(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('in the DNS of shop.com, as NS records of blog.shop.com')
  })
})

describe('what else hinders a site', () => {
  const sites = { addresses: async () => ['203.0.113.80'], certificateIssuers: ['letsencrypt.org'] }
  const caa = (name: string, value: string) => ({ type: 'CAA' as const, name, data: { flags: 0, tag: 'issue' as const, value } })
  beforeEach(() => delegate('shop.com', { ns: pair }))

  it('44 DNSSEC is on while the domain is still elsewhere', async () => {
    delegate('shop.com', { ns: old, ds: 1 })
    expect(warned(await check())).toEqual(['stale_ds'])
  })
  it('45 an AAAA record that leads elsewhere', async () => {
    serve('shop.com', [
      { type: 'A', name: 'shop.com', data: '203.0.113.80' },
      { type: 'AAAA', name: 'shop.com', data: '2001:db8::1' },
    ])
    const verdict = await check('shop.com', { sites })
    expect([said(verdict), ...warned(verdict)]).toEqual(['valid', 'stray_aaaa'])
    expect(verdict.warnings[0]?.text.vi).toContain('2001:db8::1')
  })
  it('46 a domain that is no site of ours may have what it likes', async () => {
    serve('shop.com', [
      { type: 'A', name: 'shop.com', data: '192.0.2.1' },
      { type: 'AAAA', name: 'shop.com', data: '2001:db8::1' },
    ])
    expect(warned(await check('shop.com', { sites }))).toEqual([])
  })
  it.each([
    ['47 CAA names another authority', 'ca.example', ['caa']],
    ['48 CAA forbids everybody', ';', ['caa']],
    ['49 CAA names ours, with parameters', 'letsencrypt.org; validationmethods=dns-01', []],
  ])('%s', async (_, value, codes) => {
    serve('shop.com', [caa('shop.com', value)])
    const verdict = await check('shop.com', { sites })
    expect([said(verdict), ...warned(verdict)]).toEqual(['valid', ...codes])
  })
  it('50 CAA of the domain above', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    delegate('oldhost.com', { ns: old, glue: oldGlue })
    zone([world.oldHost], 'shop.com', old, [caa('shop.com', 'ca.example')]).delegations.set('blog.shop.com', { ns: pair })
    serve('blog.shop.com')
    const verdict = await check('blog.shop.com', { sites })
    expect([said(verdict), ...warned(verdict)]).toEqual(['valid', 'caa'])
    expect(verdict.warnings[0]?.text.en).toContain('CAA record of shop.com')
  })
})

describe('addresses', () => {
  it('asks nobody in a private network on a stranger’s word', async () => {
    const verdict = await createDelegationCheck({
      roots: [net.endpointOf('198.51.100.1') as { address: string; port: number }],
      port: 53,
      timeoutMs: 300,
      ourAddresses: [],
      ourNames: pool,
      publicSuffix: (name) => suffixes.has(name),
    }).check({ domain: 'shop.com', expected: pair })
    expect(verdict.reason).toBe('not_answering')
    expect(world.com.flatMap(({ asked }) => asked)).toEqual([])
  })
  it.each([
    '10.1.2.3',
    '127.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
  it.each(['8.8.8.8', '1.1.1.1', '198.41.0.4', '2001:500:2::c', '2606:4700::1111', '172.15.0.1'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  )
})
