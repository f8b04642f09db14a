/**
 * Sets a paid server up, and refunds it when that fails for good.
 *
 * | step    | do                                               | undo             |
 * |---------|--------------------------------------------------|------------------|
 * | install | files, database, WordPress with the ordered admin | remove the site  |
 * | start   | as many containers as ordered                     | stop the site    |
 * | check   | its front page answers 200 on its own host name   | nothing          |
 *
 * Each "do" is idempotent: a kill at any point leads to the same step again. When the tries are
 * used up, the "undo" steps run backwards and the money goes back to the wallet.
 */
import type { Status } from '../../contract/wordpress.ts'
import type { Language } from '../../contract/errors.ts'
import type { Billing } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { DriverFailure, type DriverFailureKind } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import { placeOf, releasePlace, settleOnNode } from './nodes.ts'
import { ensureJob } from './change.ts'
import { wakeFor as wakeMail } from './mail/store.ts'
import { provisionJob, sealPurpose } from './order.ts'
import { alignJobs, waitJob } from './product.ts'
import { within } from './within.ts'
import {
  firstNode,
  lockSite,
  siteById,
  specOf,
  urlOf,
  type SiteAddressing,
  type SiteRow,
} from './store.ts'
import { tellStatus } from './status-event.ts'

/** `retried`: it failed, and another run follows. */
export const runOutcomes = ['running', 'retried', 'given_up'] as const
export type RunObserver = (outcome: (typeof runOutcomes)[number], seconds: number) => void

export interface ProvisionDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly secrets: Secrets
  readonly driver: WordpressDriver
  readonly billing: Billing
  readonly outbox: EventOutbox
  readonly addressing: SiteAddressing
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
  /** The language in which a customer is addressed. */
  readonly languageOfCustomer: (db: Queryable, customerId: string) => Promise<Language>
  /** Told how each run of setting a server up ended, and how long it took. */
  readonly onRun?: RunObserver
  /** Longest time of one step. */
  readonly stepMs?: number | undefined
}

interface Step {
  readonly name: 'install' | 'start' | 'check'
  readonly do: (site: SiteRow) => Promise<void>
  readonly undo: (site: SiteRow) => Promise<void>
}

const notUp = {
  en: 'The server did not start after several attempts.',
  vi: 'Máy chủ không khởi động được sau nhiều lần thử.',
} as const
/** Why an order was given up, as its customer reads it; the driver's message is in the log. */
const whyText = {
  full: {
    en: 'The data centre has no room for this server at the moment.',
    vi: 'Trung tâm dữ liệu hiện không đủ chỗ cho máy chủ này.',
  },
  rejected: {
    en: 'The data centre cannot run a server of this kind.',
    vi: 'Trung tâm dữ liệu không chạy được máy chủ loại này.',
  },
  unavailable: notUp,
  unclear: notUp,
} as const satisfies Record<DriverFailureKind, Record<Language, string>>

/** Failed attempts per server. An attempt that ends because the portal is killed does not count. */
const maxAttempts = 4
/** How many servers are set up at a time; the others wait their turn. */
const concurrency = 2
/** A boot may wait for others and takes up to three minutes. */
const defaultStepMs = 5 * 60_000

