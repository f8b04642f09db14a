/** The backup of every night: made, verified in a scratch database, kept for a while. */
import path from 'node:path'
import type { Config } from '../config.ts'
import { hours, type Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { loadRootSecret } from '../platform/secrets.ts'
import { makeMissing, type Archives, type WordpressDriver } from '../wordpress/index.ts'
import { makeBackup } from './make.ts'
import { openStore } from '../platform/object-store/index.ts'
import { pruneBackups } from './prune.ts'
import { verifyBackup } from './verify.ts'

export const portalBackupJob = 'portal-backup'

const missingMs = hours(1)
/** In the log. */
const namedFaults = 20

export interface NightlyParts {
  readonly db: Database
  readonly databaseUrl: string
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly metrics: Metrics
  readonly driver: Pick<WordpressDriver, 'prove'>
  readonly config: Config
  readonly archives: Archives
}

/** Makes one, verifies it, and removes old ones. Answers what is wrong with it, a sentence each. */
async function makeAndVerify(
  parts: NightlyParts,
  to: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { db, databaseUrl, clock, log, config } = parts
  const store = openStore(to, config)
  const passphrase = config.BACKUP_PASSPHRASE
  await makeMissing({ ...parts, patienceMs: missingMs, signal })
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
  const { faults, agreed } = await verifyBackup({
    store,
    passphrase,
    databaseUrl,
    scratchFolder: path.join(config.DATA_DIR, 'backups', '.verifying'),
    prove: (file, of) => parts.driver.prove(file, of),
    signal,
  })
  if (faults.length > 0) return faults
  const removed = await pruneBackups(store, config.BACKUP_TO_KEEP, new Date())
  const bytes = made.files.reduce((sum, file) => sum + file.bytes, 0)
  log.info(
    { backup: made.id, bytes, sites: made.sites.length, agreed, removed },
    'the portal is backed up, and the backup is verified',
  )
  if (made.notSaved.length > 0)
    log.error({ sites: made.notSaved }, 'some sites are not in the backup of the portal')
  await db
    .updateTable('portal_backup')
    .set({ verified_at: clock.now(), failed_since: null })
    .execute()
  return []
}

/**
 * The job, which does nothing where BACKUP_TO is not set, and what an operator watches of it.
 */
export function definePortalBackups(parts: NightlyParts): void {
  const { db, clock, log, jobs, metrics, config } = parts
  const { BACKUP_TO: to } = config

  async function fail(): Promise<void> {
    await db
      .updateTable('portal_backup')
      .set({ failed_since: clock.now() })
      .where('failed_since', 'is', null)
      .execute()
  }

  jobs.define({
    name: portalBackupJob,
    // 2:41 in Vietnam: after the servers' own, whose newest archives it takes.
    cron: '41 19 * * *',
    retries: 1,
    retryDelaySeconds: 60,
    limitSeconds: 6 * 3600,
    run: async (_payload, { signal }) => {
      if (to === undefined) return
      let faults: readonly string[]
      try {
        faults = await makeAndVerify(parts, to, signal)
      } catch (error) {
        if (signal.aborted) throw error
        await fail()
        log.error({ err: error, to }, 'the portal could not be backed up')
        throw error
      }
      if (faults.length === 0) return
      await fail()
      log.error({ faults: faults.slice(0, namedFaults), to }, 'the portal’s backup is not good')
      throw new Error(`the portal’s backup is not good: ${faults[0]}`)
    },
  })

  const row = () => db.selectFrom('portal_backup').selectAll().executeTakeFirstOrThrow()
  metrics.gauge(
    'portal_backup_verified_timestamp_seconds',
    'When a nightly backup of the portal was last made and verified; 0 for never',
    async () => ((await row()).verified_at?.getTime() ?? 0) / 1000,
  )
  metrics.gauge(
    'portal_backup_failed',
    '1 when the newest nightly backup of the portal was not made or is not good',
    async () => Number((await row()).failed_since !== null),
  )
}
