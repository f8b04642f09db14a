/**
 * Resolves a host name that a customer wrote, and judges its addresses. The caller connects to the
 * judged address itself, so that a later change of the name has no effect.
 */
import { isIP } from 'node:net'
import type { DnsLookup } from './dns-lookup.ts'

/** Whether a connection to this address is allowed; tests allow more. */
export type MayConnect = (address: string, port: number) => boolean

/** The host without the brackets that a URL puts around an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

/**
 * `refused`: at least one address is forbidden. All must be allowed: a public server's name does
 * not lead to a forbidden address.
 */
export async function judgedAddress(
  dns: Pick<DnsLookup, 'addresses'>,
  host: string,
  port: number,
  mayConnect: MayConnect,
): Promise<{ readonly address: string } | 'none' | 'refused'> {
  const bare = bareHost(host)
  const found = isIP(bare) === 0 ? ((await dns.addresses(bare)) ?? []) : [bare]
  const [address] = found
  if (address === undefined) return 'none'
  return found.every((one) => mayConnect(one, port)) ? { address } : 'refused'
}
