/** Choosing and ordering among a domain's records. Pure. */
import type { Record } from '../../contract/dns.ts'
import { recordTypes, type RecordType } from '../../contract/dns-types.ts'

export type SortKey = 'name' | 'type' | 'ttl'
export interface Sorting {
  readonly by: SortKey
  readonly descending: boolean
}

/** The domain itself comes before everything in it; names are compared from the right, so that what belongs together stands together. */
export function compareNames(one: string, other: string): number {
  if (one === other) return 0
  if (one === '@') return -1
  if (other === '@') return 1
  const [left, right] = [one, other].map((name) => name.split('.').toReversed().join('.')) as [string, string]
  return left < right ? -1 : 1
}

export function sorted(records: readonly Record[], { by, descending }: Sorting): Record[] {
  const order = (one: Record, other: Record): number => {
    if (by === 'ttl' && one.ttl !== other.ttl) return one.ttl - other.ttl
    if (by === 'type' && one.type !== other.type) return recordTypes.indexOf(one.type) - recordTypes.indexOf(other.type)
    return (
      compareNames(one.name, other.name) ||
      recordTypes.indexOf(one.type) - recordTypes.indexOf(other.type) ||
      (one.priority ?? 0) - (other.priority ?? 0)
    )
  }
  const list = records.toSorted(order)
  return descending ? list.reverse() : list
}

/** Those of the type whose name, full name or value holds the text. */
export function chosen(records: readonly Record[], domain: string, type: RecordType | undefined, search: string): Record[] {
  const wanted = search.trim().toLowerCase()
  return records.filter(
    (record) =>
      (type === undefined || record.type === type) &&
      (wanted === '' ||
        (record.name === '@' ? domain : `${record.name}.${domain}`).includes(wanted) ||
        record.data.some((value) => value.toLowerCase().includes(wanted))),
  )
}

export function countTypes(records: readonly Record[]): Map<RecordType, number> {
  const counts = new Map<RecordType, number>()
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

/** What was typed as a domain: without the scheme, a path, and the dot at the end. */
export const typedDomain = (text: string): string =>
  text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '')
    .replace(/\.$/, '')
