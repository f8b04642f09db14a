/**
 * How long the change log of a domain is kept (decision 154): 90 days, and always its newest
 * hundred changes. Whoever catches up from it must know where it begins.
 */
import { sql, type RawBuilder } from 'kysely'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import { recordsById, type KeptRecord, type ZoneRow } from './store.ts'

/** Changes of a domain that are kept however old they are. */
const newestKept = 100
/** Marked with one new change: a release that marks none may have run beside this one. */
const markedAtOnce = 100
/** A change may have the records of two zone files. */
const droppedAtOnce = 500

/** Marks the changes that the newest hundred push out. The caller has locked the zone's row. */
export async function markSurplus(tx: Tx, zoneId: string): Promise<void> {
  await sql`
    update dns_change set is_surplus = true where not is_surplus and id = any (array(
      select id from dns_change where zone_id = ${zoneId}
      order by id desc offset ${newestKept} limit ${markedAtOnce}))`.execute(tx)
}

/**
 * SQL: whether changes after this serial of a zone may have been dropped. Where fewer than a
 * hundred are there, none was.
 */
export const isCutAfter = (zoneId: RawBuilder<unknown>, serial: number): RawBuilder<boolean> => sql`
  (${serial} < (select serial from dns_change where zone_id = ${zoneId} order by id limit 1)
    and exists (
    select from dns_change where zone_id = ${zoneId}
    order by id desc offset ${newestKept - 1} limit 1))`

/** Limits on changes, and on their records, that are listed one by one. */
const [changesLimit, changedLimit] = [500, 2000]

/**
 * The present state of the records that changes after the serial `since` wrote, newest first, and
 * the ids of deleted records. `records` is undefined if there are too many, the log does not reach
 * back so far, or the domain never had that serial. `zone` was read before, so that no change in
 * between is missed.
 */
export async function changedSince(
  db: Queryable,
  zone: Pick<ZoneRow, 'id' | 'serial'>,
  since: number,
): Promise<{ records: KeptRecord[] | undefined; gone: string[] }> {
  if (since === Number(zone.serial)) return { records: [], gone: [] }
  const { rows } = await sql<{ changes: number; isCut: boolean; ids: string[] }>`
    with changes as (
      select before || after as records from dns_change where zone_id = ${zone.id}
      and serial > ${since} order by serial limit ${changesLimit + 1}
    ),
    ids as (select distinct record ->> 'id' as id
    from changes, jsonb_array_elements(records) as record limit ${changedLimit + 1})
    select (select count(*)::int from changes) as changes,
      ${isCutAfter(sql`${zone.id}`, since)} as "isCut",
      coalesce((select array_agg(id) from ids), '{}') as ids`.execute(db)
  const { changes, isCut, ids } = rows[0] ?? { changes: 0, isCut: false, ids: [] }
  const isMuch = changes > changesLimit || ids.length > changedLimit
  if (since > Number(zone.serial) || isMuch || isCut) return { records: undefined, gone: [] }
  const records = await recordsById(db, zone.id, ids)
  const present = new Set(records.map(({ id }) => id))
  return { records, gone: ids.filter((id) => !present.has(id)) }
}

/** Drops changes that are old, and those of deleted domains, of which nobody asks any more. */
export async function dropOldChanges(db: Database, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'dns_change')
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from dns_change where id = any (array(
        select c.id from dns_zone z join dns_change c on c.zone_id = z.id
        where z.deleted_at is not null limit ${droppedAtOnce}))`.execute(db)
    if (numAffectedRows < BigInt(droppedAtOnce)) return
  }
}
