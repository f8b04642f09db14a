/**
 * Cloudflare's API v4 for records. Source:
 * https://developers.cloudflare.com/api/resources/dns/subresources/records
 */
import { quoteText } from '../../../../contract/dns-text.ts'
import type { RecordSet } from '../../driver.ts'

/** One value; names have no trailing dot. */
export interface CloudflareRecord {
  readonly type: string
  readonly name: string
  readonly content: string
  /** 1: automatic, by Cloudflare. */
  readonly ttl: number
  readonly proxied?: boolean
  readonly priority?: number
}
export interface HeldRecord extends CloudflareRecord {
  readonly id: string
}
/** Deletes run before posts, all in one transaction. */
export interface Batch {
  readonly deletes: readonly { readonly id: string }[]
  readonly posts: readonly CloudflareRecord[]
}

const automaticTtl = 1
const managed = new Set(['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS'])

/** The record that stores a zone's claim and serial, because the API has no field for them. */
export const stateName = (zone: string): string => `_portal-zone.${zone}`
export const stateOf = (
  zone: string,
  id: string,
  serial: number,
  ttl: number,
): CloudflareRecord => ({
  type: 'TXT',
  name: stateName(zone),
  content: quoteText(`${id} ${serial}`),
  ttl,
})
const isState = (record: CloudflareRecord, zone: string): boolean =>
  record.type === 'TXT' && record.name === stateName(zone)

/** The content of the state record. Undefined: there is none. */
export function readState(
  records: readonly CloudflareRecord[],
  zone: string,
): { id: string; serial: number } | undefined {
  const text = records.find((record) => isState(record, zone))?.content
  const [, id, serial] = /^"?([0-9a-f-]{36}) (\d{1,10})"?$/.exec(text ?? '') ?? []
  return id !== undefined && serial !== undefined ? { id, serial: Number(serial) } : undefined
}

export function recordsOf(set: RecordSet, minTtlSeconds: number): CloudflareRecord[] {
  const { name, type } = set
  return set.values.map((value): CloudflareRecord => {
    const ttl = Math.max(set.ttlSeconds, minTtlSeconds)
    switch (type) {
      case 'A':
      case 'AAAA':
      case 'CNAME':
        // Cloudflare sets the TTL of proxied records
        return {
          type,
          name,
          content: value,
          ttl: set.proxied ? automaticTtl : ttl,
          proxied: set.proxied,
        }
      case 'MX': {
        const [priority = '', target = ''] = value.split(' ')
        return { type, name, content: target, ttl, priority: Number(priority) }
      }
      case 'TXT':
        return { type, name, content: quoteText(value), ttl }
      case 'NS':
        return { type, name, content: value, ttl }
    }
  })
}

const spelled = ({ type, name, content, ttl, proxied, priority }: CloudflareRecord): string =>
  JSON.stringify([type, name.toLowerCase(), content, ttl, proxied ?? false, priority ?? null])

/** Records that the portal manages: neither its state record nor types that it does not keep. */
export const isOurs = (record: CloudflareRecord, zone: string): boolean =>
  managed.has(record.type) && !isState(record, zone)

/** The changes that turn `held` into `wanted`; common records stay untouched. */
export function difference(
  held: readonly HeldRecord[],
  wanted: readonly CloudflareRecord[],
): Batch {
  const missing = new Map(wanted.map((record) => [spelled(record), record]))
  const deletes = held
    .filter((record) => !missing.delete(spelled(record)))
    .map(({ id }) => ({ id }))
  return { deletes, posts: [...missing.values()] }
}
