/**
 * Watches for archives of proven backups that are missing: they were removed behind the portal's
 * back, SITE_BACKUPS_TO leads elsewhere than before, or each of several machines has a folder of
 * its own. Without it a customer would learn of the loss at a download or a restore.
 */
import { sql } from 'kysely'
import { hours, minutes } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Archives } from './archives.ts'

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
  async function look(): Promise<void> {
    try {
      const before = await proven()
      if (before.length === 0) return void (missing = 0)
      const present = new Set((await archives.list()).map(({ backupId }) => backupId))
      // A backup that was pruned meanwhile does not count as missing.
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
