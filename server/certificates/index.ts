/** Certificates of host names by ACME: ordered, renewed, handed to the edges. */
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import { alignJob, defineAligning } from './align.ts'
import { everyEdge } from './every-edge.ts'
import { createFeed, type CertificateEdge, type Feed } from './feed.ts'
import { createOrderLimits, type AcmeLimits } from './limits.ts'
import type { CertifiableNames } from './names.ts'
import { createOrdering, type Authority, type ChallengePlaces, type OrderTimes } from './order.ts'
import { defineRenewing, type RenewDeps } from './renew.ts'
import type { SiteHttpsDeps } from './site.ts'

export { countCertificates, failing } from './counts.ts'
export { createCoverage } from './coverage.ts'
export { failingNames } from './desk.ts'
export type { CertificateEdge } from './feed.ts'
export type { CertifiableNames } from './names.ts'
export type { Authority, OrderTimes } from './order.ts'
export { routes } from './routes.ts'

/** Assembles the certificates module for the app. */
export interface Certificates extends SiteHttpsDeps {
  readonly feed: Feed
  /**
   * Schedules a comparison of all names: the settings may name other hosts than at the last start.
   */
  begin(): Promise<void>
  /** Compares all names with the other modules' lists. */
  align(): Promise<void>
  /** Handles the names that are due now. */
  due(): Promise<void>
  dropOld(): Promise<void>
}

/** `isEnabled`: false defines the jobs, but they do nothing. */
export function createCertificates(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly secrets: Secrets
  readonly isEnabled: boolean
  readonly names: CertifiableNames
  /** Edges that can be reached now. */
  readonly edges: () => readonly CertificateEdge[]
  readonly dns: ChallengePlaces['dns']
  readonly authorities: readonly Authority[]
  readonly contact: string | undefined
  readonly allowed: AcmeLimits
  readonly warn: RenewDeps['warn']
  readonly times?: Partial<OrderTimes> | undefined
}): Certificates {
  const { db, clock, jobs, isEnabled } = deps
  const feed = createFeed(deps)
  const onChange = (): void => {
    if (isEnabled) feed.refresh()
  }
  const limits = createOrderLimits(db, clock, deps.allowed)
  const { times, ...rest } = deps
  const edge = everyEdge(deps.edges)
  const ordering = createOrdering({ ...rest, edge, limits, ...(times && { times }) })
  const aligning = defineAligning({ ...deps, onChange }, isEnabled)
  const renewing = defineRenewing({ ...deps, ordering, limits, onChange })
  return {
    clock,
    jobs,
    isEnabled,
    onChange,
    feed: {
      ...feed,
      async start() {
        if (isEnabled) await feed.start()
      },
    },
    async begin() {
      if (isEnabled) await transaction(db, (tx) => jobs.add(tx, alignJob, {}))
    },
    align: aligning.all,
    due: () => renewing.due(new AbortController().signal),
    dropOld: limits.dropOld,
  }
}
