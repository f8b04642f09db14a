/**
 * Addresses that many customers share, so that a name which points there proves no ownership. Local
 * ones, and the published ranges of content networks (https://www.cloudflare.com/ips,
 * https://api.fastly.com/public-ip-list).
 */
import { BlockList, isIPv6 } from 'node:net'
import { isLocalAddress } from '../platform/network.ts'

const ranges = [
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '108.162.192.0/18',
  '131.0.72.0/22',
  '141.101.64.0/18',
  '162.158.0.0/15',
  '172.64.0.0/13',
  '173.245.48.0/20',
  '188.114.96.0/20',
  '190.93.240.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '151.101.0.0/16',
  '199.232.0.0/16',
  '2400:cb00::/32',
  '2405:8100::/32',
  '2405:b500::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
  '2a04:4e40::/32',
]

const contentNetworks = new BlockList()
for (const range of ranges) {
  const [address = '', bits = ''] = range.split('/')
  contentNetworks.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
}

export const isShared = (address: string): boolean =>
  isLocalAddress(address) || contentNetworks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
