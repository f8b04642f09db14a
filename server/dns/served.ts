/**
 * The state to serve for a name, by the database: the claim, its serial, and the changes since
 * another serial.
 */
import { sql } from 'kysely'
import type { RecordType } from '../../contract/dns-records.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { isCutAfter } from './change-log.ts'
import { challengeTtlSeconds, type KeptRecord } from './store.ts'

export interface ServedZone {
  readonly id: string
  readonly name: string
  readonly name_servers: readonly string[]
  readonly serial: bigint
}

/** A set that a change touched. */
interface Touched {
  readonly name: string
  readonly type: RecordType
  readonly ttl: number
}

/** A zone that is more changes behind than this is put completely. */
export const catchUpLimit = 500

/** The served zone of a name and its serial; '' for none. */
export const stateOf = (zone: ServedZone | undefined): string =>
  zone ? `${zone.id} ${zone.serial}` : ''

export const readServed = (from: Queryable, name: string): Promise<ServedZone | undefined> =>
  from
    .selectFrom('dns_served')
    .selectAll()
    .where('name', '=', name)
    .$castTo<ServedZone>()
    .executeTakeFirst()

/**
 * The changes since a serial, and the current records of the sets that they touched, in one
 * statement and so one snapshot. More than `catchUpLimit` rows of either mean that there are more.
 */
export async function changesSince(
  db: Database,
  name: string,
  held: { id: string; serial: number } | undefined,
): Promise<{
  zone: ServedZone | undefined
  changes: number
  /** The log may lack some of them: they are no way to the present state. */
  isCut: boolean
  touched: Touched[]
  present: KeptRecord[]
}> {
  const { rows } = await sql<{
    zone: (Omit<ServedZone, 'serial'> & { serial: number }) | null
    changes: number
    isCut: boolean
    touched: Touched[]
    present: KeptRecord[]
  }>`
    with served as (select id, name, name_servers, serial from dns_served where name = ${name}),
    changes as (
      select c.before || c.after as records from dns_change c join served s on s.id = c.zone_id
      where s.id::text = ${held?.id ?? ''} and c.serial > ${held?.serial ?? 0}
      limit ${catchUpLimit + 1}
    ),
    challenges as (
      select c.id, c.name, c.value, c.dropped_serial is null as stands,
        greatest(c.put_serial, c.dropped_serial) > ${held?.serial ?? 0} as changed
      from dns_challenge c join served s on s.id = c.zone_id
    ),
    touched as (
      select distinct on (name, type) name, type, ttl from (
        select r.name, r.type, r.ttl
        from changes, jsonb_to_recordset(changes.records) as r (name text, type text, ttl int)
        union all
        select name, 'TXT', ${challengeTtlSeconds}::int from challenges where changed
      ) as every
      limit ${catchUpLimit + 1}
    )
    select
      (select to_jsonb(served) from served) as zone,
      (select count(*)::int from changes)
        + (select count(*)::int from challenges where changed) as changes,
      ${isCutAfter(sql`(select id from served)`, held?.serial ?? 0)} as "isCut",
      (select coalesce(jsonb_agg(to_jsonb(touched)), '[]') from touched) as touched,
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'version', d.version,
          'name', d.name, 'type', d.type, 'content', d.content, 'ttl', d.ttl_seconds,
          'proxied', d.proxied, 'priority', d.priority) order by d.seq), '[]')
        from touched t, served s, dns_record d
        where d.zone_id = s.id and d.name = t.name and d.type = t.type
      ) || (
        select coalesce(jsonb_agg(jsonb_build_object('id', '', 'version', 1, 'name', c.name,
          'type', 'TXT', 'content', c.value, 'ttl', ${challengeTtlSeconds}::int, 'proxied',
          false, 'priority', null) order by c.id), '[]')
        from touched t, challenges c where c.stands and c.name = t.name and t.type = 'TXT'
      ) as present`.execute(db)
  const [row] = rows
  if (!row) return { zone: undefined, changes: 0, isCut: false, touched: [], present: [] }
  return {
    ...row,
    zone: row.zone === null ? undefined : { ...row.zone, serial: BigInt(row.zone.serial) },
  }
}
