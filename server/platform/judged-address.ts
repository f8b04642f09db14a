/**
 * Where a host name that a customer wrote leads, judged: the one address that was judged is the one
 * to connect to, so that a name that changes its mind leads nowhere.
 */
import { isIP } from 'node:net'
import type { DnsLookup } from './dns-lookup.ts'

/** Whether somebody may be connected to; what tests make wider. */
export type MayConnect = (address: string, port: number) => boolean

/** Without the brackets that a URL has round an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

/**
 * `refused`: one of the addresses may not be connected to. All of them have to be allowed: a name
 * that leads to a forbidden one as well is none of a public server.
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
