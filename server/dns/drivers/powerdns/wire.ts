/**
 * PowerDNS's API for record sets. Source: https://doc.powerdns.com/authoritative/http-api/zone.html
 */
import { quoteText } from '../../../../contract/dns-text.ts'
import type { RecordSet, ServedType, ZoneHead } from '../../driver.ts'

export interface Rrset {
  /** With a trailing dot. */
  readonly name: string
  readonly type: string
  readonly ttl: number
  readonly records: readonly { readonly content: string; readonly disabled: boolean }[]
}
export type Change =
  | (Rrset & { readonly changetype: 'REPLACE' })
  | { readonly name: string; readonly type: string; readonly changetype: 'DELETE' }

/** `name.`; the root stays as it is. */
export const dotted = (name: string): string => (name === '.' ? name : `${name}.`)

function content(type: ServedType, value: string): string {
  switch (type) {
    case 'A':
    case 'AAAA':
      return value
    case 'CNAME':
    case 'NS':
      return dotted(value)
    case 'TXT':
      return quoteText(value)
    case 'MX': {
      const [priority = '', target = ''] = value.split(' ')
      return `${priority} ${dotted(target)}`
    }
  }
}

const rrset = (name: string, type: string, ttl: number, contents: readonly string[]): Rrset => ({
  name: dotted(name),
  type,
  ttl,
  records: contents.map((one) => ({ content: one, disabled: false })),
})

/** A set without values is deleted. */
export const changeOf = (set: RecordSet): Change =>
  set.values.length === 0
    ? { name: dotted(set.name), type: set.type, changetype: 'DELETE' }
    : {
        ...rrset(
          set.name,
          set.type,
          set.ttlSeconds,
          set.values.map((value) => content(set.type, value)),
        ),
        changetype: 'REPLACE',
      }

export const replace = (set: Rrset): Change => ({ ...set, changetype: 'REPLACE' })

export function soaOf({
  name,
  nameServers: [primary = name],
  serial,
  apexTtlSeconds,
  soa,
}: ZoneHead): Rrset {
  const numbers = [serial, soa.refresh, soa.retry, soa.expire, soa.minimum].join(' ')
  return rrset(name, 'SOA', apexTtlSeconds, [
    `${dotted(primary)} ${dotted(soa.contact)} ${numbers}`,
  ])
}
export const nsOf = ({ name, nameServers, apexTtlSeconds }: ZoneHead): Rrset =>
  rrset(name, 'NS', apexTtlSeconds, nameServers.map(dotted))

/** The third word of an SOA record's content. */
export function serialOf(rrsets: readonly Rrset[]): number | undefined {
  const text = rrsets.find(({ type }) => type === 'SOA')?.records[0]?.content.split(/\s+/)[2]
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
}

const spelled = ({ ttl, records }: Rrset): string =>
  JSON.stringify([ttl, ...records.map(({ content: text }) => text).toSorted()])
const keyOf = ({ name, type }: { name: string; type: string }): string => `${name} ${type}`

/**
 * The changes that turn `held` into `wanted`. Deletions come first, because a CNAME cannot exist
 * beside its replacement.
 */
export function difference(held: readonly Rrset[], wanted: readonly Rrset[]): Change[] {
  const before = new Map(held.map((set) => [keyOf(set), set]))
  const after = new Set(wanted.map(keyOf))
  return [
    ...held.flatMap((set): Change[] =>
      after.has(keyOf(set)) ? [] : [{ name: set.name, type: set.type, changetype: 'DELETE' }],
    ),
    ...wanted.flatMap((set): Change[] => {
      const known = before.get(keyOf(set))
      return known && spelled(known) === spelled(set) ? [] : [replace(set)]
    }),
  ]
}
