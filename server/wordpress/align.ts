/**
 * Aligns a server with its subscription, and with whether the operator holds it: suspends, resumes
 * or deletes it. The three jobs do the same: each reads the subscription's state, stores the wanted
 * state of the server, makes the driver follow, and reads again. So a payment in the second of a
 * suspension ends right, whichever job runs last.
 */
import type { Status } from '../../contract/wordpress.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { certifySiteJob } from './certifiable.ts'
import { forgetMail, wakeFor as wakeMail } from './mail/store.ts'
import { alignJobs } from './product.ts'
import type { ProvisionDeps } from './provision.ts'
import { lockSite, releaseNames, specOf, type SiteRow } from './store.ts'
import { tellStatus } from './status-event.ts'

/** How often the state may change during one run before the job starts over. */
const maxTurns = 5

type AlignDeps = Pick<
  ProvisionDeps,
  'db' | 'clock' | 'log' | 'jobs' | 'driver' | 'billing' | 'outbox' | 'addressing' | 'onChange'
> & {
  /** Deletes what the portal stores about a site outside the site's row. */
  readonly forget: (siteId: string) => Promise<void>
}

export function defineAligning(deps: AlignDeps): void {
  for (const name of Object.values(alignJobs)) {
    deps.jobs.define<{ subscriptionId: string }>({
      name,
      concurrency: 2,
      retries: 'unlimited',
      limitSeconds: 600,
      run: ({ subscriptionId }) => align(deps, subscriptionId),
    })
  }
}

/**
 * The state that a server should have now; undefined where its subscription says nothing about it.
 */
async function wantedOf(
  { billing }: AlignDeps,
  tx: Tx,
  site: SiteRow,
): Promise<Status | undefined> {
  const subscription =
    site.subscription_id === null ? undefined : await billing.subscription(tx, site.subscription_id)
  switch (subscription?.status) {
    case 'ended':
      // A failed server was already removed and refunded.
      return site.status === 'failed' ? undefined : 'deleting'
    case 'suspended':
      return site.status === 'running' || site.status === 'suspended' ? 'suspended' : undefined
    // With a late renewal the server runs on until the subscription is suspended.
    case 'past_due':
    case 'active':
      if (site.held_at !== null && site.status === 'running') return 'suspended'
      if (site.held_at !== null) return site.status === 'suspended' ? 'suspended' : undefined
      return site.status === 'suspended' || site.status === 'running' ? 'running' : undefined
    default:
      return undefined
  }
}

async function align(deps: AlignDeps, subscriptionId: string): Promise<void> {
  const known = await deps.db
    .selectFrom('site')
    .select('id')
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst()
  if (!known) return
  let done: string | undefined
  for (let turn = 0; turn < maxTurns; turn++) {
    await startBefore(deps, known.id)
    const site = await write(deps, known.id)
    if (!site || site.status === done) return
    await follow(deps, site)
    done = site.status
  }
  throw new Error('a server changes its state faster than it can follow')
}

/**
 * Starts a resumed site before it is reported as running: whoever reads `running` finds the site
 * there. A site that does not start is reported as running all the same: it is paid for, its owner
 * may restart or restore it, and the health check counts it.
 */
async function startBefore(deps: AlignDeps, siteId: string): Promise<void> {
  const site = await transaction(deps.db, async (tx) => {
    const now = await lockSite(tx, siteId)
    const comesBack = now?.status === 'suspended' && (await wantedOf(deps, tx, now)) === 'running'
    return comesBack ? now : undefined
  })
  if (!site) return
  try {
    await deps.driver.start(await specOf(deps.db, deps.addressing, site))
  } catch (error) {
    deps.log.error({ err: error, site: site.name }, 'a site that comes back did not start')
  }
}

/** Stores the wanted state and publishes the event. Undefined when nothing changes. */
async function write(deps: AlignDeps, siteId: string): Promise<SiteRow | undefined> {
  const changed = await transaction(deps.db, async (tx) => {
    const site = await lockSite(tx, siteId)
    if (!site || site.deleted_at) return undefined
    const status = await wantedOf(deps, tx, site)
    if (status === undefined) return undefined
    if (status === site.status) return { site, told: false }
    await tx
      .updateTable('site')
      .set({
        status,
        unanswered: 0,
        down_since: null,
        down_reason: null,
        ...(status === 'running' && { resumed_at: deps.clock.now() }),
      })
      .where('id', '=', siteId)
      .execute()
    // Sends letters that waited while the server was suspended.
    if (status === 'running') await wakeMail(tx, deps, siteId)
    if (status === 'deleting') {
      await releaseNames(tx, siteId, deps.clock.now())
      await deps.jobs.add(tx, certifySiteJob, { siteId })
    }
    await tellStatus(tx, deps.outbox, site, status)
    return { site: { ...site, status }, told: true }
  })
  if (changed?.told) deps.onChange()
  return changed?.site
}

async function follow(
  { db, clock, driver, outbox, addressing, onChange, forget }: AlignDeps,
  site: SiteRow,
): Promise<void> {
  if (site.status === 'running') await driver.start(await specOf(db, addressing, site))
  else if (site.status === 'suspended') await driver.stop(site.id)
  else {
    await driver.remove(site.id)
    await forget(site.id)
    await transaction(db, async (tx) => {
      // It gets no updates any more. Before the site's row, as update-rounds.ts takes the two.
      await tx
        .updateTable('site_software')
        .set({ automatic_at: null })
        .where('site_id', '=', site.id)
        .execute()
      const gone = await tx
        .updateTable('site')
        .set({ deleted_at: clock.now(), admin_password_sealed: null })
        .where('id', '=', site.id)
        .where('status', '=', 'deleting')
        .where('deleted_at', 'is', null)
        .returning('name')
        .executeTakeFirst()
      await forgetMail(tx, site.id)
      if (gone) await tellStatus(tx, outbox, { ...site, name: gone.name }, 'deleted')
    })
  }
  onChange()
}
