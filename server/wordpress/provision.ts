/**
 * Bringing a paid server up, and paying back when it will not come.
 *
 * | step    | do                                               | undo             |
 * |---------|--------------------------------------------------|------------------|
 * | install | files, database, WordPress with the ordered admin | remove the site  |
 * | start   | as many containers as ordered                     | stop the site    |
 * | check   | its front page answers 200 on its own host name   | nothing          |
 *
 * Each do is an "ensure": a kill at any point leads to the same step again. When the tries are used up, the undos run backwards and the money
 * goes back to the wallet.
 */
import type { Billing } from '../billing/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Announcer } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import { provisionJob, sealPurpose } from './order.ts'
import { lockSite, specOf, type SiteAddressing, type SiteRow } from './store.ts'

export interface ProvisionDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly secrets: Secrets
  readonly driver: WordpressDriver
  readonly billing: Billing
  readonly announcer: Announcer
  readonly addressing: SiteAddressing
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
}

interface Step {
  readonly name: 'install' | 'start' | 'check'
  readonly do: (site: SiteRow) => Promise<void>
  readonly undo: (site: SiteRow) => Promise<void>
}

/** Failures that are counted; a kill of the portal is none. */
const maxAttempts = 4
/** How many servers are set up at a time; the others wait their turn. */
const concurrency = 2
const checkTimeoutMs = 30_000

export function defineProvisioning(deps: ProvisionDeps): void {
  const { db, clock, log, driver, announcer } = deps

  const tell = (tx: Tx, site: SiteRow, status: string, reason: string | null): Promise<void> =>
    announcer.announce(tx, site.customer_id, 'wordpress.status', { wp: { id: site.id, name: site.name, status, reason } })

  async function emailOf(customerId: string): Promise<string> {
    const { email } = await db.selectFrom('customer').select('email').where('id', '=', customerId).executeTakeFirstOrThrow()
    return email
  }

  const steps: readonly Step[] = [
    {
      name: 'install',
      async do(site) {
        const sealed = site.admin_password_sealed
        const admin = sealed ? { user: site.admin_user, password: deps.secrets.open(sealPurpose(site.id), sealed), email: await emailOf(site.customer_id) } : null
        await driver.install(specOf(deps.addressing, site), admin)
      },
      undo: (site) => driver.remove(site.id),
    },
    { name: 'start', do: (site) => driver.start(specOf(deps.addressing, site)), undo: (site) => driver.stop(site.id) },
    {
      name: 'check',
      async do(site) {
        const { host } = new URL(specOf(deps.addressing, site).url)
        const [address] = driver.addresses(site.id)
        if (!address) throw new DriverFailure('unavailable', 'no container answers')
        await frontPageAnswers(`http://${address.host}:${address.port}/`, host)
      },
      undo: async () => undefined,
    },
  ]

  /** Takes a paid order in hand. Undefined when there is nothing to do: it runs already, was given up, or is being deleted. */
  async function takeInHand(siteId: string): Promise<SiteRow | undefined> {
    return await transaction(db, async (tx) => {
      const site = await lockSite(tx, siteId)
      if (site?.status === 'provisioning') return site
      if (site?.status !== 'pending_payment') return undefined
      await tx.updateTable('site').set({ status: 'provisioning' }).where('id', '=', siteId).execute()
      await tell(tx, site, 'provisioning', null)
      return { ...site, status: 'provisioning' }
    })
  }

  async function finish(siteId: string): Promise<void> {
    await transaction(db, async (tx) => {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'provisioning') return
      await tx.updateTable('site').set({ status: 'running', reason: null, admin_password_sealed: null, running_at: clock.now() }).where('id', '=', siteId).execute()
      await tell(tx, site, 'running', null)
    })
    deps.onChange()
  }

  /** Undo backwards, then in one transaction: money back, state failed, customer told. */
  async function giveUp(site: SiteRow, reason: string): Promise<void> {
    for (const step of steps.toReversed()) await step.undo(site)
    await transaction(db, async (tx) => {
      const current = await lockSite(tx, site.id)
      if (current?.status !== 'provisioning') return
      if (current.invoice_id !== null) await deps.billing.undo(tx, current.invoice_id, reason)
      await tx.updateTable('site').set({ status: 'failed', reason, admin_password_sealed: null }).where('id', '=', site.id).execute()
      await tell(tx, site, 'failed', reason)
    })
    deps.onChange()
  }

  async function provision(siteId: string): Promise<void> {
    const site = await takeInHand(siteId)
    if (!site) return
    deps.onChange()
    try {
      for (const step of steps) {
        const began = performance.now()
        await step.do(site)
        log.info({ site: site.name, step: step.name, ms: Math.round(performance.now() - began) }, 'provisioning')
        await db.updateTable('site').set({ steps_done: [...steps.slice(0, steps.indexOf(step) + 1)].map((done) => done.name) }).where('id', '=', siteId).execute()
      }
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      const { attempts } = await db
        .updateTable('site')
        .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
        .where('id', '=', siteId)
        .returning('attempts')
        .executeTakeFirstOrThrow()
      if (error.kind !== 'rejected' && attempts < maxAttempts) throw error
      log.error({ err: error, site: site.name, attempts }, 'provisioning given up')
      await giveUp(site, error.message)
      return
    }
    await finish(siteId)
  }

  deps.jobs.define<{ siteId: string }>({ name: provisionJob, concurrency, retries: 1000, limitSeconds: 600, run: ({ siteId }) => provision(siteId) })
}

/** Throws DriverFailure unavailable while the page does not answer 200. */
async function frontPageAnswers(url: string, host: string): Promise<void> {
  const { request } = await import('node:http')
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new DriverFailure('unavailable', `the front page ${why}`))
    const call = request(url, { headers: { host }, timeout: checkTimeoutMs }, (answer) => {
      answer.resume()
      answer.on('end', () => (answer.statusCode === 200 ? resolve() : fail(`answers ${answer.statusCode}`)))
    })
    call.on('timeout', () => call.destroy(new Error('does not answer')))
    call.on('error', (error) => fail(error.message))
    call.end()
  })
}

/** After a start of the portal: every site that should run is started again, a few at a time. */
export async function startSites(deps: Pick<ProvisionDeps, 'db' | 'driver' | 'addressing' | 'log' | 'onChange'>): Promise<void> {
  const rows = await deps.db.selectFrom('site').selectAll().where('status', '=', 'running').orderBy('seq').execute()
  const waiting = [...rows]
  const worker = async (): Promise<void> => {
    for (let site = waiting.shift(); site; site = waiting.shift()) {
      try {
        await deps.driver.start(specOf(deps.addressing, site))
      } catch (error) {
        deps.log.error({ err: error, site: site.name }, 'a site did not come back')
      }
      deps.onChange()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

