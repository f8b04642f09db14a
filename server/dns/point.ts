/**
 * "Point this domain at my WordPress server": the domain itself and its www, in one change that can
 * be undone.
 */
import { randomUUID } from 'node:crypto'
import { isHostName, ttlLimits, type RecordType } from '../../contract/dns-records.ts'
import type { Tx } from '../platform/db.ts'
import type { Language } from '../../contract/errors.ts'
import { edit } from './edit.ts'
import type { RecordDeps } from './records.ts'
import { lockZone, recordsAt, type KeptRecord } from './store.ts'

/** The address of a customer's site, as another module knows it. */
export interface SiteTarget {
  /** The server's own host name. */
  readonly host: string
  /** IPv4 and IPv6; at least one. */
  readonly addresses: readonly string[]
}

const addressing: ReadonlySet<RecordType> = new Set<RecordType>(['A', 'AAAA', 'CNAME'])

/**
 * Points a domain at a server: the apex gets the server's addresses (or a CNAME where the driver
 * flattens it), and www a CNAME to the server, or its addresses if www has other records. Only
 * address records are replaced. A null change id: it pointed there already.
 */
export async function pointAt(
  tx: Tx,
  deps: RecordDeps,
  of: {
    customerId: string
    zoneId: string
    language: Language
    target: SiteTarget
    /** Only answers the changes, without writing them. */
    preview: boolean
  },
): Promise<{
  changeId: bigint | null
  added: KeptRecord[]
  removed: KeptRecord[]
  records: KeptRecord[]
  domains: string[]
}> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const present = await recordsAt(tx, zone.id, ['@', 'www'])
  const { host, addresses } = of.target
  const wanted = (name: '@' | 'www'): KeptRecord[] => {
    const lone = !present.some((record) => record.name === name && !addressing.has(record.type))
    const alias =
      isHostName(host) && (name === 'www' ? lone : lone && deps.capabilities.apexFlattening)
    const values: readonly (readonly [RecordType, string])[] = alias
      ? [['CNAME', host]]
      : addresses.map((address) => [address.includes(':') ? 'AAAA' : 'A', address])
    return values.map(([type, content]) => ({
      id: randomUUID(),
      version: 1,
      name,
      type,
      content,
      ttl: ttlLimits.defaultSeconds,
      proxied: false,
      priority: null,
    }))
  }
  const desired = [...wanted('@'), ...wanted('www')]
  const same = (a: KeptRecord, b: KeptRecord): boolean =>
    a.name === b.name && a.type === b.type && a.content === b.content
  const before = present.filter(
    (record) => addressing.has(record.type) && !desired.some((one) => same(one, record)),
  )
  const after = desired.filter((record) => !present.some((one) => same(one, record)))
  const changeId =
    of.preview || before.length + after.length === 0
      ? null
      : (await edit(tx, deps, zone, { ...of, action: 'point', before, after })).changeId
  const now = await recordsAt(tx, zone.id, ['@', 'www'])
  return {
    changeId,
    added: after,
    removed: before,
    records: now.filter(({ type }) => addressing.has(type)),
    // A pending claim proves nothing yet, and one that is delegated elsewhere nothing any more: the
    // domain may belong to somebody else.
    domains:
      zone.active_at === null || zone.moved_at !== null ? [] : [zone.name, `www.${zone.name}`],
  }
}
