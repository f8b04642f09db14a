import fc from 'fast-check'
import { expect, test } from 'vitest'
import { networkOf, widerNetworkOf } from './network.ts'

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
