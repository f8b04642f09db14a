/**
 * Begins the nightly backup of every server, spread over the night, longest waiting first. Few are
 * under way at once, so that a backup which a customer asks for waits behind few.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { isNoTimeForBackup, unfinishedBackups } from './backup-store.ts'
import { deletedWithBackups } from './kept-backups.ts'

export const nightlyJob = 'nightly-backups'
export const forgetJob = 'forget-backups'

/** Less than a day, so that a late night does not make the next one skip servers. */
const nightMs = hours(20)
/** A server that is being backed up, restored, moved or updated is tried again after this. */
const busyGapMs = minutes(10)
/**
 * Most backups of all servers that are being made or wait. At ten seconds each, 60 keep 60 workers
 * busy; 100,000 servers in the night's 21,600 seconds need 100,000 * 10 / 21,600 = 47. A backup
 * that a customer asks for waits 60 / 2 * 10 s = five minutes at most, with the two workers of a
 * single portal.
 */
const unfinishedAtOnce = 60
/**
 * Interval at which ended backups are replaced by new ones, short enough that workers never run
 * out.
 */
const refillMs = 5000
/** A round ends before the next one begins, with the next minute. */
const roundMs = 50_000

export function defineNightlyBackups(deps: {
  db: Database
  clock: Clock
  log: Log
  jobs: Jobs
  /** Begins a backup, in the transaction that has locked the server. */
  begin: (tx: Tx, siteId: string) => Promise<string>
  /** Removes all backups of a deleted server. */
  removeAll: (siteId: string) => Promise<void>
  /** Servers deleted before this moment have no backups any more. */
  deletedSince: () => Date
  /** When nightly backups begin, as a line of cron in UTC. */
  nights?: string | undefined
}): void {
  const { db, clock, log } = deps

  /**
   * Begins backups that are due, as many as there is room for; answers how many servers were looked
   * at.
   */
  async function beginDue(): Promise<number> {
    const room = unfinishedAtOnce - (await unfinishedBackups(db))
    return await transaction(db, async (tx) => {
      const now = clock.now()
      const due = await tx
        .selectFrom('site')
        .select('id')
        .where('status', '=', 'running')
        .where('nightly_backup_at', '<=', later(now, -nightMs))
        .orderBy('nightly_backup_at')
        .limit(Math.max(1, room))
        .forUpdate()
        .skipLocked()
        .execute()
      if (room <= 0) return due.length
      for (const { id } of due) {
        const busy = await isNoTimeForBackup(tx, id)
        if (!busy) await deps.begin(tx, id)
        await tx
          .updateTable('site')
          .set({ nightly_backup_at: busy ? later(now, busyGapMs - nightMs) : now })
          .where('id', '=', id)
          .execute()
      }
      return due.length
    })
  }

  deps.jobs.define({
    name: nightlyJob,
    // Every minute from 1:00 to 6:59 in Vietnam.
    cron: deps.nights ?? '* 18-23 * * *',
    retries: 0,
    run: async (_payload, { signal }) => {
      const until = performance.now() + roundMs
      while ((await beginDue()) > 0 && performance.now() < until)
        await pause(refillMs, undefined, { signal, ref: false })
    },
  })

  deps.jobs.define({
    name: forgetJob,
    cron: '11 18 * * *',
    limitSeconds: 3600,
    run: async (_payload, { signal }) => {
      for (const siteId of await deletedWithBackups(db, deps.deletedSince())) {
        signal.throwIfAborted()
        try {
          await deps.removeAll(siteId)
        } catch (error) {
          // A failure does not delay the others; the next night tries again.
          log.error({ err: error, site: siteId }, 'the backups of a deleted site stay')
        }
      }
    },
  })
}
