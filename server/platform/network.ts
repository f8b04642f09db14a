/** The network that limits count an address as, and which addresses are not public. */
import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The range of an address. An IPv4 address inside an IPv6 one (::ffff:192.0.2.1, ::192.0.2.1)
 * counts as itself.
 */
function rangeOf(address: string): string {
  const read = ipaddr.process(address)
  const isInside = read instanceof ipaddr.IPv6 && read.parts.slice(0, 6).every((part) => part === 0)
  return (isInside ? new ipaddr.IPv4(read.toByteArray().slice(12)) : read).range()
}

const localRanges: ReadonlySet<string> = new Set([
  'unspecified',
  'loopback',
  'private',
  'carrierGradeNat',
  'linkLocal',
  'uniqueLocal',
])
/**
 * Whether the address is of a private network. Every network may use such addresses, so they
 * identify none.
 */
export const isLocalAddress = (address: string): boolean => localRanges.has(rangeOf(address))

/**
 * AS112's sink for queries of private names is reached over the internet (RFC 7535). The library
 * has a separate range for its IPv6 addresses; we do not need them and refuse them.
 */
const publicRanges: ReadonlySet<string> = new Set(['unicast', 'as112'])
/**
 * Public addresses only: neither local nor of another range for a special purpose (RFC 6890:
 * documentation, multicast, translation). A customer may have us connect to these.
 */
export const isPublicAddress = (address: string): boolean => publicRanges.has(rangeOf(address))

/**
 * The network that an address counts as: an IPv4 address itself, also inside an IPv6 address
 * (::ffff:192.0.2.1), and the /64 of an IPv6 address, which usually belongs to one line (RFC 6177).
 * Any other text counts as itself.
 */
export function networkOf(ip: string): string {
  const address = ip.split('%')[0] ?? ip
  if (isIP(address) === 0) return address
  const read = ipaddr.process(address)
  if (read instanceof ipaddr.IPv4) return read.toString()
  const groups = read.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}

/**
 * The wider network of a result of `networkOf`: IPv4 /16, IPv6 /32, the smallest that registries
 * allot to a provider (RIPE-738, 5.1). A caller with many networks mostly has them inside one.
 */
export function widerNetworkOf(network: string): string {
  if (isIPv4(network)) return `${network.split('.').slice(0, 2).join('.')}.0.0/16`
  const groups = network.replace(/::\/64$/, '').split(':')
  return groups.length === 4 ? `${groups.slice(0, 2).join(':')}::/32` : network
}

/**
 * Whether a text is a network in CIDR, such as 192.0.2.0/24 or 2001:db8::/32, or one address. Whole
 * addresses only: to the library 192.0.2/24 is 192.0.0.2/24, as inet_aton has it.
 */
export function isNetwork(text: string): boolean {
  const [base = '', bits] = text.split('/')
  return isIP(base) !== 0 && (bits === undefined || ipaddr.isValidCIDR(text))
}

/** Whether an address lies in one of these networks, each as `isNetwork` takes it. */
export function isWithin(ip: string, networks: readonly string[]): boolean {
  const address = ip.split('%')[0] ?? ip
  if (isIP(address) === 0) return false
  const read = ipaddr.process(address)
  return networks.some((text) => {
    const isWhole = isIP(text) !== 0
    const [base, bits] = isWhole
      ? [ipaddr.process(text), ipaddr.process(text).kind() === 'ipv4' ? 32 : 128]
      : ipaddr.parseCIDR(text)
    return base.kind() === read.kind() && read.match(base, bits)
  })
}