export function defineProvisioning(deps: ProvisionDeps): void {
  const { db, clock, log, driver, outbox, stepMs = defaultStepMs } = deps

  const tell = (tx: Tx, site: SiteRow, status: Status, reason: string | null): Promise<void> =>
    tellStatus(tx, outbox, site, status, reason)

  async function emailOf(customerId: string): Promise<string> {
    const { email } = await db
      .selectFrom('customer')
      .select('email')
      .where('id', '=', customerId)
      .executeTakeFirstOrThrow()
    return email
  }

  const steps: readonly Step[] = [
    {
      name: 'install',
      async do(site) {
        const sealed = site.admin_password_sealed
        const admin = sealed
          ? {
              user: site.admin_user,
              password: deps.secrets.open(sealPurpose(site.id), sealed),
              email: await emailOf(site.customer_id),
            }
          : null
        await driver.install(await specOf(db, deps.addressing, site), admin)
      },
      undo: (site) => driver.remove(site.id),
    },
    {
      name: 'start',
      do: async (site) => await driver.start(await specOf(db, deps.addressing, site)),
      undo: (site) => driver.stop(site.id),
    },
    {
      name: 'check',
      async do(site) {
        const { host } = new URL(urlOf(deps.addressing, site.name))
        const status = await driver.frontPage(site.id, host)
        if (status !== 200)
          throw new DriverFailure('unavailable', `the front page answers ${status}`)
      },
      undo: async () => undefined,
    },
  ]

  /**
   * Begins a new run for a paid order. An order that is being given up gets neither a run nor a
   * node. Undefined when there is nothing to do: the server runs already, was given up, or is being
   * deleted.
   */
  async function beginRun(siteId: string): Promise<SiteRow | undefined> {
    return await transaction(db, async (tx) => {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'provisioning' && site?.status !== 'pending_payment') return undefined
      const isBegun = site.giving_up === null
      if (site.status === 'pending_payment' && isBegun) await tell(tx, site, 'provisioning', null)
      return await tx
        .updateTable('site')
        .set({
          status: 'provisioning',
          run: isBegun ? site.run + 1 : site.run,
          // The reason was the wait for room, which there is now.
          reason: null,
          node_id: site.node_id ?? (isBegun ? ((await placeOf(tx, siteId)) ?? firstNode) : null),
        })
        .where('id', '=', siteId)
        .returningAll()
        .executeTakeFirstOrThrow()
    })
  }

  async function runSteps(site: SiteRow, signal: AbortSignal): Promise<void> {
    for (const [index, step] of steps.entries()) {
      signal.throwIfAborted()
      const began = performance.now()
      await within(stepMs, `${step.name} took too long`, step.do(site), signal)
      log.info(
        { site: site.name, step: step.name, ms: Math.round(performance.now() - began) },
        'provisioning',
      )
      const done = steps.slice(0, index + 1).map(({ name }) => name)
      await db
        .updateTable('site')
        .set({ steps_done: done })
        .where('id', '=', site.id)
        .where('run', '=', site.run)
        .execute()
    }
  }

  /**
   * Marks the server as running. False when a newer run has taken over, or the order was given up.
   */
  async function finish({ id, run }: SiteRow): Promise<boolean> {
    return await transaction(db, async (tx) => {
      const site = await lockSite(tx, id)
      if (site?.status !== 'provisioning' || site.run !== run || site.giving_up !== null)
        return false
      await tx
        .updateTable('site')
        .set({
          status: 'running',
          reason: null,
          admin_password_sealed: null,
          running_at: clock.now(),
        })
        .where('id', '=', id)
        .execute()
      await settleOnNode(tx, id)
      await tell(tx, site, 'running', null)
      // Handles a name added during the setup, and letters of the installation.
      await deps.jobs.add(tx, ensureJob, { siteId: id })
      await wakeMail(tx, deps, id)
      // A suspension during the setup found nothing to stop.
      const subscription =
        site.subscription_id === null
          ? undefined
          : await deps.billing.subscription(tx, site.subscription_id)
      if (subscription?.status === 'suspended')
        await deps.jobs.add(tx, alignJobs.suspend, { subscriptionId: subscription.id })
      return true
    })
  }

  /**
   * Counts a failure and decides. The decision to give up is stored before anything is undone, so
   * that no other run of the same job can complete a site that is being removed, nor this one
   * remove a site that another has completed.
   */
  async function afterFailure(
    { id, run }: SiteRow,
    kind: DriverFailureKind,
  ): Promise<'again' | 'give up' | 'superseded'> {
    return await transaction(db, async (tx) => {
      const site = await lockSite(tx, id)
      if (site?.status !== 'provisioning' || site.run !== run || site.giving_up !== null)
        return 'superseded'
      const attempts = site.attempts + 1
      const final = kind === 'rejected' || kind === 'full' || attempts >= maxAttempts
      await tx
        .updateTable('site')
        .set({
          attempts,
          giving_up: final
            ? whyText[kind][await deps.languageOfCustomer(tx, site.customer_id)]
            : null,
        })
        .where('id', '=', id)
        .execute()
      return final ? 'give up' : 'again'
    })
  }

  /**
   * Undoes the steps backwards, then in one transaction returns the money, stores `failed` and
   * tells the customer. An undo that fails does not delay the refund; it is thrown afterwards, so
   * that the job goes on cleaning.
   */
  async function giveUp(site: SiteRow): Promise<void> {
    const failures: unknown[] = []
    for (const step of steps.toReversed()) {
      try {
        await within(stepMs, `undoing ${step.name} took too long`, step.undo(site))
      } catch (error) {
        failures.push(error)
        log.error({ err: error, site: site.name, step: step.name }, 'an undo failed')
      }
    }
    await transaction(db, async (tx) => {
      const current = await lockSite(tx, site.id)
      if (current?.status !== 'provisioning' || current.giving_up === null) return
      if (current.invoice_id !== null)
        await deps.billing.undo(tx, current.invoice_id, current.giving_up)
      await tx
        .updateTable('site')
        .set({ status: 'failed', reason: current.giving_up, admin_password_sealed: null })
        .where('id', '=', site.id)
        .execute()
      await releasePlace(tx, site.id)
      await tell(tx, site, 'failed', current.giving_up)
    })
    deps.onChange()
    if (failures.length > 0)
      throw new AggregateError(failures, 'a server that was given up is not cleaned away yet')
  }

  /**
   * Removes what an undo could not remove, and what a run left that was overtaken by a deletion or
   * by the decision to give up.
   */
  async function clearFailed(siteId: string): Promise<void> {
    const site = await siteById(db, siteId)
    if (site?.status === 'failed' || site?.status === 'deleting')
      await within(stepMs, 'removing took too long', driver.remove(siteId))
  }

  async function provision(siteId: string, signal: AbortSignal): Promise<void> {
    const site = await beginRun(siteId)
    if (!site) return await clearFailed(siteId)
    deps.onChange()
    const began = performance.now()
    const tellRun: (outcome: Parameters<RunObserver>[0]) => void = (outcome) =>
      deps.onRun?.(outcome, (performance.now() - began) / 1000)
    if (site.giving_up === null) {
      try {
        await runSteps(site, signal)
        if (await finish(site)) tellRun('running')
        else await clearFailed(siteId)
        return
      } catch (error) {
        // The portal stops, or another worker has the job: this is no failure of the site.
        if (signal.aborted) throw error
        // Any other error is a bug of ours, which must not keep the customer's money.
        const verdict = await afterFailure(
          site,
          error instanceof DriverFailure ? error.kind : 'unavailable',
        )
        if (verdict === 'again') {
          tellRun('retried')
          throw error
        }
        if (verdict === 'superseded') return await clearFailed(siteId)
        tellRun('given_up')
        log.error({ err: error, site: site.name }, 'provisioning given up')
      } finally {
        deps.onChange()
      }
    }
    await giveUp(site)
  }

  /** Tells the customer once that the order is charged when there is room. */
  const tellWaiting = (subscriptionId: string): Promise<void> =>
    transaction(db, async (tx) => {
      const site = await tx
        .selectFrom('site')
        .selectAll()
        .where('subscription_id', '=', subscriptionId)
        .forUpdate()
        .executeTakeFirst()
      if (site?.status !== 'pending_payment' || site.reason !== null) return
      const reason = whyText.full[await deps.languageOfCustomer(tx, site.customer_id)]
      await tx.updateTable('site').set({ reason }).where('id', '=', site.id).execute()
      await tell(tx, site, 'pending_payment', reason)
    })

  deps.jobs.define<{ subscriptionId: string }>({
    name: waitJob,
    run: ({ subscriptionId }) => tellWaiting(subscriptionId),
  })
  deps.jobs.define<{ siteId: string }>({
    name: provisionJob,
    concurrency,
    retries: 'unlimited',
    limitSeconds: 1800,
    run: ({ siteId }, { signal }) => provision(siteId, signal),
  })
}
