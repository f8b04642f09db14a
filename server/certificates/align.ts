/**
 * Keeps the table of certificates in line with other modules: a proven name gets a row, which is
 * due at once; a name that was removed, or whose server was deleted, loses its row and key.
 */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { transaction } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { CertifiableNames } from './names.ts'
import { forget, want } from './store.ts'

/** Another module adds it with `{ siteId }` when a server's names have changed. */
export const certifySiteJob = 'certify-site'
export const orderJob = 'order-certificates'
export const alignJob = 'align-certificates'

const pageSize = 1000

export interface AlignDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly names: CertifiableNames
  /** Tells the edges that certificates changed. */
  readonly onChange: () => void
}

export function defineAligning(deps: AlignDeps, isEnabled: boolean): { all(): Promise<void> } {
  const { db, clock, names } = deps

  /** Orders certificates for new names, and makes the edges drop deleted ones. */
  async function settle(isNew: boolean, isGone: boolean): Promise<void> {
    if (isNew) await transaction(db, (tx) => deps.jobs.add(tx, orderJob, {}))
    if (isGone) deps.onChange()
  }

  async function site(siteId: string): Promise<void> {
    const wanted = await names.ofSite(siteId)
    const isNew = await want(db, wanted, clock.now())
    const held = await db
      .selectFrom('certificate')
      .select(['name', 'site_id'])
      .where('site_id', '=', siteId)
      .execute()
    const others = held.filter(({ name }) => !wanted.some((one) => one.name === name))
    await settle(isNew, await forgetGone(others))
  }

  /**
   * Deletes names that are no longer wanted; answers whether there were any. Each is checked again,
   * because it may have been added between the two queries, or moved to another site, which takes
   * its certificate.
   */
  async function forgetGone(
    held: readonly { readonly name: string; readonly site_id: string | null }[],
  ): Promise<boolean> {
    let isGone = false
    for (const { name, site_id: siteId } of held)
      if ((await names.standing(name)).is === 'gone')
        isGone = (await forget(db, name, siteId)) || isGone
    return isGone
  }

  /** Merges two sorted lists page by page, so that neither is completely in memory. */
  async function all(): Promise<void> {
    const own = names.own.map((name) => ({ name, siteId: null, customerId: null }))
    let isNew = await want(db, own, clock.now())
    let isGone = false
    let after = ''
    for (;;) {
      const wanted = await names.page(after, pageSize)
      const last = wanted.length < pageSize ? null : (wanted.at(-1)?.name ?? null)
      if (await want(db, wanted, clock.now())) isNew = true
      const held = await db
        .selectFrom('certificate')
        .select(['name', 'site_id'])
        .where('name', '>', after)
        .$if(last !== null, (query) => query.where('name', '<=', last ?? ''))
        .execute()
      const there = new Set(wanted.map(({ name }) => name))
      if (await forgetGone(held.filter(({ name }) => !there.has(name)))) isGone = true
      if (last === null) break
      after = last
    }
    await settle(isNew, isGone)
  }

  deps.jobs.define<{ siteId: string }>({
    name: certifySiteJob,
    concurrency: 2,
    run: async ({ siteId }) => {
      if (isEnabled) await site(siteId)
    },
  })
  deps.jobs.define({
    name: alignJob,
    cron: '*/10 * * * *',
    retries: 1,
    limitSeconds: 900,
    run: async () => {
      if (isEnabled) await all()
    },
  })
  return { all }
}
