/** Ends an update: stores the result and tells the owner. */
import type { PageDifference, Update } from '../../contract/wordpress-updates.ts'
import type { Language } from '../../contract/errors.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { WordpressDriver } from './driver.ts'
import type { PageShape } from './page-shapes.ts'
import type { SiteRow } from './store.ts'
import { callNext } from './update-places.ts'
import { notRolledBackLetter, notUndoneLetter, rolledBackLetter } from './update-letters.ts'
import {
  differencesOf,
  moveUpdate,
  noteSoftware,
  packagesOf,
  waveJob,
  type UpdatePackage,
  type UpdateReason,
  type UpdateRow,
} from './update-store.ts'

export type UpdateEnd = Extract<Update['state'], 'done' | 'rolled_back' | 'failed' | 'skipped'>

/** What the site's pages and sign-in were like before the update. */
export const beforeOf = (row: UpdateRow) => ({
  pages: (row.before ?? []) as unknown as PageShape[],
  adminWorks: row.admin_worked ?? false,
})

export interface UpdateEndDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly outbox: EventOutbox
  readonly portalUrl: string
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly owner: (
    db: Queryable,
    customerId: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
}

/**
 * Answers the function that ends an update. If another run has ended it already, nothing changes.
 */
export function createUpdateEnd(deps: UpdateEndDeps) {
  const { db, clock, log, jobs, driver } = deps

  async function tellOwner(
    tx: Tx,
    site: SiteRow,
    of: {
      packages: UpdatePackage[]
      differences: readonly PageDifference[]
      state: UpdateEnd
      isUnheld: boolean
    },
  ): Promise<void> {
    const { email, language } = await deps.owner(tx, site.customer_id)
    await deps.outbox.publishEvent(tx, site.customer_id, 'wordpress.update', {
      wp: { id: site.id, name: site.name },
      update: { state: of.state },
    })
    const failure = of.isUnheld ? notUndoneLetter : notRolledBackLetter
    const [letter, tab] =
      of.state === 'rolled_back' ? [rolledBackLetter, 'updates'] : [failure, 'backups']
    const told = {
      site: site.name,
      ...of,
      link: `${deps.portalUrl}/wordpress/${site.id}?tab=${tab}`,
    }
    await deps.mail(tx, email, letter.subject[language](told), letter.text[language](told))
  }

  /** `unheld`: differences that were not undone because the hold had a gap. */
  return async function end(
    row: UpdateRow,
    site: SiteRow | undefined,
    state: UpdateEnd,
    reason: UpdateReason | null,
    unheld?: readonly PageDifference[],
  ) {
    const runs = site?.status === 'running'
    const isBegun = runs && row.begun_at !== null
    const differences = unheld ?? differencesOf(row)
    // The replaced files are kept where it is unclear what the site has now.
    if (isBegun && reason !== 'not_rolled_back') await driver.settleUpdate(site.id, row.id)
    const found = runs ? await driver.software(site.id).catch(() => null) : null
    const isOurs = await transaction(db, async (tx) => {
      // The stored words of the pages are no longer needed.
      const before = JSON.stringify(beforeOf(row).pages.map(({ path }) => ({ path })))
      const ended = {
        reason,
        before,
        ended_at: clock.now(),
        differences: JSON.stringify(differences),
      }
      if (!(await moveUpdate(tx, row, state, ended))) return false
      if (site && found) await noteSoftware(tx, site.id, found, clock.now())
      const packages = packagesOf(row)
      if (site && (state === 'rolled_back' || reason === 'not_rolled_back'))
        await tellOwner(tx, site, { packages, differences, state, isUnheld: unheld !== undefined })
      await callNext(tx, jobs)
      if (row.wave_id !== null) await jobs.add(tx, waveJob, { waveId: String(row.wave_id) })
      return true
    })
    // Another run has decided the end, and ends the hold.
    if (!isOurs) return
    // The hold ends after the end is stored: a run after a kill may decide to roll back, which
    // would lose what was written since. The hold also ends by itself.
    if (isBegun)
      await driver.holdWrites(site.id, 0).catch((error: unknown) => {
        log.warn({ err: error, site: site.id }, 'writes are held until the hold is over')
      })
    const names = packagesOf(row).map(({ slug, to }) => `${slug} ${to}`)
    const told = { site: row.site_id, update: row.id, cause: row.cause, packages: names, reason }
    if (state === 'done') log.info(told, 'a site was updated')
    else if (reason === 'not_rolled_back') log.error(told, 'an update could not be rolled back')
    else log.warn({ ...told, differences }, `an update of a site: ${state}`)
  }
}
