/**
 * The portal's own upkeep: it deletes expired rows, and checks its ledger every hour. gauges/ has
 * the operator's counts.
 */
import * as auth from './auth/index.ts'
import type { Certificates } from './certificates/index.ts'
import { dropOldUploads } from './customer-import/index.ts'
import { dropOldChanges, type DnsChallenges } from './dns/index.ts'
import type { Messages } from './messages/index.ts'
import { dropOldStaffSessions } from './staff/index.ts'
import { forgetClosed } from './operator/index.ts'
import { dropOldRequests } from './privacy/index.ts'
import * as payments from './payments/index.ts'
import type { Clock } from './platform/clock.ts'
import { checkDiskSpace } from './platform/disk-space.ts'
import type { Database } from './platform/db.ts'
import { forgetOldAnswers, type IdempotencyStore } from './platform/idempotency.ts'
import { forgetCompletedJobs } from './platform/job-inspection.ts'
import type { Jobs } from './platform/jobs.ts'
import type { Limits } from './platform/limits.ts'
import type { Log } from './platform/log.ts'
import {
  dropOldNotifications,
  revokeSessions,
  type EventOutbox,
  type OperatorOutbox,
} from './realtime/index.ts'
import { dropOldOffers } from './hand-over/index.ts'
import { dropOldActs, dropOldInvitations } from './team/index.ts'
import { closeQuietTickets, dropOldTickets } from './tickets/index.ts'
import { dropOldTokens } from './tokens/index.ts'
import { dropOfClosed, dropOldDeliveries } from './webhooks/index.ts'
import { dropOldCommands, dropOldHostChanges, dropOldMail } from './wordpress/index.ts'
import * as wallet from './wallet/index.ts'

/** Findings of one check in the log. */
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
  certificates: Pick<Certificates, 'dropOld'>
  dnsChallenges: Pick<DnsChallenges, 'tidy'>
  outbox: Pick<EventOutbox, 'publishEvent'> & OperatorOutbox
  dataDir: string
}): void {
  const { db, clock, log, jobs, limits, idempotency, accounts, messages } = parts
  const closed = auth.accountsThatAre(db, 'closed')
  jobs.define({
    name: 'tidy',
    cron: '7 * * * *',
    run: () =>
      eachByItself({
        answers: () => forgetOldAnswers(idempotency),
        ...auth.tidyAuth(db, clock, accounts, revokeSessions),
        staffSessions: () => dropOldStaffSessions(db, clock),
        messages: () => messages.dropOld(),
        forgedWebhooks: () => payments.dropForgedWebhooks(db, clock),
        notifications: () => dropOldNotifications(db, clock),
        orders: () => parts.certificates.dropOld(),
        dnsChallenges: () => parts.dnsChallenges.tidy(),
        domainChanges: () => dropOldChanges(db, clock),
        hostChanges: () => dropOldHostChanges(db),
        siteMail: () => dropOldMail(db, clock),
        siteCommands: () => dropOldCommands(db, clock),
        quietTickets: () => closeQuietTickets(db, { clock, outbox: parts.outbox }),
        tickets: () => dropOldTickets(db, clock),
        tokens: () => dropOldTokens(db, clock),
        invitations: () => dropOldInvitations(db, clock),
        dataRequests: () => dropOldRequests(db, clock),
        customerUploads: () => dropOldUploads(db, clock),
        closedAccounts: () => forgetClosed(db, clock),
        offers: () => dropOldOffers(db, clock),
        teamActs: () => dropOldActs(db, clock),
        webhookDeliveries: () => dropOldDeliveries(db, clock),
        webhooksOfClosed: () => dropOfClosed(db, closed),
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
      // One broken link may break the whole chain after it.
      if (findings.length > namedFindings)
        log.error(
          { findings: findings.length },
          'the ledger is not whole: `npm run ledger:check` names every finding',
        )
    },
  })
}
