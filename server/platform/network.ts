/** From where a call comes, as limits count it. */
import { isIPv4, isIPv6 } from 'node:net'

/** The sixteen-bit groups of an IPv6 address, with `::` written out. */
function groupsOf(address: string): number[] {
  // The last 32 bits may stand as an IPv4 address (RFC 4291, 2.2).
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const hex = (high: string | undefined, low: string | undefined) =>
    ((Number(high) << 8) | Number(low)).toString(16)
  const plain = dotted
    ? `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`
    : address
  const [head = '', tail] = plain.split('::')
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const [before, after] = [read(head), read(tail ?? '')]
  const gap = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array.from({ length: gap }, () => 0), ...after]
}

/**
 * The network that an address counts as: an IPv4 address as itself, also where it stands in an IPv6
 * address (::ffff:192.0.2.1), and an IPv6 address as its /64, which one line usually has whole
 * (RFC 6177). Anything else is itself.
 */
export function networkOf(ip: string): string {
  const address = ip.split('%')[0] ?? ip
  if (isIPv4(address) || !isIPv6(address)) return address
  const groups = groupsOf(address)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/**
 * The wider network of one that `networkOf` answered: IPv4 /16, IPv6 /32, the least that registries
 * allot to a provider (RIPE-738, 5.1). Who can ask from many networks mostly has them in one.
 */
export function widerNetworkOf(network: string): string {
  if (isIPv4(network)) return `${network.split('.').slice(0, 2).join('.')}.0.0/16`
  const groups = network.replace(/::\/64$/, '').split(':')
  return groups.length === 4 ? `${groups.slice(0, 2).join(':')}::/32` : network
}
