/**
 * Backups: made on demand and every night, proven in a scratch site, kept for a while, downloaded,
 * and restored. The jobs read the row's state, so that a killed job is repeated with the same
 * result; a restore acts once by its id, which the driver remembers.
 */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { undoHours } from '../../contract/wordpress-import.ts'
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { FileAnswer } from '../platform/http.ts'
import type { Attempt, Jobs } from '../platform/jobs.ts'
import { NoSuchFile } from '../platform/object-store/index.ts'
import type { Log } from '../platform/log.ts'
import { sameText } from '../platform/constant-time.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { ArchiveName, Archives } from './archives.ts'
import {
  backupById,
  databaseOf,
  beginBackup,
  refuseOtherDatabase,
  refuseUnfinished,
  figuresOf,
  makeJob,
  restoreJob,
  stepMs,
  type BackupRow,
} from './backup-store.ts'
import { switchJob } from './import-store.ts'
import type { WordpressDriver } from './driver.ts'
import { isLost, siteWithBackups, surplusBackups } from './kept-backups.ts'
import { defineNightlyBackups } from './nightly-backups.ts'
import { defineRestores } from './restores.ts'
import { beginHold } from './update-hold.ts'
import { updateJob } from './update-store.ts'
import { within } from './within.ts'
import { lockSite, siteById, type SiteAddressing } from './store.ts'

const megabyte = 1_048_576
/**
 * Failed attempts per backup or restore. An attempt that ends because the portal is killed does not
 * count.
 */
const maxAttempts = 3
const linkLifeMs = minutes(5)
/**
 * The one range of bytes that a Range header asks for; null for all: no header, several
 * ranges, or one that lies outside, which a server may answer with the whole. RFC 9110, 14.2.
 */
export function partOf(
  range: string,
  total: number,
): { readonly start: number; readonly end: number; readonly total: number } | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim())
  const [, first = '', last = ''] = match ?? []
  if (first === '' && last === '') return null
  const start = first === '' ? Math.max(0, total - Number(last)) : Number(first)
  const end = first === '' || last === '' ? total - 1 : Math.min(Number(last), total - 1)
  return start <= end && start < total ? { start, end, total } : null
}

export interface BackupDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly secrets: Secrets
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
  readonly portalUrl: string
  readonly archives: Archives
  /** How many of each kind a server keeps. */
  readonly kept: number
  /** How many days proven backups outlive their server. */
  readonly keptDaysAfterDeletion: number
  /** When nightly backups begin, as a line of cron in UTC; 1:00 to 6:59 in Vietnam without it. */
  readonly nights?: string | undefined
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
}

export interface Backups {
  /**
   * Begins a backup. Refuses when the server does not run, or a backup is being made or restored.
   * `update`: made before an update, which goes on when the backup has ended (update-store.ts);
   * writes are held from the backup's moment on.
   */
  make(tx: Tx, siteId: string, kind?: 'manual' | 'update'): Promise<string>
  /** Begins to restore the backup; answers the restore's id. */
  restore(tx: Tx, siteId: string, backupId: string): Promise<string>
  /** Answers a link to the archive that works for five minutes. */
  link(siteId: string, backupId: string): Promise<string>
  /** Streams the archive to whoever has the link's ticket. */
  open(
    siteId: string,
    backupId: string,
    ticket: string | undefined,
    range: string,
  ): Promise<FileAnswer>
  /**
   * The id of the customer's server. A deleted server is found for as long as its backups are kept.
   */
  siteWithBackups(customerId: string, siteId: string): Promise<string>
  /**
   * For a deleted server: removes unproven backups at once, and proven ones when their days are
   * over.
   */
  forget(siteId: string): Promise<void>
}

