/** Zones to compare name servers on: as records, as the sets that a driver takes, and as a file. */
import type { RecordSet, ServedType, ZoneHead } from '../server/dns/driver.ts'
import { writeZoneFile, type ZoneRecord } from '../server/dns/zone-file/index.ts'

export const head: ZoneHead = {
  id: '0190a3f4-0000-7000-8000-000000000001',
  name: 'zone.example',
  serial: 1_790_000_000,
  nameServers: ['ns1.dns.test', 'ns2.dns.test'],
  apexTtlSeconds: 3600,
  soa: {
    contact: 'hostmaster.dns.test',
    refresh: 7200,
    retry: 900,
    expire: 1_209_600,
    minimum: 60,
  },
}
const at = (label: string): string => `${label}.${head.name}`

export const record = (
  name: string,
  type: Exclude<ServedType, 'MX'>,
  data: string,
  ttlSeconds = 300,
): ZoneRecord => ({
  name,
  type,
  data,
  ttlSeconds,
})
export const mail = (name: string, priority: number, data: string): ZoneRecord => ({
  name,
  type: 'MX',
  priority,
  data,
  ttlSeconds: 300,
})

/** Every kind of record that a name server must handle differently. */
export const variety: readonly ZoneRecord[] = [
  record(head.name, 'A', '203.0.113.1'),
  record(head.name, 'A', '203.0.113.2'),
  record(head.name, 'AAAA', '2001:db8::1'),
  record(head.name, 'TXT', 'v=spf1 -all'),
  mail(head.name, 10, at('mail')),
  mail(head.name, 20, 'mail.elsewhere.test'),
  record(at('mail'), 'A', '203.0.113.3', 600),
  record(at('www'), 'CNAME', head.name),
  record(at('chain'), 'CNAME', at('www')),
  record(at('away'), 'CNAME', 'host.elsewhere.test'),
  record(at('dangling'), 'CNAME', at('nobody')),
  record(at('into-child'), 'CNAME', at('host.child')),
  record(at('*.wild'), 'A', '203.0.113.4'),
  record(at('*.wild'), 'TXT', 'any'),
  record(at('there.wild'), 'AAAA', '2001:db8::4'),
  record(at('*.alias'), 'CNAME', at('www')),
  record(at('deep.empty'), 'A', '203.0.113.5'),
  record(at('child'), 'NS', at('ns.child')),
  record(at('child'), 'NS', 'ns.elsewhere.test'),
  record(at('ns.child'), 'A', '203.0.113.6'),
  record(at('ns.child'), 'AAAA', '2001:db8::6'),
  record(at('text'), 'TXT', 'đ"\\;'.repeat(300)),
  record(at('text'), 'TXT', 'second'),
  record(at('_dmarc'), 'TXT', 'v=DMARC1; p=none'),
  ...Array.from({ length: 60 }, (_, host) => record(at('many'), 'A', `203.0.113.${host + 100}`)),
]

/** This many hosts with A and AAAA, for dnsperf. */
export const hosts = (names: number): ZoneRecord[] =>
  Array.from({ length: names }, (_, host) => [
    record(at(`host${host}`), 'A', `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`),
    record(at(`host${host}`), 'AAAA', `2001:db8::${host.toString(16)}`),
  ]).flat()

export function setsOf(records: readonly ZoneRecord[]): RecordSet[] {
  const sets = new Map<
    string,
    { name: string; type: ServedType; ttlSeconds: number; proxied: boolean; values: string[] }
  >()
  for (const one of records) {
    if (one.type === 'SOA') continue
    const key = `${one.type} ${one.name}`
    const set = sets.get(key) ?? {
      name: one.name,
      type: one.type,
      ttlSeconds: one.ttlSeconds,
      proxied: false,
      values: [],
    }
    set.values.push(one.type === 'MX' ? `${one.priority} ${one.data}` : one.data)
    sets.set(key, set)
  }
  return [...sets.values()]
}

export function fileOf(records: readonly ZoneRecord[]): string {
  const { soa, nameServers, name, serial, apexTtlSeconds } = head
  return writeZoneFile({
    origin: name,
    soa: {
      primary: nameServers[0] ?? '',
      mailbox: soa.contact,
      serial,
      refreshSeconds: soa.refresh,
      retrySeconds: soa.retry,
      expireSeconds: soa.expire,
      minimumSeconds: soa.minimum,
      ttlSeconds: apexTtlSeconds,
    },
    records: [
      ...nameServers.map((server) => record(name, 'NS', server, apexTtlSeconds)),
      ...records,
    ],
  })
}
