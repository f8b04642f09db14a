import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { warningsOf } from '../../contract/dns-warnings.ts'
import {
  isLocalAddress,
  isNetwork,
  isPublicAddress,
  isWithin,
  networkOf,
  widerNetworkOf,
} from './network.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['', ''],
])('%s counts as %s', (ip, network) => expect(networkOf(ip)).toBe(network))

test('every address of a /64 counts as one, and those of two as two', () => {
  const group = fc.integer({ min: 1, max: 0xfffe })
  const four = fc.tuple(group, group, group, group)
  const written = (groups: readonly number[]) => groups.map((each) => each.toString(16)).join(':')
  fc.assert(
    fc.property(four, four, four, four, (one, other, left, right) => {
      expect(networkOf(written([...one, ...left]))).toBe(networkOf(written([...one, ...right])))
      expect(
        networkOf(written([...one, ...left])) === networkOf(written([...other, ...left])),
      ).toBe(written(one) === written(other))
    }),
  )
})

test('an IPv4 address counts the same however it is written', () => {
  fc.assert(
    fc.property(fc.ipV4(), (ip) => {
      expect(networkOf(ip)).toBe(ip)
      expect(networkOf(`::ffff:${ip}`)).toBe(ip)
    }),
  )
})

test.each([
  ['192.0.2.7', '192.0.0.0/16'],
  ['192.0.77.1', '192.0.0.0/16'],
  ['2001:db8:1:2::/64', '2001:db8::/32'],
  ['2001:db8:0:0::/64', '2001:db8::/32'],
  ['', ''],
])('%s is a part of %s', (network, wider) => expect(widerNetworkOf(network)).toBe(wider))

type Address = ipaddr.IPv4 | ipaddr.IPv6
const special = (kind: typeof ipaddr.IPv4 | typeof ipaddr.IPv6): string[] => {
  // The library fills its table in when it is first asked.
  new kind(Array.from({ length: kind === ipaddr.IPv4 ? 4 : 16 }, () => 0)).range()
  const { SpecialRanges } = kind.prototype as unknown as {
    SpecialRanges: Record<string, [Address, number] | [Address, number][]>
  }
  return Object.values(SpecialRanges)
    .flatMap((ranges) => (Array.isArray(ranges[0]) ? ranges : [ranges]) as [Address, number][])
    .map(([address, bits]) => `${address.toString()}/${bits}`)
}

/** The first and last address of a range, and those right before and behind it. */
function edgesOf(range: string): string[] {
  const [address, bits] = ipaddr.parseCIDR(range)
  const bytes = address.toByteArray()
  const size = bytes.length * 8
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const span = 1n << BigInt(size - bits)
  return [first - 1n, first, first + span - 1n, first + span]
    .filter((value) => value >= 0n && value < 1n << BigInt(size))
    .map((value) =>
      ipaddr
        .fromByteArray(
          bytes.map((_, index) => Number((value >> BigInt(size - 8 - 8 * index)) & 255n)),
        )
        .toString(),
    )
}
const addresses = (): string[] => fc.sample(fc.oneof(fc.ipV4(), fc.ipV6()), 500)

test("the runtime's network guard denies what is not public, and nothing else", () => {
  const guard = path.resolve(
    import.meta.dirname,
    '../../runtimes/wordpress-wasm/src/network-guard.js',
  )
  const theirs = [...readFileSync(guard, 'utf8').matchAll(/\['([\d.a-f:]+)', (\d+)\]/g)].map(
    ([, address, bits]) => `${address}/${bits}`,
  )
  expect(theirs.length).toBeGreaterThan(20)
  const all = [...theirs, ...special(ipaddr.IPv4), ...special(ipaddr.IPv6)]
    .flatMap(edgesOf)
    .concat(addresses())
  // The guard is a program under another licence: we run it as a process and do not import it.
  const script = `import { isDenied } from ${JSON.stringify(guard)}
    console.log(JSON.stringify(JSON.parse(process.argv[1]).map(isDenied)))`
  const denied = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(all)], {
      encoding: 'utf8',
    }),
  ) as boolean[]
  expect(all.filter((_, index) => denied[index] === true)).toEqual(
    all.filter((address) => !isPublicAddress(address)),
  )
})

test('the warning of a record with a private address knows the local ones', () => {
  const warns = (address: string): boolean =>
    warningsOf(
      [],
      'shop.vn',
    )({
      name: 'a',
      type: address.includes(':') ? 'AAAA' : 'A',
      content: address,
      ttl: 300,
      priority: null,
      proxied: false,
    }).includes('private_address')
  const all = [...special(ipaddr.IPv4), ...special(ipaddr.IPv6), 'fc::/16', 'fe8::/16']
    .flatMap(edgesOf)
    .concat(addresses())
    .map((address) => ipaddr.parse(address).toString())
    // Records do not contain IPv4 addresses in IPv6 notation.
    .filter((address) => !/^::(?!1?$)(ffff:)?[\da-f]+(:[\da-f]+)?$/.test(address))
  expect(all.filter(warns)).toEqual(all.filter(isLocalAddress))
})

test.each([
  ['203.0.113.9', ['203.0.113.0/24'], true],
  ['::ffff:203.0.113.9', ['203.0.113.0/24'], true],
  ['203.0.114.9', ['203.0.113.0/24', '198.51.100.7'], false],
  ['198.51.100.7', ['203.0.113.0/24', '198.51.100.7'], true],
  ['2001:db8:1::9', ['2001:db8::/32'], true],
  ['2001:db9::9', ['2001:db8::/32', '0.0.0.0/0'], false],
  ['nothing', ['0.0.0.0/0', '::/0'], false],
  ['203.0.113.9', [], false],
])('%s within %j: %s', (ip, networks, isInside) => expect(isWithin(ip, networks)).toBe(isInside))

test('an IPv4 address is within the network of each of its lengths, and of no other', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, other, bits) => {
      const network = `${ip}/${bits}`
      expect(isNetwork(network)).toBe(true)
      expect(isWithin(ip, [network])).toBe(true)
      const number = (text: string) =>
        text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
      const size = 2 ** (32 - bits)
      const isInside = Math.floor(number(ip) / size) === Math.floor(number(other) / size)
      expect(isWithin(other, [network])).toBe(isInside)
    }),
  )
})

test.each(['203.0.113.0/33', '203.0.113/24', '2001:db8::/129', 'example.vn', '', '10.0.0.0/-1'])(
  '%s is no network',
  (text) => expect(isNetwork(text)).toBe(false),
)
