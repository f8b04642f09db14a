/** Filtering and sorting a domain's records. Pure. */
import type { Record } from '../../contract/dns.ts'
import { unicodeName } from '../../contract/dns-idn.ts'
import { recordTypes, type RecordType } from '../../contract/dns-types.ts'

/** A domain's records, newest first, and the serial up to which they include all changes. */
export interface RecordCopy {
  readonly records: readonly Record[]
  readonly serial: number
}

/**
 * The copy with later changes applied; undefined when the server reports too many, and the list
 * must be read again.
 */
export function applyChanges(
  copy: RecordCopy,
  {
    data,
    gone,
    serial,
  }: {
    readonly data: readonly Record[] | null
    readonly gone: readonly string[]
    readonly serial: number
  },
): RecordCopy | undefined {
  if (!data) return undefined
  const changed = new Map(data.map((record) => [record.id, record]))
  const lost = new Set(gone)
  const stayed = copy.records.flatMap((record) => {
    const now = changed.get(record.id) ?? record
    changed.delete(record.id)
    return lost.has(record.id) ? [] : [now]
  })
  return { serial, records: [...changed.values(), ...stayed] }
}

export type SortKey = 'name' | 'type' | 'ttl'
export interface Sorting {
  readonly by: SortKey
  readonly descending: boolean
}

/**
 * The sort key of a name. The domain itself comes first. Labels are compared from the right, so
 * that related names stand together. Numbers are compared by value: host2 before host10.
 */
function keyOf(name: string): string {
  if (name === '@') return ''
  // The separator sorts below every letter, so that www.a is nearer to a than a-b is.
  const reversed = name.split('.').toReversed().join('\u0001')
  // A number is prefixed by its length: the one with fewer digits is smaller.
  return reversed.replace(
    /0*(\d+)/g,
    (_all, digits: string) => String.fromCharCode('0'.charCodeAt(0) + digits.length) + digits,
  )
}

export function sorted(records: readonly Record[], { by, descending }: Sorting): Record[] {
  const keys = new Map(records.map(({ name }) => [name, keyOf(name)]))
  const compareNames = (one: string, other: string): number => {
    if (one === other) return 0
    const [left = '', right = ''] = [keys.get(one), keys.get(other)]
    return left < right || (left === right && one < other) ? -1 : 1
  }
  const order = (one: Record, other: Record): number => {
    if (by === 'ttl' && one.ttl !== other.ttl) return one.ttl - other.ttl
    if (by === 'type' && one.type !== other.type)
      return recordTypes.indexOf(one.type) - recordTypes.indexOf(other.type)
    return (
      compareNames(one.name, other.name) ||
      recordTypes.indexOf(one.type) - recordTypes.indexOf(other.type) ||
      (one.priority ?? 0) - (other.priority ?? 0)
    )
  }
  const list = records.toSorted(order)
  return descending ? list.reverse() : list
}

/** Records of the type whose full name or value contains the text, in A-labels or in Unicode. */
export function chosen(
  records: readonly Record[],
  domain: string,
  type: RecordType | undefined,
  search: string,
): Record[] {
  const wanted = search.normalize('NFC').trim().toLowerCase()
  const holds = (text: string): boolean =>
    text.includes(wanted) || unicodeName(text).includes(wanted)
  return records.filter(
    (record) =>
      (type === undefined || record.type === type) &&
      (wanted === '' ||
        holds(record.name === '@' ? domain : `${record.name}.${domain}`) ||
        record.data.some((value) => holds(value.toLowerCase()))),
  )
}

export function countTypes(records: readonly Record[]): Map<RecordType, number> {
  const counts = new Map<RecordType, number>()
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}
