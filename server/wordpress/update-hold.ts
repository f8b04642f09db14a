/**
 * The hold on a site's writes from the backup before an update to the update's end (decision 80).
 * The driver reports whether the hold lasted until now, but only once: each call begins a new hold.
 * So the hold is stored, and a gap stays known after a kill.
 */
import { sql } from 'kysely'
import { later } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { updateHoldMs, type WordpressDriver } from './driver.ts'
import type { UpdateRow } from './update-store.ts'

interface HoldDeps {
  readonly db: Database
  readonly driver: Pick<WordpressDriver, 'holdWrites'>
}

/**
 * Begins the hold, before the backup of an update is made: no write can be missing from the backup.
 */
export async function beginHold(
  { db, driver }: HoldDeps,
  backup: { readonly id: string; readonly site_id: string },
): Promise<void> {
  // By the system clock, as nodes hold, and not by the clock that tests turn.
  const until = later(new Date(), updateHoldMs)
  await driver.holdWrites(backup.site_id, updateHoldMs)
  await db
    .updateTable('site_update')
    .set({ held_until: until })
    .where('backup_id', '=', backup.id)
    .where('ended_at', 'is', null)
    .execute()
}

/**
 * Renews the hold. False, now and ever after: there was a gap, so somebody may have written since
 * the backup, and restoring it could lose that.
 */
export async function keepHold(
  { db, driver }: HoldDeps,
  row: Pick<UpdateRow, 'id' | 'site_id'>,
): Promise<boolean> {
  const now = new Date()
  const wasHeld = await driver.holdWrites(row.site_id, updateHoldMs)
  const { rows } = await sql<{ held: boolean }>`
    update site_update set held_until = case
      when ${wasHeld}::boolean and coalesce(held_until > ${now}, true)
        then ${later(now, updateHoldMs)}::timestamptz
      else 'epoch' end
    where id = ${row.id} returning held_until > 'epoch' as held`.execute(db)
  return rows[0]?.held ?? false
}
