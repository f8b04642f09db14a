/**
 * The hold on a site's writes from the backup before an update to its end (decision 80). The driver
 * says whether it lasted until now, but only once: who asks begins another one. So it is written
 * down, and a gap stays known after a kill.
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

/** Before the backup of an update is made: nothing that was written before can be lost. */
export async function beginHold(
  { db, driver }: HoldDeps,
  backup: { readonly id: string; readonly site_id: string },
): Promise<void> {
  // By the clock that nodes hold by, which no test turns.
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
 * Holds writes on. False, and false ever after: there was a gap, so somebody may have written since
 * the backup, and going back to it could take that away.
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
