/** Which backups are kept, and which are deleted. */
import { sql } from 'kysely'
import { isUuid, type Queryable } from '../platform/db.ts'
import type { BackupRow } from './backup-store.ts'

/**
 * `reason` of a removed backup whose archive a restore of the whole portal did not find. It stays,
 * and is offered again once its archive is found (archive-watch.ts): SITE_BACKUPS_TO may not have
 * been set yet, and whoever deleted the archive then would delete one that is good.
 */
export const lostArchive = 'archive not found after a restore of the portal'
export const isLost = sql<boolean>`(state = 'removed' and coalesce(reason, '') = ${lostArchive})`

/** Backups from before an update that a server keeps. */
const keptForUpdates = 3

/**
 * The backups to delete: those beyond the newest `kept` of each kind, and those marked as removed,
 * but for those whose archives were only not found;
 * failed ones are counted by themselves, so that a week of failing nights costs no good backup;
 * never the newest proven one, nor one that is being restored, nor one by which a switch to
 * another site after `neededSince` can be undone.
 */
export async function surplusBackups(
  db: Queryable,
  siteId: string,
  kept: number,
  neededSince: Date,
): Promise<Pick<BackupRow, 'id' | 'site_id'>[]> {
  const { rows } = await sql<Pick<BackupRow, 'id' | 'site_id'>>`
    select id, site_id from (
      select id, site_id, state, for_update,
        row_number() over (partition by kind, for_update, state order by seq desc) as place,
        seq = max(seq) filter (where state = 'proven') over () as newest_proven
      from site_backup
      where site_id = ${siteId} and state <> 'making' and not ${isLost}) ranked
    where (state = 'removed'
        or place > case when for_update then least(${kept}::int, ${keptForUpdates}::int)
          else ${kept}::int end)
      and newest_proven is not true
      and not exists (select 1 from site_update u where u.backup_id = ranked.id
      and u.ended_at is null)
      and not exists (select 1 from site_restore r where r.backup_id = ranked.id
      and r.state = 'restoring')
      and not exists (select 1 from site_import i where i.backup_id = ranked.id
      and (i.state = 'switching' or i.switched_at > ${neededSince}))`.execute(db)
  return rows
}

/**
 * The customer's server, if it exists or was deleted after `since`: its backups are kept so long.
 */
export const siteWithBackups = async (
  db: Queryable,
  customerId: string,
  id: string,
  since: Date,
): Promise<string | undefined> =>
  isUuid(id)
    ? (
        await db
          .selectFrom('site')
          .select('id')
          .where('id', '=', id)
          .where('customer_id', '=', customerId)
          .where((eb) => eb.or([eb('deleted_at', 'is', null), eb('deleted_at', '>', since)]))
          .executeTakeFirst()
      )?.id
    : undefined

/** Servers that were deleted before `since` and still have backups. */
export const deletedWithBackups = async (db: Queryable, since: Date): Promise<string[]> => {
  const rows = await db
    .selectFrom('site as s')
    .innerJoin('site_backup as b', 'b.site_id', 's.id')
    .select('s.id')
    .distinct()
    .where('s.deleted_at', '<=', since)
    .execute()
  return rows.map(({ id }) => id)
}
