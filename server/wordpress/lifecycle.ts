/**
 * What an owner does with a running server: changes that the runtime must follow (restarts, host
 * names, sizes), and finally the deletion. The jobs read the server's state, so they may run late
 * and twice: the driver's acts are idempotent, and each event is published once.
 */
import type { Status } from '../../contract/wordpress.ts'
import type { Billing } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, transaction, type Database, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { EventOutbox } from '../realtime/index.ts'
import { certifySiteJob } from './certifiable.ts'
import type { WordpressDriver } from './driver.ts'
import { ensureJob, resizeJob, takePlanned } from './change.ts'
import { alignJobs } from './product.ts'
import {
  hasRun,
  lockSite,
  releaseNames,
  siteById,
  specOf,
  type SiteAddressing,
  type SiteRow,
} from './store.ts'
import { tellStatus } from './status-event.ts'

export interface LifecycleDeps {
  readonly db: Database
  readonly clock: Clock
  readonly catalog: Catalog
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly billing: Billing
  readonly outbox: EventOutbox
  readonly addressing: SiteAddressing
  /** Tells the edge that a site's state or names changed. */
  readonly onChange: () => void
}

export interface Lifecycle {
  /** Asks for a restart; one under way already counts as the one asked for. */
  restart(tx: Tx, siteId: string): Promise<void>
  /** Replaces the containers by ones that follow the row as this transaction leaves it. */
  renew(tx: Tx, siteId: string): Promise<void>
  /**
   * Deletes a server: frees its names and ends its subscription at once; a job removes the files.
   */
  remove(tx: Tx, siteId: string, customerId: string): Promise<void>
}

export function createLifecycle(deps: LifecycleDeps): Lifecycle {
  const { db, clock, jobs, driver, billing } = deps
  const tell = (tx: Tx, site: SiteRow, status: Status): Promise<void> =>
    tellStatus(tx, deps.outbox, site, status)

  async function ensure(siteId: string): Promise<void> {
    const site = await siteById(db, siteId)
    if (site?.status !== 'running') return
    await driver.start(await specOf(db, deps.addressing, site))
    const suspended = await transaction(db, async (tx) => {
      const now = await lockSite(tx, siteId)
      if (now?.status === 'running' && now.settled_generation < site.generation) {
        await tx
          .updateTable('site')
          .set({ settled_generation: site.generation })
          .where('id', '=', siteId)
          .execute()
        await tell(tx, now, 'running')
      }
      return now?.status === 'suspended'
    })
    // The server was suspended while it was being started: the job that stops it may have run
    // before.
    if (suspended) await driver.stop(siteId)
    deps.onChange()
  }

  jobs.define<{ siteId: string }>({
    name: ensureJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 1800,
    run: ({ siteId }) => ensure(siteId),
  })
  jobs.define<{ siteId: string; changeId: string }>({
    name: resizeJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 1800,
    run: async ({ siteId, changeId }) => {
      await transaction(db, (tx) => takePlanned(tx, deps.catalog, { siteId, changeId }))
      await ensure(siteId)
    },
  })

  async function renew(tx: Tx, siteId: string): Promise<void> {
    await tx
      .updateTable('site')
      .set((eb) => ({ generation: eb('generation', '+', 1) }))
      .where('id', '=', siteId)
      .execute()
    await jobs.add(tx, ensureJob, { siteId })
  }

  return {
    renew,
    async restart(tx, siteId) {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      if (site.generation > site.settled_generation) return
      await renew(tx, siteId)
    },

    async remove(tx, siteId, customerId) {
      const site = await lockSite(tx, siteId)
      // The server may have been handed over while this request waited for the lock.
      if (!site || site.customer_id !== customerId || site.deleted_at !== null)
        throw new Refusal('not_found')
      if (site.status === 'deleting') return
      const { subscription_id: subscriptionId, invoice_id: invoiceId } = site
      if (subscriptionId === null || invoiceId === null)
        throw new Error(`site ${siteId} was never ordered`)
      // A server that never ran is refunded in full; an open invoice is made void.
      if (!hasRun(site)) await billing.undo(tx, invoiceId, 'the server was deleted')
      else if ((await billing.subscription(tx, subscriptionId))?.status !== 'ended')
        await billing.cancel(tx, subscriptionId, 'now')
      await tx
        .updateTable('site')
        .set({ status: 'deleting', admin_password_sealed: null })
        .where('id', '=', siteId)
        .execute()
      await releaseNames(tx, siteId, clock.now())
      await jobs.add(tx, certifySiteJob, { siteId })
      await tell(tx, site, 'deleting')
      await jobs.add(tx, alignJobs.remove, { subscriptionId })
      onCommit(tx, deps.onChange)
    },
  }
}
