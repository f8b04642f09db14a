/** Converts a domain's records to the driver's notation. */
import { absoluteName } from '../../contract/dns-records.ts'
import type { RecordSet } from './driver.ts'
import type { KeptRecord } from './store.ts'

/** The sets of the records, with values in the driver's notation. */
export function setsOf(zone: string, records: readonly KeptRecord[]): RecordSet[] {
  const sets = new Map<string, { name: string; first: KeptRecord; values: string[] }>()
  for (const record of records) {
    const key = `${record.name} ${record.type}`
    const set = sets.get(key) ?? {
      name: absoluteName(record.name, zone),
      first: record,
      values: [],
    }
    set.values.push(
      record.priority === null ? record.content : `${record.priority} ${record.content}`,
    )
    sets.set(key, set)
  }
  return [...sets.values()].map(({ name, first, values }) => ({
    name,
    type: first.type,
    ttlSeconds: first.ttl,
    proxied: first.proxied,
    values,
  }))
}
