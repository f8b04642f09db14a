/** The backup of every night: made, verified in a scratch database, kept for a while. */
import path from 'node:path'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { loadRootSecret } from '../platform/secrets.ts'
import {
  makeMissing,
  sitesToSave,
  type Archives,
  type WordpressDriver,
} from '../wordpress/index.ts'
import { makeBackup } from './make.ts'
import { openStore, type ObjectStore } from '../platform/object-store/index.ts'
import { pruneBackups } from './prune.ts'
import { whyNoScratchDatabase } from './scratch.ts'
import { verifyBackup } from './verify.ts'

export const portalBackupJob = 'portal-backup'

/** Limit of the faults in the log. */
const namedFaults = 20

export interface NightlyParts {
  readonly db: Database
  readonly databaseUrl: string
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'add'>
  readonly driver: Pick<WordpressDriver, 'prove'>
  readonly config: Config
  readonly archives: Archives
}

/** The result of a night; `faults`: the backup's faults, a sentence each. */
interface Night {
  readonly faults: readonly string[]
  /** Whether another try may end better. */
  readonly again: boolean
}

/** Makes one, verifies it, and removes old ones. */
async function makeAndVerify(
  parts: NightlyParts,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<Night> {
  const { db, databaseUrl, clock, log, config } = parts
  const passphrase = config.BACKUP_PASSPHRASE
  const why = await whyNoScratchDatabase(databaseUrl)
  if (why !== undefined) {
    await noteFailure(parts)
    log.error({ to: config.BACKUP_TO }, why)
  }
  // A site created meanwhile is in the next backup.
  const before = new Set((await sitesToSave(db)).map(({ siteId }) => siteId))
  await makeMissing({ ...parts, signal })
  const made = await makeBackup({
    store,
    databaseUrl,
    archives: parts.archives,
    secret: loadRootSecret(config.DATA_DIR, config.PORTAL_SECRET),
    passphrase,
    // Names are sorted by it, and the clock of a sandbox may go back.
    now: new Date(),
    signal,
  })
  const missing = made.notSaved.filter(({ siteId }) => before.has(siteId))
  await db.updateTable('portal_backup').set({ sites_missing: missing.length }).execute()
  if (missing.length > 0)
    log.error({ sites: missing }, 'some sites are not in the backup of the portal')
  // An untested backup is still better than none.
  if (why !== undefined) return { faults: [why], again: false }
  const { manifest, faults, agreed, untried } = await verifyBackup({
    store,
    passphrase,
    databaseUrl,
    scratchFolder: path.join(config.DATA_DIR, 'backups', '.verifying'),
    prove: (file, of, database) => parts.driver.prove(file, of, database),
    signal,
  })
  if (untried.length > 0) log.warn({ sites: untried }, 'archives of some sites could not be tried')
  if (faults.length > 0) return { faults, again: true }
  await db
    .updateTable('portal_backup')
    .set({ verified_at: clock.now(), verified_backup: manifest.id, failed_since: null })
    .execute()
  const removed = await pruneBackups(store, config.BACKUP_TO_KEEP, new Date(), manifest.id)
  const bytes = made.files.reduce((sum, file) => sum + file.bytes, 0)
  log.info(
    { backup: made.id, bytes, sites: made.sites.length, agreed, removed },
    'the portal is backed up, and the backup is verified',
  )
  return { faults: [], again: false }
}

async function noteFailure({ db, clock }: NightlyParts): Promise<void> {
  await db
    .updateTable('portal_backup')
    .set({ failed_since: clock.now() })
    .where('failed_since', 'is', null)
    .execute()
}

/**
 * Prunes after a bad night: bad backups must not fill the disk, and the newest one known to be good
 * stays.
 */
async function pruneAfterBadNight(
  { db, log, config }: NightlyParts,
  store: ObjectStore,
): Promise<void> {
  const { verified_at: at, verified_backup: verified } = await statusOf(db)
  // Release 2 did not record which one was good: all stay until one is proven again.
  if (at !== null && verified === null) return
  try {
    await pruneBackups(store, config.BACKUP_TO_KEEP, new Date(), verified)
  } catch (error) {
    log.error({ err: error }, 'old backups of the portal are not removed')
  }
}

const statusOf = (db: Queryable) =>
  db.selectFrom('portal_backup').selectAll().executeTakeFirstOrThrow()

/** One night. Throws if a retry may succeed. */
export async function backUpPortal(parts: NightlyParts, signal: AbortSignal): Promise<void> {
  const { log, config } = parts
  const { BACKUP_TO: to } = config
  if (to === undefined) return
  const store = openStore(to, config)
  let night: Night
  try {
    night = await makeAndVerify(parts, store, signal)
  } catch (error) {
    if (signal.aborted) throw error
    await noteFailure(parts)
    log.error({ err: error, to }, 'the portal could not be backed up')
    await pruneAfterBadNight(parts, store)
    throw error
  }
  const { faults, again } = night
  if (faults.length === 0) return
  await noteFailure(parts)
  log.error({ faults: faults.slice(0, namedFaults), to }, 'the portal’s backup is not good')
  await pruneAfterBadNight(parts, store)
  if (again) throw new Error(`the portal’s backup is not good: ${faults[0]}`)
}

/**
 * The job, which does nothing where BACKUP_TO is not set, and what an operator watches of it.
 */
export function definePortalBackups(
  parts: NightlyParts & { readonly jobs: Jobs; readonly metrics: Metrics },
): void {
  const { db, jobs, metrics, config } = parts

  jobs.define({
    name: portalBackupJob,
    // 2:41 in Vietnam: after the servers' own backups, whose newest archives it includes.
    cron: '41 19 * * *',
    retries: 1,
    retryDelaySeconds: 60,
    limitSeconds: 6 * 3600,
    run: (_payload, { signal }) => backUpPortal(parts, signal),
  })

  metrics.source(
    {
      portal_backup_nightly: {
        type: 'gauge',
        help: '1 where this process is set to back the portal up every night (BACKUP_TO)',
      },
      portal_backup_verified_timestamp_seconds: {
        type: 'gauge',
        help: 'When a nightly backup of the portal was last made and verified; 0 for never',
      },
      portal_backup_failed: {
        type: 'gauge',
        help: '1 when the newest nightly backup of the portal was not made or is not good',
      },
      portal_backup_sites_missing: {
        type: 'gauge',
        help: 'Servers of which the newest nightly backup of the portal has nothing',
      },
    },
    async () => {
      const row = await statusOf(db)
      return {
        portal_backup_nightly: Number(config.BACKUP_TO !== undefined),
        portal_backup_verified_timestamp_seconds: (row.verified_at?.getTime() ?? 0) / 1000,
        portal_backup_failed: Number(row.failed_since !== null),
        portal_backup_sites_missing: row.sites_missing,
      }
    },
  )
}
