/**
 * Watches for archives of proven backups that are missing: they were removed behind the portal's
 * back, SITE_BACKUPS_TO leads elsewhere than before, or each of several machines has a folder of
 * its own. A customer would learn of it at a download or a restore. What a restore of the portal
 * did not find, and is there now, is offered again.
 */
import { sql } from 'kysely'
import { hours, minutes } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Archives } from './archives.ts'
import { isLost } from './kept-backups.ts'

/** The interval is long because each look lists everything in a bucket. */
const lookEveryMs = hours(6)
/** The first look waits because a portal that has just started is busy. */
const firstLookMs = minutes(5)
/** Most missing backups that one log line names. */
const namedAtMost = 20

export interface ArchiveWatch {
  /** How many were missing at the last look. */
  missing(): number
  look(): Promise<void>
  stop(): void
}

export function watchArchives(parts: {
  readonly db: Queryable
  readonly log: Log
  readonly archives: Pick<Archives, 'list'>
}): ArchiveWatch {
  const { db, log, archives } = parts
  let missing = 0

  const proven = async (among?: readonly string[]): Promise<string[]> => {
    const { rows } = await sql<{ id: string }>`
      select id from site_backup where state = 'proven'
      ${among ? sql`and id = any (${among}::uuid[])` : sql``}`.execute(db)
    return rows.map(({ id }) => id)
  }
  async function lost(): Promise<boolean> {
    const { rows } = await sql`
      select 1 from site_backup where ${isLost} limit 1`.execute(db)
    return rows.length > 0
  }
  async function offerAgain(present: ReadonlySet<string>): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      update site_backup set state = 'proven', reason = null
      where ${isLost} and id = any (${[...present]}::uuid[]) returning id`.execute(db)
    if (rows.length > 0)
      log.info({ backups: rows.length }, 'backups that a restore did not find are offered again')
  }
  async function look(): Promise<void> {
    try {
      const before = await proven()
      const hasLost = await lost()
      if (before.length === 0 && !hasLost) return void (missing = 0)
      const present = new Set((await archives.list()).map(({ backupId }) => backupId))
      if (hasLost) await offerAgain(present)
      // What was pruned meanwhile is missing to nobody.
      const gone = await proven(before.filter((id) => !present.has(id)))
      missing = gone.length
      if (missing > 0)
        log.error(
          { missing, backups: gone.slice(0, namedAtMost) },
          'archives of backups are not where SITE_BACKUPS_TO leads',
        )
    } catch (error) {
      log.warn({ err: error }, 'looking for the archives of backups')
    }
  }
  const first = setTimeout(() => void look(), firstLookMs)
  const timer = setInterval(() => void look(), lookEveryMs)
  first.unref()
  timer.unref()
  return {
    missing: () => missing,
    look,
    stop() {
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}
