/**
 * How the delegation check finds its way on a little internet of real name servers that are silent,
 * lead astray or lead into private networks.
 */
import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  advised,
  delegationsOf,
  openWorld,
  pair,
  patienceMs,
  pool,
  summaryOf,
  suffixes,
  warned,
  zone,
  type World,
} from '../../../test/delegation-world.ts'
import type { Hierarchy, LittleServer } from '../../../test/dns-hierarchy.ts'
import { isPublicAddress } from '../../platform/network.ts'
import { createDelegationCheck } from './index.ts'

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
    expect(summaryOf(await check())).toBe('valid')
  })
  it.each([
    ['27', 'silent'],
    ['28', 'refuses'],
    ['29', 'refers up'],
  ] as const)('%s all of them: %s', async (_, manner) => {
    for (const server of world.com) misbehaves(server, manner)
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('not_answering:')
    expect(advised(verdict)).toContain('nothing to change')
  })
  it('30 an answer that does not fit comes over TCP', async () => {
    for (const server of [...world.com, ...world.root]) misbehaves(server, 'truncates')
    expect(summaryOf(await check())).toBe('valid')
  })
  it('31 servers that know no EDNS', async () => {
    for (const server of world.com) misbehaves(server, 'knows no EDNS')
    expect(summaryOf(await check())).toBe('valid')
  })
  it('32 one root server is silent', async () => {
    misbehaves(world.root[0], 'silent')
    expect(summaryOf(await check())).toBe('valid')
  })
  it('33 every root server is silent, and the check ends in time', async () => {
    for (const server of world.root) misbehaves(server, 'silent')
    const began = performance.now()
    expect(summaryOf(await check())).toBe('not_answering:')
    expect(performance.now() - began).toBeLessThan(4 * patienceMs + 1000)
  })
})

describe('servers whose addresses are not given', () => {
  it('34 the parent has none: its servers are looked up', async () => {
    for (const server of world.root)
      server.zones.get('')?.delegations.set('net', { ns: ['a.netic.com'] })
    delegate('netic.com', { ns: ['a.netic.com'], glue: { 'a.netic.com': ['198.51.100.20'] } })
    zone(
      [world.oldHost],
      'netic.com',
      ['a.netic.com'],
      [{ type: 'A', name: 'a.netic.com', data: '198.51.100.20' }],
    )
    zone([world.oldHost], 'net', ['a.netic.com']).delegations.set('shop.net', { ns: pair })
    serve('shop.net')
    expect(summaryOf(await check('shop.net'))).toBe('valid')
  })
  it('35 two that lead to each other: an end, and few questions', async () => {
    for (const server of world.root)
      server.zones.get('')?.delegations.set('net', { ns: ['a.loop.com', 'b.loop.com'] })
    delegate('loop.com', { ns: ['a.other.com'] })
    delegate('other.com', { ns: ['a.loop.com'] })
    expect(summaryOf(await check('shop.net'))).toBe('not_answering:')
    const asked = [...world.root, ...world.com].flatMap((server) => server.queries)
    expect(asked.length).toBeLessThanOrEqual(60)
  })
  it('36 servers inside the domain, without glue', async () => {
    delegate('shop.com', { ns: ['ns1.shop.com', 'ns2.shop.com'] })
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('other_nameservers: ns1.shop.com ns2.shop.com')
    expect(warned(verdict)).toEqual(['missing_glue'])
  })
  it('37 glue that leads into a private network is named and not followed', async () => {
    delegate('shop.com', { ns: ['ns1.shop.com'], glue: { 'ns1.shop.com': ['10.0.0.1'] } })
    const verdict = await check()
    expect(summaryOf(verdict)).toBe('other_nameservers: ns1.shop.com')
    expect(warned(verdict)).toEqual(['private_glue'])
  })
  it('38 glue of a stranger for a name outside its zone is not believed', async () => {
    delegate('shop.com', { ns: pair, glue: { 'a.root.test': ['198.51.100.20'] } })
    serve('shop.com')
    expect(summaryOf(await check())).toBe('valid')
    expect(world.oldHost.queries).toEqual([])
  })
})

describe('our own servers', () => {
  beforeEach(() => delegate('shop.com', { ns: pair }))
  it('39 silent', async () => {
    for (const server of world.ours) server.manner = 'silent'
    expect(summaryOf(await check())).toBe(`not_answering: ${pair.join(' ')}`)
  })
  it('40 one is silent, the other answers', async () => {
    serve('shop.com')
    ;(world.ours[0] as LittleServer).manner = 'silent'
    expect(summaryOf(await check())).toBe('valid')
  })
  it('41 one does not have the zone', async () => {
    serve('shop.com', [], world.ours.slice(0, 1))
    expect(summaryOf(await check())).toMatch(/^not_answering/)
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
    expect(world.com.flatMap(({ queries }) => queries)).toEqual([])
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
  it.each(['8.8.8.8', '1.1.1.1', '198.41.0.4', '2001:500:2::c', '2606:4700::1111', '172.15.0.1'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
})
