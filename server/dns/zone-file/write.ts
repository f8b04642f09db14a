/**
 * Writes master files: the same zone always gives the same text, and every parser of RFC 1035
 * accepts it.
 */
import { quoteText } from '../../../contract/dns-text.ts'
import { relativeName } from './names.ts'
import { recordTypes, type RecordData, type StartOfAuthority, type ZoneRecord } from './record.ts'

export interface ZoneToWrite {
  /** The zone's name, without a dot at the end. */
  readonly origin: string
  readonly soa: StartOfAuthority & { readonly ttlSeconds: number }
  /** All records except the SOA. */
  readonly records: readonly ZoneRecord[]
}

const absolute = (name: string): string => `${name}.`

function ownerText(name: string, origin: string): string {
  const relative = relativeName(name, origin)
  return relative === '' ? '@' : (relative ?? absolute(name))
}

function dataText(record: RecordData): string {
  switch (record.type) {
    case 'CNAME':
    case 'NS':
      return absolute(record.data)
    case 'MX':
      return `${record.priority} ${absolute(record.data)}`
    case 'TXT':
      return quoteText(record.data)
    case 'A':
    case 'AAAA':
    case 'SOA':
      return record.data
  }
}

/**
 * Labels from the right, so that names below a name follow it (RFC 4034, 6.1); the zone's own name
 * is first.
 */
const sortKey = (name: string): string => name.split('.').reverse().join('\u0000')

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b)

/**
 * A BIND zone file with a line break at its end. Names relative to the origin, targets absolute,
 * columns aligned.
 */
export function writeZoneFile({ origin, soa, records }: ZoneToWrite): string {
  const rows = records
    .filter(({ type }) => type !== 'SOA')
    .map((record) => ({
      key: sortKey(record.name),
      owner: ownerText(record.name, origin),
      record,
      data: dataText(record),
    }))
    .toSorted(
      (a, b) =>
        compare(a.key, b.key) ||
        recordTypes.indexOf(a.record.type) - recordTypes.indexOf(b.record.type) ||
        compare(a.data, b.data),
    )
  const ownerWidth = Math.min(40, Math.max(1, ...rows.map(({ owner }) => owner.length)))
  const ttlWidth = Math.max(
    String(soa.ttlSeconds).length,
    ...rows.map(({ record }) => String(record.ttlSeconds).length),
  )
  const line = (owner: string, ttlSeconds: number, type: string, data: string): string =>
    `${owner.padEnd(ownerWidth)} ${String(ttlSeconds).padStart(ttlWidth)} IN ${type.padEnd(5)}` +
    ` ${data}\n`
  const start =
    `${absolute(soa.primary)} ${absolute(soa.mailbox)} ( ${soa.serial} ${soa.refreshSeconds} ` +
    `${soa.retrySeconds} ${soa.expireSeconds} ${soa.minimumSeconds} )`
  return [
    `$ORIGIN ${absolute(origin)}\n`,
    `$TTL ${soa.ttlSeconds}\n`,
    line('@', soa.ttlSeconds, 'SOA', start),
    ...rows.map(({ owner, record, data }) => line(owner, record.ttlSeconds, record.type, data)),
  ].join('')
}
