/**
 * Addresses that no public name server has (RFC 6890): asking them would be asking our own network
 * on a stranger's word.
 */
import { BlockList, isIPv6 } from 'node:net'

const special = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/127',
  '64:ff9b::/32',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]) {
  const [network = '', bits] = range.split('/')
  special.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4')
}

// (An IPv4 address written as IPv6 is checked as IPv4 by BlockList.)
export const isPublicAddress = (address: string): boolean =>
  !special.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
