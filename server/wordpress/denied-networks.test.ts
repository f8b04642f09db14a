import { BlockList, isIPv6 } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { Refusal } from '../platform/errors.ts'
import { contains, deniedNetworks, networkOfEntry } from './denied-networks.ts'

const ipv4 = fc.ipV4()
const ipv6 = fc.ipV6().filter((text) => ipaddr.process(text).kind() === 'ipv6')
const entry = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 8, max: 32 })),
  fc.tuple(ipv6, fc.integer({ min: 16, max: 128 })),
)
const isWide = (text: string): boolean => {
  const read = networkOfEntry(text)
  return 'fault' in read && read.fault === 'wide'
}
const networkOf = (text: string): string => {
  const read = networkOfEntry(text)
  if ('fault' in read) throw new Error(`${text}: ${read.fault}`)
  return read.network
}

test('an entry becomes its network, and stays it', () => {
  fc.assert(
    fc.property(entry, ([address, bits]) => {
      fc.pre(!isWide(`${address}/${bits}`))
      const network = networkOf(`${address}/${bits}`)
      expect(networkOf(network)).toBe(network)
      expect(contains(network, address)).toBe(true)
    }),
  )
})

test('it contains what Node’s list says it does, as the edge asks it', () => {
  fc.assert(
    fc.property(entry, fc.oneof(ipv4, ipv6), ([address, bits], other) => {
      fc.pre(!isWide(`${address}/${bits}`))
      const network = networkOf(`${address}/${bits}`)
      const [base = '', prefix] = network.split('/')
      const list = new BlockList()
      const family = isIPv6(base) ? 'ipv6' : 'ipv4'
      if (prefix === undefined) list.addAddress(base, family)
      else list.addSubnet(base, Number(prefix), family)
      // An address nearby, too: the same with its last bit changed.
      const near = ipaddr.process(address).toByteArray()
      near[near.length - 1]! ^= 1
      for (const one of [other, ipaddr.fromByteArray(near).toString()])
        expect(contains(network, one)).toBe(list.check(one, isIPv6(one) ? 'ipv6' : 'ipv4'))
    }),
  )
})

test.each([
  ['203.0.113.77/24', '203.0.113.0/24'],
  ['203.0.113.7/32', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ['2001:DB8::1/48', '2001:db8::/48'],
])('%s is %s', (text, network) => {
  expect(networkOf(text)).toBe(network)
})

test.each([
  ['', 'form'],
  ['10.1', 'form'],
  ['0x7f.1', 'form'],
  ['203.0.113.256', 'form'],
  ['203.0.113.7/33', 'form'],
  ['203.0.113.7/8/8', 'form'],
  ['203.0.113.7/+8', 'form'],
  ['203.0.113.7/', 'form'],
  ['shop.vn', 'form'],
  ['0.0.0.0/0', 'wide'],
  ['203.0.113.7/7', 'wide'],
  ['::/0', 'wide'],
  ['2001::/15', 'wide'],
  ['::/64', 'wide'],
  ['::fffe:0:0/95', 'wide'],
])('%s is refused: %s', (text, fault) => {
  expect(networkOfEntry(text)).toEqual({ fault })
})

test('nobody denies himself, and each network stands once', () => {
  expect(
    deniedNetworks([' 192.0.2.1 ', '', '192.0.2.1/32', '198.51.100.9/24'], '203.0.113.1', 'en'),
  ).toEqual(['192.0.2.1', '198.51.100.0/24'])
  const fault = (entries: string[], own: string): unknown => {
    try {
      return deniedNetworks(entries, own, 'vi')
    } catch (error) {
      return error
    }
  }
  expect(fault(['198.51.100.0/24'], '::ffff:198.51.100.8')).toBeInstanceOf(Refusal)
  expect(fault(['198.51.100.0/24', 'x'], '192.0.2.1')).toMatchObject({
    fields: { networks: expect.stringContaining('“x”') as string },
  })
})
