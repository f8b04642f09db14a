/** SQL of the DNS module, and domains and records as the API shows them. */
import { sql, type Selectable } from 'kysely'
import type { Domain, Record as ShownRecord } from '../../contract/dns.ts'
import type { RecordState } from '../../contract/dns-changes.ts'
import type { RecordType, RecordValue } from '../../contract/dns-records.ts'
import { recordWarningText, type RecordWarning } from '../../contract/dns-warnings.ts'
import type { Language } from '../../contract/errors.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { DnsCapabilities } from './driver.ts'

export type ZoneRow = Selectable<DB['dns_zone']>

/** A stored record. */
export interface KeptRecord extends RecordValue {
  readonly id: string
  /** 1, increased by one with every change. */
  readonly version: number
}

export const presentDomain = (zone: ZoneRow, capabilities: DnsCapabilities): Domain => ({
  id: zone.id,
  name: zone.shown_name,
  ascii: zone.name,
  active: zone.active_at !== null,
  nameserver: zone.name_servers,
  createdAt: zone.created_at.toISOString(),
  verification: {
    expected: zone.name_servers,
    found: zone.found,
    checkedAt: zone.checked_at?.toISOString() ?? null,
  },
  movedAt: zone.moved_at?.toISOString() ?? null,
  capabilities: { proxied: capabilities.proxied, apexFlattening: capabilities.apexFlattening },
})
export const stateOf = ({
  name,
  type,
  content,
  ttl,
  proxied,
  priority,
}: RecordValue): RecordState => ({
  name,
  type,
  data: [content],
  ttl,
  proxied,
  priority,
})
export const presentRecord = (record: KeptRecord): ShownRecord => ({
  id: record.id,
  ...stateOf(record),
  version: record.version,
})
/** The answer of a write. */
/** A written record, the records changed with it, and warnings of probable mistakes. */
export const presentWritten = (
  { record, siblings }: { record: KeptRecord; siblings: readonly KeptRecord[] },
  warnings: readonly RecordWarning[],
  language: Language,
) => ({
  ...presentRecord(record),
  ...(warnings.length > 0 && {
    warnings: warnings.map((code) => ({ code, text: recordWarningText(code, language) })),
  }),
  ...(siblings.length > 0 && { alsoChanged: siblings.map(presentRecord) }),
})

/** Domains that were not deleted. */
export const live = (db: Queryable) =>
  db.selectFrom('dns_zone').selectAll().where('deleted_at', 'is', null)

/** The customer's own domain. Refuses with not_found, also for another customer's. */
export async function zoneOf(db: Queryable, customerId: string, id: string): Promise<ZoneRow> {
  const zone = isUuid(id)
    ? await live(db).where('id', '=', id).where('customer_id', '=', customerId).executeTakeFirst()
    : undefined
  if (!zone) throw new Refusal('not_found')
  return zone
}
/** The customer's own domain of this name, in A-labels. */
export const zoneNamed = (
  db: Queryable,
  customerId: string,
  name: string,
): Promise<ZoneRow | undefined> =>
  live(db).where('customer_id', '=', customerId).where('name', '=', name).executeTakeFirst()
/**
 * Whether the nearest active domain at or above the name is the customer's here and is not
 * delegated elsewhere now.
 */
export async function isAnsweredFor(
  db: Queryable,
  customerId: string,
  name: string,
): Promise<boolean> {
  return (await ownerOf(db, name)) === customerId
}
/** Whether any account has such a domain: then we serve the name to the world. */
export const isAnswered = async (db: Queryable, name: string): Promise<boolean> =>
  (await ownerOf(db, name)) !== undefined

/** Whether two lists have the same names, in any order. */
export const isPair = (found: readonly string[], pair: readonly string[]): boolean =>
  found.length === pair.length && pair.every((name) => found.includes(name))

