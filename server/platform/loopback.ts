/** Whether an address is this machine itself, however it is written. */
import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * True for 127.0.0.0/8, ::1 (also IPv4-mapped), localhost and names below it; brackets are no
 * matter.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const family = isIP(bare)
  if (family === 0) return bare === 'localhost' || bare.endsWith('.localhost')
  return loopback.check(bare, family === 6 ? 'ipv6' : 'ipv4')
}
