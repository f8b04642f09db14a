/**
 * A small simulated internet for delegation checks: root, endings, an old host and our servers; and
 * helpers to read a check's result.
 */
import { expect } from 'vitest'
import {
  createDelegationCheck,
  type DelegationOptions,
  type Verdict,
} from '../server/dns/delegation/index.ts'
import {
  openHierarchy,
  type Delegation,
  type Hierarchy,
  type LittleServer,
  type LittleZone,
} from './dns-hierarchy.ts'

export const pair = ['ns1.portal.example', 'ns2.portal.example']
export const pool = [...pair, 'ns3.portal.example', 'ns4.portal.example']
export const old = ['ns1.oldhost.com', 'ns2.oldhost.com']
export const oldGlue = {
  'ns1.oldhost.com': ['198.51.100.20'],
  'ns2.oldhost.com': ['198.51.100.20'],
}
/** Long enough for a busy machine; a silent server costs this much time, ms. */
export const patienceMs = 1000
export const suffixes = new Set(['com', 'net', 'vn', 'com.vn'])

export interface World {
  root: LittleServer[]
  com: LittleServer[]
  vn: LittleServer
  comVn: LittleServer
  oldHost: LittleServer
  ours: LittleServer[]
}

export function zone(
  servers: readonly LittleServer[],
  name: string,
  ns: readonly string[],
  records: LittleZone['records'] = [],
): LittleZone {
  const made: LittleZone = { name, ns, delegations: new Map(), records }
  for (const server of servers) server.zones.set(name, made)
  return made
}

/** Both parents know the endings but no names below them; our servers have no zone yet. */
export async function openWorld(): Promise<{ net: Hierarchy; world: World }> {
  const net = openHierarchy()
  const open = (...addresses: string[]): Promise<LittleServer[]> =>
    Promise.all(addresses.map((address) => net.server(address)))
  const [root, com, [vn, comVn, oldHost], ours] = await Promise.all([
    open('198.51.100.1', '198.51.100.2'),
    open('198.51.100.3', '198.51.100.4'),
    open('198.51.100.5', '198.51.100.6', '198.51.100.20'),
    open('198.51.100.30', '198.51.100.31'),
  ])
  const world: World = {
    root,
    com,
    vn: vn as LittleServer,
    comVn: comVn as LittleServer,
    oldHost: oldHost as LittleServer,
    ours,
  }
  const top = zone(root, '', ['a.root.test', 'b.root.test'])
  top.delegations.set('com', {
    ns: ['a.gtld.test', 'b.gtld.test'],
    glue: { 'a.gtld.test': ['198.51.100.3'], 'b.gtld.test': ['198.51.100.4'] },
  })
  top.delegations.set('vn', { ns: ['a.nic.vn'], glue: { 'a.nic.vn': ['198.51.100.5'] } })
  for (const server of com) zone([server], 'com', ['a.gtld.test', 'b.gtld.test'])
  zone([world.vn], 'vn', ['a.nic.vn']).delegations.set('com.vn', {
    ns: ['a.com.vn'],
    glue: { 'a.com.vn': ['198.51.100.6'] },
  })
  zone([world.comVn], 'com.vn', ['a.com.vn'])
  return { net, world }
}

/**
 * Writes delegations into the hierarchy and checks a domain in it. The hierarchy must be open when
 * the functions are called.
 */
export function delegationsOf(net: () => Hierarchy, world: () => World) {
  /** Each server gets its own zone, so that a test can make them disagree. */
  function delegate(
    name: string,
    delegation: Delegation,
    servers: readonly LittleServer[] = world().com,
  ): void {
    const parent = name.slice(name.indexOf('.') + 1)
    for (const server of servers) server.zones.get(parent)?.delegations.set(name, delegation)
  }
  /** Puts the zone on our servers. */
  const serve = (
    name: string,
    records: LittleZone['records'] = [],
    servers: readonly LittleServer[] = world().ours,
  ): LittleZone => zone(servers, name, pair, records)
  function check(domain = 'shop.com', changes: Partial<DelegationOptions> = {}): Promise<Verdict> {
    const place = (server: LittleServer) =>
      net().endpointOf(server.address) as { address: string; port: number }
    return createDelegationCheck({
      roots: world().root.map(place),
      port: 53,
      timeoutMs: patienceMs,
      totalTimeoutMs: 4 * patienceMs,
      ourAddresses: world().ours.map(place),
      ourNames: pool,
      publicSuffix: (name) => suffixes.has(name),
      endpointOf: net().endpointOf,
      ...changes,
    }).check({ domain, expected: pair })
  }

  return { delegate, serve, check }
}

/** The reason and the found names; checks that the advice is there in both languages. */
export function summaryOf(verdict: Verdict): string {
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
export const advised = (verdict: Verdict): string => verdict.advice?.en ?? ''
export const warned = (verdict: Verdict): string[] => verdict.warnings.map(({ code }) => code)