export function createBackups(deps: BackupDeps): Backups {
  const { db, clock, log, jobs, driver, archives } = deps
  const nameOf = (backup: Pick<BackupRow, 'id' | 'site_id'>): ArchiveName => ({
    siteId: backup.site_id,
    backupId: backup.id,
  })

  /** Servers deleted before this moment have no backups any more. */
  const deletedSince = (): Date => later(clock.now(), -hours(24) * deps.keptDaysAfterDeletion)

  async function removeAll(siteId: string): Promise<void> {
    // The rows are marked first: a process that makes a backup at this moment finds that, and keeps
    // no archive.
    const all = await db
      .updateTable('site_backup')
      .set({ state: 'removed' })
      .where('site_id', '=', siteId)
      .returning(['id', 'site_id'])
      .execute()
    for (const backup of all) await archives.remove(nameOf(backup))
    await db.deleteFrom('site_backup').where('site_id', '=', siteId).execute()
  }

  /** Wakes the update that waits for this backup or restore. */
  async function wakeUpdate(tx: Tx, by: 'backup_id' | 'restore_id', id: string): Promise<void> {
    const update = await tx
      .selectFrom('site_update')
      .select('id')
      .where(by, '=', id)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    if (update) await jobs.add(tx, updateJob, { updateId: update.id })
  }

  /**
   * Makes the archive and restores it in a scratch site; fails unless both have the same figures.
   */
  async function make(backup: BackupRow, signal: AbortSignal): Promise<void> {
    const { made: figures, bytes } = await archives.make(nameOf(backup), async (file) => {
      if (backup.for_update) await beginHold({ db, driver }, backup)
      const saved = await within(
        stepMs,
        'the backup took too long',
        driver.backup(backup.site_id, file),
        signal,
      )
      const proving = driver.prove(file, backup.site_id)
      const proof = await within(stepMs, 'the proof took too long', proving, signal)
      if (!isDeepStrictEqual(proof, saved))
        throw new DriverFailure('unavailable', 'what was restored differs from what was backed up')
      return saved
    })
    const isOurs = await transaction(db, async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable('site_backup')
        .set({
          state: 'proven',
          archive_bytes: BigInt(bytes),
          figures: JSON.stringify(figures),
          proven_at: clock.now(),
          database: databaseOf(backup.site_id),
        })
        .where('id', '=', backup.id)
        .where('state', '=', 'making')
        .executeTakeFirst()
      await wakeUpdate(tx, 'backup_id', backup.id)
      return numUpdatedRows > 0n
    })
    // The server may have been deleted meanwhile, and its archives removed.
    if (!isOurs && !(await isProven(backup.id))) await archives.remove(nameOf(backup))
  }

  const isProven = async (backupId: string): Promise<boolean> =>
    (await backupById(db, backupId))?.state === 'proven'

  /** Wakes the import that waits for the backup of the server's former content. */
  async function tellImport(backupId: string): Promise<void> {
    await transaction(db, async (tx) => {
      const waiting = await tx
        .selectFrom('site_import')
        .select('id')
        .where('backup_id', '=', backupId)
        .where('state', '=', 'switching')
        .executeTakeFirst()
      if (waiting) await jobs.add(tx, switchJob, { importId: waiting.id })
    })
  }

  /**
   * Keeps the newest backups of each kind, and always the newest proven one. The row goes last, so
   * that no archive is left without one.
   */
  async function prune(siteId: string): Promise<void> {
    // Under the site's lock, as when a restore begins: a chosen backup can no longer be restored,
    // and one that is being restored is not chosen.
    const chosen = await transaction(db, async (tx) => {
      await lockSite(tx, siteId)
      const old = await surplusBackups(tx, siteId, deps.kept, later(clock.now(), -hours(undoHours)))
      if (old.length > 0)
        await tx
          .updateTable('site_backup')
          .set({ state: 'removed' })
          .where(
            'id',
            'in',
            old.map(({ id }) => id),
          )
          .execute()
      return old
    })
    for (const backup of chosen) {
      await archives.remove(nameOf(backup))
      await db.deleteFrom('site_backup').where('id', '=', backup.id).execute()
    }
  }

  /**
   * When the portal stops, or another worker has the job, a failed attempt does not count.
   * Otherwise the attempt is counted; true when it was the last one.
   */
  function isFinal(error: unknown, attempts: number, { signal }: Attempt): boolean {
    if (signal.aborted) throw error
    return (
      (error instanceof DriverFailure && error.kind === 'rejected') || attempts + 1 >= maxAttempts
    )
  }
  const reasonOf = (error: unknown): string =>
    error instanceof DriverFailure ? error.message : 'unexpected'

  jobs.define<{ backupId: string }>({
    name: makeJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 4 * 3600,
    run: async ({ backupId }, attempt) => {
      const backup = await backupById(db, backupId)
      if (backup?.state !== 'making') return await tellImport(backupId)
      try {
        await make(backup, attempt.signal)
      } catch (error) {
        const final = isFinal(error, backup.attempts, attempt)
        const isCounted = await transaction(db, async (tx) => {
          const { numUpdatedRows } = await tx
            .updateTable('site_backup')
            .set({
              attempts: backup.attempts + 1,
              ...(final && { state: 'failed', reason: reasonOf(error) }),
            })
            .where('id', '=', backupId)
            .where('state', '=', 'making')
            .executeTakeFirst()
          if (final) await wakeUpdate(tx, 'backup_id', backupId)
          return numUpdatedRows > 0n
        })
        // If the connection broke after the proof was committed, the backup is proven and its
        // archive stays.
        if (isCounted || !(await isProven(backupId))) {
          await archives.remove(nameOf(backup))
          if (!final) throw error
          log.error({ err: error, site: backup.site_id }, 'a backup failed')
        }
      }
      await tellImport(backupId)
      await prune(backup.site_id)
    },
  })

  defineRestores({ ...deps, isFinal, reasonOf, wakeUpdate })
  defineNightlyBackups({
    ...deps,
    begin: (tx, siteId) => beginBackup(deps, tx, siteId, 'nightly'),
    removeAll,
    deletedSince,
  })

  const proven = async (from: Queryable, siteId: string, backupId: string): Promise<BackupRow> => {
    const backup = await backupById(from, backupId)
    if (backup?.site_id !== siteId || backup.state === 'removed') throw new Refusal('not_found')
    if (backup.state !== 'proven') throw new Refusal('backup_not_proven')
    return backup
  }
  const seal = (backupId: string, until: number): string =>
    `${until}.` +
    `${deps.secrets.fingerprint('backup-link', `${backupId}:${until}`).toString('base64url')}`

  return {
    async make(tx, siteId, kind = 'manual') {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      await refuseUnfinished(tx, siteId)
      return await beginBackup(deps, tx, siteId, kind)
    },

    async restore(tx, siteId, backupId) {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      const backup = await proven(tx, siteId, backupId)
      await refuseUnfinished(tx, siteId)
      await refuseOtherDatabase(tx, backup)
      const { fileBytes, databaseBytes } = figuresOf(backup.figures)
      if (fileBytes > site.disk_mb * megabyte || databaseBytes > site.mariadb_disk_mb * megabyte)
        throw new Refusal('backup_too_large')
      const id = randomUUID()
      await tx
        .insertInto('site_restore')
        .values({
          id,
          site_id: siteId,
          backup_id: backupId,
          state: 'restoring',
          asked_at: clock.now(),
        })
        .execute()
      await jobs.add(tx, restoreJob, { restoreId: id })
      return id
    },

    async link(siteId, backupId) {
      await proven(db, siteId, backupId)
      const ticket = seal(backupId, later(clock.now(), linkLifeMs).getTime())
      return `${deps.portalUrl}/api/wp/${siteId}/backups/${backupId}/download?ticket=${ticket}`
    },

    async open(siteId, backupId, ticket = '', range = '') {
      const until = Number(ticket.split('.')[0])
      const sound = Number.isSafeInteger(until) && sameText(ticket, seal(backupId, until))
      if (!sound || until < clock.now().getTime()) throw new Refusal('not_found')
      const backup = await proven(db, siteId, backupId)
      const name = (await siteById(db, siteId))?.name ?? 'backup'
      const moment = backup.created_at
        .toISOString()
        .slice(0, 16)
        .replace(/[-:]/g, '')
        .replace('T', '-')
      const size = Number(backup.archive_bytes)
      const part = partOf(range, size)
      // The archive is opened before the answer begins, so that a missing one is a proper refusal.
      const chunks = await archives
        .read(nameOf(backup), part ? { start: part.start, end: part.end } : undefined)
        .catch((error: unknown) => {
          if (!(error instanceof NoSuchFile)) log.error({ err: error }, 'an archive is not there')
          throw new Refusal('not_found')
        })
      return {
        name: `${name}-${moment}.tar.gz`,
        type: 'application/gzip',
        bytes: part ? part.end - part.start + 1 : size,
        part,
        chunks: chunks as AsyncIterable<Buffer>,
      }
    },

    async siteWithBackups(customerId, siteId) {
      const found = await siteWithBackups(db, customerId, siteId, deletedSince())
      if (found === undefined) throw new Refusal('not_found')
      return found
    },

    async forget(siteId) {
      if (deps.keptDaysAfterDeletion === 0) return await removeAll(siteId)
      const unproven = await db
        .updateTable('site_backup')
        .set({ state: 'removed' })
        .where('site_id', '=', siteId)
        .where('state', '<>', 'proven')
        .where((eb) => eb.not(isLost))
        .returning(['id', 'site_id'])
        .execute()
      for (const backup of unproven) {
        await archives.remove(nameOf(backup))
        await db.deleteFrom('site_backup').where('id', '=', backup.id).execute()
      }
    },
  }
}
