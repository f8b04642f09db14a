/**
 * Whether a name belongs to the customer, by the DNS: it points at the server (CNAME, or addresses
 * that no other site has), or its TXT record holds a token that only this account was given.
 * domains.ts adds the proof by a zone of the same account, and the rule when only TXT counts.
 */
import { isIPv6 } from 'node:net'
import { parse } from 'tldts'
import type { DomainCheck, DomainRecord } from '../../contract/wordpress-domains.ts'
import type { Language } from '../../contract/errors.ts'
import type { DnsLookup } from '../platform/dns-lookup.ts'
import type { Secrets } from '../platform/secrets.ts'
import { isShared } from './shared-ranges.ts'

export type Proof = 'cname' | 'address' | 'txt'

/** An entry by which another account holds the name. */
export interface OtherHold {
  readonly id: bigint
  readonly customerId: string
}

/**
 * The token for one account and one name, 32 hex digits, derived so that nothing has to be stored.
 * Where another account holds the name, the token also depends on that entry and its account: a
 * record made earlier, before the server or the domain was handed over, takes nothing from its
 * present owner.
 */
export const challengeOf = (
  secrets: Secrets,
  customerId: string,
  name: string,
  other?: OtherHold,
): string =>
  secrets
    .fingerprint(
      'domain-challenge',
      `${customerId}:${name}${other ? `:${other.id}:${other.customerId}` : ''}`,
    )
    .toString('hex')
    .slice(0, 32)

export const challengeName = (name: string): string => `_portal-challenge.${name}`

export interface Evidence extends DomainCheck {
  readonly proof: Proof | null
  /** False when no name server answered: then nothing is known, and nothing is taken away. */
  readonly answered: boolean
}

/**
 * `txtOnly`: another account holds the name, or did recently. `addresses`: those of the server's
 * own name. `shared`: those that other sites have, too, so that they prove nothing. The top of a
 * zone can hold no CNAME (RFC 1034, section 3.6.2), so it is pointed by addresses.
 */
export async function lookForProof(
  dns: DnsLookup,
  of: {
    readonly name: string
    readonly target: string
    readonly token: string
    readonly txtOnly: boolean
    readonly addresses: readonly string[]
    readonly shared: ReadonlySet<string>
  },
): Promise<Evidence> {
  const [cname, addresses, txt] = await Promise.all([
    dns.cname(of.name),
    dns.addresses(of.name),
    dns.txt(challengeName(of.name)),
  ])
  const isApex = parse(of.name, { allowPrivateDomains: true }).domain === of.name
  const isOwn = (address: string): boolean => !isShared(address) && !of.shared.has(address)
  const dedicated = of.addresses.length > 0 && of.addresses.every(isOwn)
  const byAddress = (['A', 'AAAA'] as const).flatMap((type): DomainRecord[] => {
    const isOfType = (address: string): boolean => isIPv6(address) === (type === 'AAAA')
    const expected = of.addresses.filter(isOfType)
    if (expected.length === 0 || !(isApex || dedicated)) return []
    const found = (addresses ?? []).filter(isOfType)
    return [
      { type, name: of.name, expected, found, counts: dedicated && !of.txtOnly, points: true },
    ]
  })
  const records: DomainRecord[] = [
    ...(isApex
      ? []
      : [
          {
            type: 'CNAME' as const,
            name: of.name,
            expected: [of.target],
            found: [...(cname ?? [])],
            counts: !of.txtOnly,
            points: true,
          },
        ]),
    ...byAddress,
    {
      type: 'TXT',
      name: challengeName(of.name),
      expected: [of.token],
      found: [...(txt ?? [])],
      counts: true,
      points: false,
    },
  ]
  const aliased = cname?.includes(of.target) === true
  const addressed =
    addresses !== undefined &&
    addresses.length > 0 &&
    addresses.every((address) => of.addresses.includes(address))
  const proof = proofOf({
    txt: txt?.includes(of.token) === true,
    cname: aliased && !of.txtOnly,
    address: addressed && dedicated && !of.txtOnly,
  })
  return {
    name: of.name,
    verified: proof !== null,
    pointed: aliased || addressed,
    records,
    proof,
    answered: cname !== undefined || addresses !== undefined || txt !== undefined,
  }
}

/** The strongest proof that holds. */
function proofOf(holds: Readonly<Record<Proof, boolean>>): Proof | null {
  return (['txt', 'cname', 'address'] as const).find((proof) => holds[proof]) ?? null
}

/** Says per record what was expected and what was found. */
export function evidenceText({ records }: Evidence, language: Language): string {
  const vi = language === 'vi'
  return records
    .filter((record) => record.counts)
    .map(({ type, name, expected, found }) => {
      const wanted = expected.join(vi ? ' hoặc ' : ' or ')
      let seen
      if (found.length > 0) seen = found.slice(0, 5).join(', ')
      else if (vi) seen = 'không có'
      else seen = 'nothing'

      return vi
        ? `${type} ${name}: cần ${wanted}, tìm thấy ${seen}.`
        : `${type} ${name}: needs ${wanted}, found ${seen}.`
    })
    .join(' ')
}