async function ownerOf(db: Queryable, name: string): Promise<string | undefined> {
  const [nearest, ...above] = await live(db)
    .where('active_at', 'is not', null)
    .where((eb) =>
      eb.or([eb('name', '=', name), eb('name', '=', sql<string>`any (dns_above(${name}::text))`)]),
    )
    .orderBy(sql`length(name)`, 'desc')
    .execute()
  if (nearest?.moved_at !== null) return undefined
  // The domain may have been proven by a zone above it that is delegated elsewhere now: then only
  // the parent's answers since that time count.
  const { checked_at: checkedAt, found, name_servers: pair } = nearest
  const isDoubtful = above.some(
    ({ moved_at: moved }) =>
      moved !== null && (checkedAt === null || checkedAt <= moved || !isPair(found, pair)),
  )
  return isDoubtful ? undefined : nearest.customer_id
}
/** The name of a customer's own domain. Refuses with not_found. */
export async function nameOfZone(db: Queryable, customerId: string, id: string): Promise<string> {
  const zone = isUuid(id)
    ? await live(db).where('id', '=', id).where('customer_id', '=', customerId).executeTakeFirst()
    : undefined
  if (!zone) throw new Refusal('not_found')
  return zone.name
}

/**
 * The domain with this id, locked until the transaction ends, so that changes of one domain are
 * serialized. Refuses with not_found.
 */
export async function lockZone(tx: Tx, customerId: string, id: string): Promise<ZoneRow> {
  const zone = isUuid(id)
    ? await live(tx)
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!zone) throw new Refusal('not_found')
  return zone
}

/** A zone that this transaction has locked already. */
export const zoneById = (tx: Tx, id: string): Promise<ZoneRow> =>
  live(tx).where('id', '=', id).executeTakeFirstOrThrow()

/**
 * Locks every claim of a name and of the names below it, oldest first, and answers those of the
 * name itself. A transaction that may change which claim is served takes these locks before any
 * other lock of the zone: one order prevents deadlocks.
 */
export async function lockClaims(tx: Tx, name: string): Promise<ZoneRow[]> {
  const locked = await live(tx)
    .where((eb) =>
      eb.or([
        eb('name', '=', name),
        eb(sql<string>`reverse(name)`, 'like', sql<string>`reverse(${`.${name}`}::text) || '%'`),
      ]),
    )
    .orderBy('seq')
    .forUpdate()
    .execute()
  return locked.filter((zone) => zone.name === name)
}

export const recordOf = (row: Selectable<DB['dns_record']>): KeptRecord => ({
  id: row.id,
  version: row.version,
  name: row.name,
  type: row.type as RecordType,
  content: row.content,
  ttl: row.ttl_seconds,
  proxied: row.proxied,
  priority: row.priority,
})

export const allRecords = async (db: Queryable, zoneId: string): Promise<KeptRecord[]> =>
  (
    await db
      .selectFrom('dns_record')
      .selectAll()
      .where('zone_id', '=', zoneId)
      .orderBy('seq')
      .execute()
  ).map(recordOf)

/** Seconds: an authority queries within a minute. */
export const challengeTtlSeconds = 60
/** Challenges of these zones (challenges.ts), by zone, as records invisible to customers. */
export async function challengesOf(
  db: Queryable,
  zoneIds: readonly string[],
): Promise<Map<string, KeptRecord[]>> {
  const rows = await db
    .selectFrom('dns_challenge')
    .select(['zone_id', 'name', 'value'])
    .where('zone_id', '=', sql<string>`any (${[...zoneIds]}::uuid[])`)
    .where('dropped_serial', 'is', null)
    .orderBy('id')
    .execute()
  const byZone = new Map<string, KeptRecord[]>()
  for (const { zone_id, name, value } of rows) {
    const record: KeptRecord = {
      id: '',
      version: 1,
      name,
      type: 'TXT',
      content: value,
      ttl: challengeTtlSeconds,
      proxied: false,
      priority: null,
    }
    byZone.set(zone_id, [...(byZone.get(zone_id) ?? []), record])
  }
  return byZone
}

/** Newest first. */
export const recordsById = async (
  db: Queryable,
  zoneId: string,
  ids: readonly string[],
): Promise<KeptRecord[]> => {
  const valid = ids.filter((id) => isUuid(id))
  const rows = await db
    .selectFrom('dns_record')
    .selectAll()
    .where('zone_id', '=', zoneId)
    .where('id', '=', sql<string>`any (${valid}::uuid[])`)
    .orderBy('seq', 'desc')
    .execute()
  return rows.map(recordOf)
}

