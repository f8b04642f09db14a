/**
 * The job that restores a server from a backup. It acts once by the restore's id, which the driver
 * remembers, so that a killed job is repeated with the same result.
 */
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Attempt, Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Archives } from './archives.ts'
import { backupToRestore, figuresOf, restoreJob, stepMs } from './backup-store.ts'
import { ensureJob } from './change.ts'
import { updateHoldMs, type WordpressDriver } from './driver.ts'
import { siteById, specOf, type SiteAddressing } from './store.ts'
import { keepHold } from './update-hold.ts'
import { within } from './within.ts'

/** Defines the job. The making of backups passes `isFinal`, `reasonOf` and `wakeUpdate`. */
export function defineRestores(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
  readonly archives: Archives
  readonly onChange: () => void
  /** Whether the failed attempt was the last one; throws where it does not count. */
  readonly isFinal: (error: unknown, attempts: number, attempt: Attempt) => boolean
  readonly reasonOf: (error: unknown) => string
  /** Wakes the update that waits for this restore. */
  readonly wakeUpdate: (tx: Tx, by: 'restore_id', id: string) => Promise<void>
}): void {
  const { db, clock, log, jobs, driver, archives, isFinal, reasonOf, wakeUpdate } = deps

  /**
   * Keeps writes held while `work` undoes an update: a write after the end of the hold would be
   * lost with the restore. DriverFailure rejected: the hold has ended already.
   */
  async function holdingWrites<T>(restoreId: string, work: () => Promise<T>): Promise<T> {
    const undone = await db
      .selectFrom('site_update')
      .select(['id', 'site_id'])
      .where('restore_id', '=', restoreId)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    if (!undone) return await work()
    if (!(await keepHold({ db, driver }, undone)))
      throw new DriverFailure('rejected', 'somebody may have written since the backup')
    const hold = (): Promise<unknown> =>
      keepHold({ db, driver }, undone).catch((error: unknown) => {
        log.warn({ err: error, site: undone.site_id }, 'writes are not held on during a restore')
      })
    const again = setInterval(() => void hold(), updateHoldMs / 4)
    try {
      return await work()
    } finally {
      clearInterval(again)
    }
  }

  jobs.define<{ restoreId: string }>({
    name: restoreJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 4 * 3600,
    run: async ({ restoreId }, attempt) => {
      const restore = await backupToRestore(db, restoreId)
      if (restore?.state !== 'restoring') return
      const site = await siteById(db, restore.site_id)
      let end: { state: 'restored' } | { state: 'failed'; reason: string } = { state: 'restored' }
      try {
        if (site?.status !== 'running')
          throw new DriverFailure('rejected', 'the server does not run')
        const spec = await specOf(db, deps.addressing, site)
        const figures = figuresOf(restore.figures)
        const of = { siteId: site.id, backupId: restore.backup_id }
        await holdingWrites(restoreId, async () => {
          const restored = archives.use(of, (file) =>
            driver.restore(spec, { file, figures }, restoreId),
          )
          await within(stepMs, 'the restore took too long', restored, attempt.signal)
        })
      } catch (error) {
        if (!isFinal(error, restore.attempts, attempt)) {
          await db
            .updateTable('site_restore')
            .set({ attempts: restore.attempts + 1 })
            .where('id', '=', restoreId)
            .execute()
          throw error
        }
        log.error({ err: error, site: restore.site_id }, 'a restore failed')
        end = { state: 'failed', reason: reasonOf(error) }
      }
      // Whichever content the server has now, it is started if it should run. All in one
      // transaction, so that a kill leaves no half of it.
      await transaction(db, async (tx) => {
        await tx
          .updateTable('site_restore')
          .set({ ...end, ended_at: clock.now() })
          .where('id', '=', restoreId)
          // The server may have come up elsewhere meanwhile (rescue.ts).
          .where('state', '=', 'restoring')
          .execute()
        await jobs.add(tx, ensureJob, { siteId: restore.site_id })
        await wakeUpdate(tx, 'restore_id', restoreId)
      })
      deps.onChange()
    },
  })
}
