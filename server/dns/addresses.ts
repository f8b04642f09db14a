/**
 * The addresses of name servers: the portal's own and the root servers, and the options of the
 * delegation check.
 */
import { isIP } from 'node:net'
import { isLoopback } from '../platform/loopback.ts'
import { isPublicSuffix } from './names.ts'
import {
  createDelegationCheck,
  type DelegationCheck,
  type DelegationOptions,
} from './delegation/index.ts'

/** The world's thirteen root servers (IANA's named.root, IPv4). */
const rootServers = [
  '198.41.0.4',
  '170.247.170.2',
  '192.33.4.12',
  '199.7.91.13',
  '192.203.230.10',
  '192.5.5.241',
  '192.112.36.4',
  '198.97.190.53',
  '192.36.148.17',
  '192.58.128.30',
  '193.0.14.129',
  '199.7.83.42',
  '202.12.27.33',
]
/** The standard DNS port. */
export const dnsPort = 53

interface Endpoint {
  readonly address: string
  readonly port: number
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function endpointOf(text: string): Endpoint {
  const withPort = /^(?:\[(.+)\]|([\d.]+)):(\d+)$/.exec(text)
  const address = withPort?.[1] ?? withPort?.[2] ?? text.replace(/^\[(.+)\]$/, '$1')
  return { address, port: Number(withPort?.[3] ?? dnsPort) }
}

/**
 * The addresses to publish: the given ones, else the portal's listening address, else this machine.
 */
export const ownAddresses = (given: readonly string[], host: string): readonly string[] =>
  given.length > 0
    ? given
    : [isIP(host) !== 0 && host !== '0.0.0.0' && host !== '::' ? host : '127.0.0.1']

/** Our own name server's address on this machine, in a resolver's notation. */
export function ownNameServer(host: string, port: number): string {
  const [address = ''] = ownAddresses([], host)
  return `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
}

/**
 * The check of a parent zone, from the given roots on; a hierarchy of one's own lies at one port
 * and may be on private addresses. Without roots it is the world's. `own`: where our name servers
 * answer, and every name they have. `sites`: where customers' sites are and who issues their
 * certificates.
 */
export function createDelegation(of: {
  roots: readonly string[]
  /** Whether the sandbox's registry replaces the real parent zones. */
  withSandbox: boolean
  own: { addresses: readonly string[]; port: number; names: readonly string[] }
  sites: NonNullable<DelegationOptions['sites']>
}): DelegationCheck {
  const roots = of.roots.map(endpointOf)
  return createDelegationCheck({
    roots: roots.length > 0 ? roots : rootServers.map((address) => ({ address, port: dnsPort })),
    port: roots[0]?.port ?? dnsPort,
    ourAddresses: of.own.addresses.map((address) => ({ address, port: of.own.port })),
    sites: of.sites,
    ourNames: of.own.names,
    publicSuffix: isPublicSuffix,
    // Otherwise a customer's delegation could make us query hosts of the operator's own network.
    allowPrivateAddresses:
      of.withSandbox && roots.length > 0 && roots.every(({ address }) => isLoopback(address)),
  })
}