export const recordsAt = async (
  db: Queryable,
  zoneId: string,
  names: readonly string[],
): Promise<KeptRecord[]> =>
  (
    await db
      .selectFrom('dns_record')
      .selectAll()
      .where('zone_id', '=', zoneId)
      .where('name', '=', sql<string>`any (${[...names]}::text[])`)
      .execute()
  ).map(recordOf)

/** Whether other records than these exist at a name or below it. */
export const isThere = async (
  db: Queryable,
  zoneId: string,
  name: string,
  but: readonly string[],
): Promise<boolean> => {
  const found = await db
    .selectFrom('dns_record')
    .select('id')
    .where('zone_id', '=', zoneId)
    .where('id', '<>', sql<string>`all (${[...but]}::uuid[])`)
    .where((eb) =>
      eb.or([
        eb('name', '=', name),
        eb(sql<string>`right(name, ${name.length + 1}::int)`, '=', `.${name}`),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export const countRecords = async (db: Queryable, zoneId: string): Promise<number> =>
  Number(
    (
      await db
        .selectFrom('dns_record')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .where('zone_id', '=', zoneId)
        .executeTakeFirstOrThrow()
    ).n,
  )

/** MX and NS records of the domain that name this host. */
export const recordsNaming = async (
  db: Queryable,
  zoneId: string,
  host: string,
): Promise<KeptRecord[]> =>
  (
    await db
      .selectFrom('dns_record')
      .selectAll()
      .where('zone_id', '=', zoneId)
      .where('type', 'in', ['MX', 'NS'])
      .where(sql<boolean>`md5(content) = md5(${host}::text)`)
      .where('content', '=', host)
      .execute()
  ).map(recordOf)

const asJson = (records: readonly KeptRecord[]): string => JSON.stringify(records)
const columns = sql`as r (id uuid, name text, type text, content text, ttl int, proxied boolean,
  priority int, version int)`

export async function insertRecords(
  tx: Tx,
  zoneId: string,
  records: readonly KeptRecord[],
): Promise<void> {
  if (records.length === 0) return
  await sql`
    insert into dns_record (id, zone_id, name, type, content, ttl_seconds, proxied, priority,
    version)
    select id, ${zoneId}, name, type, content, ttl, proxied, priority, version
    from jsonb_to_recordset(${asJson(records)}::jsonb) ${columns}`.execute(tx)
}
export async function rewriteRecords(
  tx: Tx,
  zoneId: string,
  records: readonly KeptRecord[],
): Promise<void> {
  if (records.length === 0) return
  await sql`
    update dns_record d
    set name = r.name, type = r.type, content = r.content, ttl_seconds = r.ttl, proxied = r.proxied,
    priority = r.priority, version = r.version
    from jsonb_to_recordset(${asJson(records)}::jsonb) ${columns}
    where d.id = r.id and d.zone_id = ${zoneId}`.execute(tx)
}
export async function dropRecords(tx: Tx, zoneId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('dns_record')
    .where('zone_id', '=', zoneId)
    .where('id', '=', sql<string>`any (${[...ids]}::uuid[])`)
    .execute()
}

/** The served records of several zones, by id, including challenges. */
export async function recordsOfZones(
  db: Queryable,
  zoneIds: readonly string[],
): Promise<Map<string, KeptRecord[]>> {
  const byZone = new Map<string, KeptRecord[]>()
  const rows = await db
    .selectFrom('dns_record')
    .selectAll()
    .where('zone_id', '=', sql<string>`any (${[...zoneIds]}::uuid[])`)
    .orderBy('seq')
    .execute()
  for (const row of rows) {
    const records = byZone.get(row.zone_id)
    if (records) records.push(recordOf(row))
    else byZone.set(row.zone_id, [recordOf(row)])
  }
  for (const [zoneId, challenges] of await challengesOf(db, zoneIds))
    byZone.set(zoneId, [...(byZone.get(zoneId) ?? []), ...challenges])
  return byZone
}
