/**
 * The verdicts of the delegation check, on a small internet of real name servers: how the domain is
 * delegated, and what else hinders a site.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  advised,
  delegationsOf,
  old,
  oldGlue,
  openWorld,
  pair,
  pool,
  summaryOf,
  warned,
  zone,
  type World,
} from '../../../test/delegation-world.ts'
import type { Hierarchy, LittleServer } from '../../../test/dns-hierarchy.ts'

let net: Hierarchy
let world: World
beforeEach(async () => {
  ;({ net, world } = await openWorld())
})
afterEach(() => net.close())
const { delegate, serve, check } = delegationsOf(
  () => net,
  () => world,
)

describe('the eleven scenarios of the field', () => {
  it('1 a name that is not registered', async () => {
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('register it')
  })
  it('2 delegated elsewhere', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    const verdict = await check()
    expect(summaryOf(verdict)).toBe(`other_nameservers: ${old.join(' ')}`)
    expect(advised(verdict)).toBe(
      'shop.com still uses ns1.oldhost.com, ns2.oldhost.com: replace them with ' +
        'ns1.portal.example, ns2.portal.example at the registrar where shop.com was bought.',
    )
  })
  it('3 the child zone claims our name servers, the parent does not', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    zone([world.oldHost], 'shop.com', pair)
    serve('shop.com')
    expect(summaryOf(await check())).toBe(`other_nameservers: ${old.join(' ')}`)
    expect(world.oldHost.queries).toEqual([])
  })
  it('4 one of ours and one old', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example', 'ns1.oldhost.com'] })
    serve('shop.com')
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('extra_nameservers: ns1.oldhost.com ns1.portal.example')
    expect(advised(verdict)).toContain('remove ns1.oldhost.com and add ns2.portal.example')
  })
  it('5 delegated to us, but the zone is not on our servers', async () => {
    delegate('shop.com', { ns: pair })
    const verdict = await check()
    expect(summaryOf(verdict)).toBe(`not_answering: ${pair.join(' ')}`)
    expect(advised(verdict)).toContain('our name servers do not serve it yet')
  })
  it('6 a name in another script (chào.vn)', async () => {
    delegate('xn--cho-bla.vn', { ns: pair }, [world.vn])
    serve('xn--cho-bla.vn')
    expect(summaryOf(await check('xn--cho-bla.vn'))).toBe('valid')
  })
  it('7 below an ending of two parts (brand.com.vn)', async () => {
    delegate('brand.com.vn', { ns: pair }, [world.comVn])
    serve('brand.com.vn')
    expect(summaryOf(await check('brand.com.vn'))).toBe('valid')
  })
  it('8 an ending itself (com.vn)', async () => {
    const verdict = await check('com.vn')
    expect(summaryOf(verdict)).toBe('public_suffix:')
    expect(world.root.flatMap(({ queries }) => queries)).toEqual([])
  })
  it('9 just after the registrar changed it', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    serve('shop.com')
    expect(summaryOf(await check())).toBe(`other_nameservers: ${old.join(' ')}`)
    delegate('shop.com', { ns: pair })
    expect(summaryOf(await check())).toBe('valid')
  })
  it('10 registered a moment ago', async () => {
    serve('shop.com')
    expect(summaryOf(await check())).toBe('not_registered:')
    delegate('shop.com', { ns: pair })
    expect(summaryOf(await check())).toBe('valid')
  })
  it('11 a DS record was left at the registrar', async () => {
    delegate('shop.com', { ns: pair, ds: 12345 })
    serve('shop.com')
    const verdict = await check()
    expect(summaryOf(verdict)).toBe(`stale_ds: ${pair.join(' ')}`)
    expect(advised(verdict)).toContain('remove the DS record at the registrar')
  })
})

describe('which names the parent has', () => {
  it('12 registered without name servers', async () => {
    world.com.forEach((server) =>
      server.zones.get('com')?.records.push({ type: 'TXT', name: 'shop.com', data: 'parked' }),
    )
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('has no name servers yet')
  })
  it('13 only one of ours', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example'] })
    serve('shop.com')
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('other_nameservers: ns1.portal.example')
    expect(advised(verdict)).toContain('add ns2.portal.example')
  })
  it('14 both of ours and an old one', async () => {
    delegate('shop.com', { ns: [...pair, 'ns1.oldhost.com'] })
    serve('shop.com')
    const verdict = await check()
    expect(summaryOf(verdict)).toBe(
      'extra_nameservers: ns1.oldhost.com ns1.portal.example ns2.portal.example',
    )
    expect(advised(verdict)).not.toContain(' and add')
  })
  it('15 the pair of another customer', async () => {
    delegate('shop.com', { ns: ['ns3.portal.example', 'ns4.portal.example'] })
    serve('shop.com')
    expect(summaryOf(await check())).toBe(
      'other_nameservers: ns3.portal.example ns4.portal.example',
    )
  })
  it('16 one of each pair', async () => {
    delegate('shop.com', { ns: ['ns1.portal.example', 'ns4.portal.example'] })
    serve('shop.com')
    expect(summaryOf(await check())).toBe(
      'extra_nameservers: ns1.portal.example ns4.portal.example',
    )
  })
  it('17 the change has reached one of the two parents', async () => {
    const [first, second] = world.com as [LittleServer, LittleServer]
    delegate('shop.com', { ns: pair }, [first])
    delegate('shop.com', { ns: old, glue: oldGlue }, [second])
    serve('shop.com')
    const verdict = await check()
    expect(summaryOf(verdict)).toMatch(/^extra_nameservers/)
    expect(advised(verdict)).toContain('check again in a few minutes')
  })
  it('18 one of the parents does not know the name yet', async () => {
    const [first] = world.com as [LittleServer, LittleServer]
    delegate('shop.com', { ns: pair }, [first])
    serve('shop.com')
    const verdict = await check()
    expect(verdict.isValid).toBe(false)
    expect(advised(verdict)).toContain('Nothing to change')
  })
  it('19 capitals and dots at the end', async () => {
    delegate('shop.com', { ns: ['NS2.Portal.Example.', 'Ns1.PORTAL.example'] })
    serve('shop.com')
    expect(summaryOf(await check('SHOP.com.'))).toBe('valid')
  })
  it('20 the parent serves the child too', async () => {
    for (const server of world.com) zone([server], 'shop.com', pair)
    serve('shop.com')
    expect(summaryOf(await check())).toBe('valid')
  })
  it('21 names that are no names are not believed and not asked for', async () => {
    delegate('shop.com', { ns: ['ns1 .evil<script>.com', 'ns2.portal.example'] })
    serve('shop.com')
    expect((await check()).reason).toBe('extra_nameservers')
  })
})

describe('below a domain that is registered', () => {
  beforeEach(() => delegate('shop.com', { ns: ['ns3.portal.example', 'ns4.portal.example'] }))
  it('42 delegated by a zone of ours', async () => {
    zone(world.ours, 'shop.com', pool.slice(2)).delegations.set('blog.shop.com', { ns: pair })
    // the cut hides the zone below from the same server, as a server of both would answer for it
    for (const server of world.ours) zone([server], 'blog.shop.com', pair)
    expect(summaryOf(await check('blog.shop.com'))).toBe('valid')
  })
  it('43 not delegated: told where', async () => {
    zone(world.ours, 'shop.com', pool.slice(2))
    const verdict = await check('blog.shop.com')
    expect(summaryOf(verdict)).toBe('not_registered:')
    expect(advised(verdict)).toContain('in the DNS of shop.com, as NS records of blog.shop.com')
  })
})

describe('what else hinders a site', () => {
  const sites = { addresses: async () => ['203.0.113.80'], certificateIssuers: ['letsencrypt.org'] }
  const caa = (name: string, value: string) => ({
    type: 'CAA' as const,
    name,
    data: { flags: 0, tag: 'issue' as const, value },
  })
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
    expect([summaryOf(verdict), ...warned(verdict)]).toEqual(['valid', 'stray_aaaa'])
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
    expect([summaryOf(verdict), ...warned(verdict)]).toEqual(['valid', ...codes])
  })
  it('50 CAA of the domain above', async () => {
    delegate('shop.com', { ns: old, glue: oldGlue })
    delegate('oldhost.com', { ns: old, glue: oldGlue })
    zone([world.oldHost], 'shop.com', old, [caa('shop.com', 'ca.example')]).delegations.set(
      'blog.shop.com',
      { ns: pair },
    )
    serve('blog.shop.com')
    const verdict = await check('blog.shop.com', { sites })
    expect([summaryOf(verdict), ...warned(verdict)]).toEqual(['valid', 'caa'])
    expect(verdict.warnings[0]?.text.en).toContain('CAA record of shop.com')
  })
})
