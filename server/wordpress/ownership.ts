/**
 * Whether a name is its customer's, by what the DNS says: it points at the server (CNAME, or the server's own addresses unless many share
 * them), or its TXT record holds a token that only this account was given.
 */
import type { DomainCheck, DomainRecord } from '../../contract/wordpress-domains.ts'
import type { DnsLookup } from '../platform/dns-lookup.ts'
import type { Secrets } from '../platform/secrets.ts'
import { isShared } from './shared-ranges.ts'

export type Proof = 'cname' | 'address' | 'txt'

/** 32 hex digits that belong to one account and one name; nothing has to be stored. */
export const challengeOf = (secrets: Secrets, customerId: string, name: string): string =>
  secrets.fingerprint('domain-challenge', `${customerId}:${name}`).toString('hex').slice(0, 32)

export const challengeName = (name: string): string => `_portal-challenge.${name}`

export interface Evidence extends DomainCheck {
  readonly proof: Proof | null
  /** False when nobody could be asked: then nothing is known, and nothing is taken away. */
  readonly answered: boolean
}

/** `txtOnly`: another account holds the name, or did a short while ago. */
export async function lookForProof(
  dns: DnsLookup,
  of: { readonly name: string; readonly target: string; readonly token: string; readonly txtOnly: boolean },
): Promise<Evidence> {
  const [cname, addresses, own, txt] = await Promise.all([
    dns.cname(of.name),
    dns.addresses(of.name),
    dns.addresses(of.target),
    dns.txt(challengeName(of.name)),
  ])
  const dedicated = (own ?? []).filter((address) => !isShared(address))
  const records: DomainRecord[] = [
    { type: 'CNAME', name: of.name, expected: [of.target], found: [...(cname ?? [])], counts: !of.txtOnly },
    ...(dedicated.length > 0
      ? [{ type: 'A' as const, name: of.name, expected: dedicated, found: [...(addresses ?? [])], counts: !of.txtOnly }]
      : []),
    { type: 'TXT', name: challengeName(of.name), expected: [of.token], found: [...(txt ?? [])], counts: true },
  ]
  const pointed = addresses !== undefined && addresses.length > 0 && addresses.every((address) => dedicated.includes(address))
  const proof: Proof | null = txt?.includes(of.token)
    ? 'txt'
    : of.txtOnly
      ? null
      : cname?.includes(of.target)
        ? 'cname'
        : pointed
          ? 'address'
          : null
  return {
    name: of.name,
    verified: proof !== null,
    records,
    proof,
    answered: cname !== undefined || addresses !== undefined || txt !== undefined,
  }
}
