/**
 * The portal's own upkeep: it forgets what has run out, checks its ledger every hour, and
 * counts what an operator watches.
 */
import * as auth from './auth/index.ts'
import type { Messages } from './messages/index.ts'
import * as payments from './payments/index.ts'
import type { Clock } from './platform/clock.ts'
import { checkDiskSpace, diskSpaceOf } from './platform/disk-space.ts'
import type { Database } from './platform/db.ts'
import { forgetOldAnswers, type IdempotencyStore } from './platform/idempotency.ts'
import { forgetCompletedJobs, givenUpByQueue } from './platform/job-failures.ts'
import type { Jobs } from './platform/jobs.ts'
import type { Limits } from './platform/limits.ts'
import type { Log } from './platform/log.ts'
import type { Metrics } from './platform/metrics.ts'
import { dropOldNotifications } from './realtime/index.ts'
import { downSites, dropOldHostChanges } from './wordpress/index.ts'
import * as wallet from './wallet/index.ts'

/** Of one check, in the log. */
const namedFindings = 20

/**
 * Runs every step, also when one before it failed. Throws an AggregateError that names those that
 * did.
 */
export async function eachByItself(
  steps: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  const failed: string[] = []
  const causes: unknown[] = []
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step()
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      causes.push(error)
    }
  }
  if (failed.length > 0) throw new AggregateError(causes, `tidying failed: ${failed.join('; ')}`)
}

export function defineUpkeep(parts: {
  db: Database
  clock: Clock
  log: Log
  jobs: Jobs
  limits: Limits
  idempotency: IdempotencyStore
  accounts: auth.Accounts
  messages: Messages
  dataDir: string
}): void {
  const { db, clock, log, jobs, limits, idempotency, accounts, messages } = parts
  jobs.define({
    name: 'tidy',
    cron: '7 * * * *',
    run: () =>
      eachByItself({
        answers: () => forgetOldAnswers(idempotency),
        ...auth.tidyAuth(db, clock, accounts),
        messages: () => messages.dropOld(),
        forgedWebhooks: () => payments.dropForgedWebhooks(db, clock),
        notifications: () => dropOldNotifications(db, clock),
        hostChanges: () => dropOldHostChanges(db),
        limits: () => limits.forgetExpired(),
        jobs: () => forgetCompletedJobs(db),
      }),
  })
  jobs.define({
    name: 'watch-disk',
    cron: '*/15 * * * *',
    retries: 0,
    run: async () => void (await checkDiskSpace(parts.dataDir, log)),
  })
  jobs.define({
    name: 'check-ledger',
    cron: '23 * * * *',
    retries: 1,
    limitSeconds: 3600,
    run: async () => {
      const findings = await wallet.checkAndNote(db, clock)
      for (const finding of findings.slice(0, namedFindings))
        log.error(finding, 'the ledger is not whole')
      // One broken link may break the whole chain behind it.
      if (findings.length > namedFindings)
        log.error(
          { findings: findings.length },
          'the ledger is not whole: `npm run ledger:check` names every finding',
        )
    },
  })
}

export function defineGauges(parts: {
  db: Database
  metrics: Metrics
  waitingSubscriptions: () => Promise<number>
  connections: () => number
  orphans: () => number | Promise<number>
  unremovedSites: () => Promise<number>
  waitingMessages: () => Promise<number>
  dataDir: string
}): void {
  const { db, metrics } = parts
  const checked = () => wallet.lastCheck(db)
  metrics.gauge(
    'ledger_findings',
    'Invariants of the ledger that the last finished check found broken',
    async () => (await checked()).findings,
  )
  metrics.gauge(
    'ledger_check_failed',
    '1 when the newest check of the ledger could not be carried out',
    async () => Number((await checked()).failed),
  )
  metrics.gauge(
    'ledger_check_good_timestamp_seconds',
    'When a check of the ledger last found nothing broken; 0 for never',
    async () => (await checked()).goodAt,
  )
  metrics.gauge(
    'billing_waiting',
    'Subscriptions that should have been looked at more than five minutes ago',
    parts.waitingSubscriptions,
  )
  metrics.gauge(
    'portal_disk_free_bytes',
    'Room that is left on the disk of DATA_DIR',
    async () => (await diskSpaceOf(parts.dataDir)).free,
  )
  metrics.gauge(
    'portal_disk_size_bytes',
    'Size of the disk of DATA_DIR',
    async () => (await diskSpaceOf(parts.dataDir)).size,
  )
  metrics.gauge('messages_waiting', 'Mails and SMS that are not sent yet', parts.waitingMessages)
  metrics.gauge(
    'portal_sites_down',
    'WordPress servers that should answer and do not (`npm run portal -- sites`)',
    async () => (await downSites(db)).length,
  )
  metrics.gauges(
    'portal_jobs_given_up',
    'Jobs that failed for good and wait for `npm run portal -- jobs retry`',
    'queue',
    () => givenUpByQueue(db),
  )
  metrics.gauge('realtime_connections', 'Open realtime connections', parts.connections)
  metrics.gauge('sites_running', 'WordPress servers that should run', async () => {
    const { n } = await db
      .selectFrom('site')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('status', '=', 'running')
      .executeTakeFirstOrThrow()
    return Number(n)
  })
  metrics.gauge(
    'sites_orphaned',
    'Sites of the runtime that the database does not know',
    parts.orphans,
  )
  metrics.gauge(
    'sites_unremoved',
    "Folders of removed sites or of their copies that could not be removed: customers' data",
    parts.unremovedSites,
  )
}
