/**
 * One update of one site, from the backup to the comparison of its pages.
 *
 * | state        | what is done                                     | then                  |
 * |--------------|--------------------------------------------------|-----------------------|
 * | waiting      | packages are fetched, a backup begins            | saving                |
 * | saving       | a backup is made and proven, writes are held     | updating, with pages  |
 * | updating     | files are exchanged, the database is upgraded    | checking              |
 * | checking     | pages and the way to wp-admin are compared       | done, or rolling_back |
 * | rolling_back | files and database are restored from the backup  | rolled_back           |
 *
 * Each step is idempotent: a kill at any point leads to the same step again, and so to done or
 * rolled_back. From the moment of the backup to the end, requests that may write are held, so that
 * a roll-back loses none. Where the hold had a gap, the backup is made anew as long as nothing was
 * exchanged; later on nothing is put back by itself, and the owner is told. No more are under way
 * than go on at once (update-places.ts).
 */
import type { PageDifference } from '../../contract/wordpress-updates.ts'
import { later, minutes, seconds } from '../platform/clock.ts'
import { transaction, type Tx } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Attempt } from '../platform/jobs.ts'
import { backupById, backupToRestore } from './backup-store.ts'
import type { Backups } from './backups.ts'
import type { SoftwarePackage } from './driver.ts'
import { lockSite, siteById, specOf, type SiteAddressing, type SiteRow } from './store.ts'
import { keepHold } from './update-hold.ts'
import { hasPlace, lookAgain, takePlace, updatesAtOnce } from './update-places.ts'
import { beforeOf, createUpdateEnd, type UpdateEndDeps } from './update-end.ts'
import type { Mirror } from './update-mirror.ts'
import { createVisitor, type Visited } from './update-pages.ts'
import {
  candidatesOf,
  differencesOf,
  installedOf,
  moveUpdate,
  noteSoftware,
  packagesOf,
  updateById,
  updateJob,
  type UpdatePackage,
  type UpdateReason,
  type UpdateRow,
} from './update-store.ts'
import { within } from './within.ts'

/** Failed attempts per state. An attempt that ends because the portal is killed does not count. */
const maxAttempts = 3
/** Longest time of one step. */
const stepMs = minutes(20)
/** How often a new backup is made because the hold ended before anything was exchanged. */
const maxLapses = 1
/** A site is looked at anew whose backup is under way, or whose update has no place yet. */
const busyMs = seconds(20)
/**
 * When the job looks again at a suspended site. Once the site runs again, its writers wait until
 * then.
 */
const suspendedMs = minutes(1)

export interface SiteUpdateDeps extends UpdateEndDeps {
  readonly addressing: SiteAddressing
  readonly backups: Pick<Backups, 'make' | 'restore'>
  /** Null: this portal uses no directory. */
  readonly mirror: Mirror | null
  /** How many processes the portal has. */
  readonly processes: number
}

const asPackage = ({ kind, slug, main, to }: UpdatePackage): SoftwarePackage => ({
  kind,
  slug,
  main,
  version: to,
})

/** A failure that ends the update with this reason. */
class GivenUp extends Error {
  readonly reason: UpdateReason
  constructor(reason: UpdateReason) {
    super(reason)
    this.reason = reason
  }
}

export function defineSiteUpdates(deps: SiteUpdateDeps): void {
  const { db, clock, log, jobs, driver } = deps
  const visitor = createVisitor(driver)
  const end = createUpdateEnd(deps)

  const visited = async (site: SiteRow): Promise<Visited> => {
    const { url } = await specOf(db, deps.addressing, site)
    return { id: site.id, url, adminUser: site.admin_user }
  }
  const again = (tx: Tx, row: UpdateRow, inMs: number): Promise<void> =>
    jobs.add(tx, updateJob, { updateId: row.id }, { startAfter: new Date(Date.now() + inMs) })
  /** One that cannot begin yet. */
  const putOff = (tx: Tx, row: UpdateRow): Promise<void> =>
    lookAgain(tx, jobs, row.id, later(new Date(), busyMs))
  const placeOf = (row: UpdateRow, site: SiteRow): Parameters<typeof hasPlace>[1] => ({
    updateId: row.id,
    customerId: site.customer_id,
    places: updatesAtOnce * deps.processes,
    now: clock.now(),
  })

  /**
   * Lists what is installed now; answers those of the update's packages that are still newer and
   * can be installed.
   */
  async function stillWanted(row: UpdateRow): Promise<UpdatePackage[]> {
    const now = clock.now()
    const found = await driver.software(row.site_id)
    await noteSoftware(db, row.site_id, found, now)
    const candidates = candidatesOf(await installedOf(db, row.site_id, found, now))
    return packagesOf(row).flatMap((one) => {
      const same = candidates.find(
        ({ kind, slug, version }) => kind === one.kind && slug === one.slug && version === one.to,
      )
      return same ? [{ ...one, from: same.from }] : []
    })
  }

  async function begin(row: UpdateRow, site: SiteRow): Promise<void> {
    const { mirror } = deps
    if (!mirror) throw new GivenUp('directory_unavailable')
    const packages = await stillWanted(row)
    if (packages.length === 0) {
      await end(row, site, 'skipped', 'withdrawn')
      return
    }
    for (const one of packages) await mirror.file(asPackage(one))
    await transaction(db, async (tx) => {
      const site = await lockSite(tx, row.site_id)
      if (site?.status !== 'running') return
      if (!(await takePlace(tx, placeOf(row, site)))) return await putOff(tx, row)
      try {
        const backupId = await deps.backups.make(tx, site.id, 'update')
        const begun = {
          backup_id: backupId,
          begun_at: row.begun_at ?? clock.now(),
          packages: JSON.stringify(packages),
        }
        if (!(await moveUpdate(tx, row, 'saving', begun)))
          throw new Error('another run has begun it')
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        // A backup is made or restored right now.
        await putOff(tx, row)
      }
    })
  }

  /**
   * Begins again with a new backup, because somebody may have written since the old one, and
   * nothing has been exchanged yet.
   */
  async function beginAnew(row: UpdateRow): Promise<void> {
    if (row.hold_lapses >= maxLapses) throw new GivenUp('slow_backup')
    await driver.holdWrites(row.site_id, 0)
    const anew = { backup_id: null, held_until: null, hold_lapses: row.hold_lapses + 1 }
    await moveUpdate(db, row, 'waiting', anew)
  }

  /**
   * Whether every package has its version from before the update, so that nothing needs to be
   * undone.
   */
  async function isAsBefore(row: UpdateRow, site: SiteRow): Promise<boolean> {
    // The start also completes an exchange that was cut off when the runtime was killed.
    await driver.start(await specOf(db, deps.addressing, site))
    const found = await driver.software(site.id)
    const installed = await installedOf(db, site.id, found, clock.now())
    return packagesOf(row).every((one) =>
      installed.some(
        ({ kind, slug, version }) => kind === one.kind && slug === one.slug && version === one.from,
      ),
    )
  }

  /** Whether the backup is proven and the update can continue now; false: it is woken later. */
  async function saved(row: UpdateRow, site: SiteRow): Promise<boolean> {
    const backup = row.backup_id === null ? undefined : await backupById(db, row.backup_id)
    if (backup?.state === 'making') return false
    if (backup?.state !== 'proven') throw new GivenUp('backup_failed')
    if (!(await keepHold(deps, row))) {
      await beginAnew(row)
      return true
    }
    const { pages, adminWorks } = await visitor.lookBefore(await visited(site))
    await moveUpdate(db, row, 'updating', {
      before: JSON.stringify(pages),
      admin_worked: adminWorks,
    })
    return true
  }

  async function install(row: UpdateRow, site: SiteRow): Promise<void> {
    const { mirror } = deps
    if (!mirror) throw new GivenUp('directory_unavailable')
    if (!(await keepHold(deps, row)) && (await isAsBefore(row, site))) {
      await beginAnew(row)
      return
    }
    const spec = await specOf(db, deps.addressing, site)
    const packages = packagesOf(row)
    for (const [index, one] of packages.entries())
      try {
        const file = await mirror.file(asPackage(one))
        await driver.applyPackage(spec, row.id, asPackage(one), file)
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error
        if (error.kind !== 'rejected' && error.kind !== 'full') throw error
        log.warn({ err: error, site: site.id, package: one.slug }, 'a package was not installed')
        if (error.kind === 'rejected') await mirror.forget(asPackage(one))
        if (index === 0) throw new GivenUp(error.kind === 'full' ? 'no_room' : 'package_unusable')
        const { name: path, from: before, to: after } = one
        await rollBack(row, site, [{ path, what: 'package', before, after }])
        return
      }
    try {
      await driver.upgradeDatabase(site.id)
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error
      log.warn({ err: error, site: site.id }, 'the database of a site was not upgraded')
      await rollBack(row, site, [{ path: 'database', what: 'database', before: '', after: '' }])
      return
    }
    await moveUpdate(db, row, 'checking')
  }

  async function check(row: UpdateRow, site: SiteRow): Promise<boolean> {
    await keepHold(deps, row)
    const differences = await visitor.lookAfter(await visited(site), beforeOf(row))
    if (differences.length === 0) {
      await end(row, site, 'done', null)
      return false
    }
    await rollBack(row, site, differences)
    return true
  }

  async function rollBack(
    row: UpdateRow,
    site: SiteRow,
    differences: readonly PageDifference[],
  ): Promise<void> {
    if (!(await keepHold(deps, row))) return await withoutHold(row, site, differences)
    await transaction(db, async (tx) => {
      const restoreId = await deps.backups.restore(tx, row.site_id, row.backup_id ?? '')
      const values = {
        restore_id: restoreId,
        differences: JSON.stringify(differences),
        reason: 'pages_differ' as const,
        attempts: row.state === 'rolling_back' ? row.attempts + 1 : 0,
      }
      if (!(await moveUpdate(tx, row, 'rolling_back', values)))
        throw new Error('another run has rolled it back')
    })
  }

  /**
   * Continues or ends an update whose hold had a gap. The backup is not restored, because that
   * could lose what was written since.
   */
  async function withoutHold(
    row: UpdateRow,
    site: SiteRow,
    differences: readonly PageDifference[],
  ): Promise<void> {
    const isBefore = await isAsBefore(row, site).catch((error: unknown) => {
      log.warn({ err: error, site: site.id }, 'what a site has installed could not be listed')
      return false
    })
    if (isBefore && row.state === 'updating') await beginAnew(row)
    // The restore was completed before the gap, but not recorded.
    else if (isBefore && row.state === 'rolling_back')
      await end(row, site, 'rolled_back', 'pages_differ')
    else await end(row, site, 'failed', 'not_rolled_back', differences)
  }

  async function rolledBack(row: UpdateRow, site: SiteRow): Promise<void> {
    const restore = row.restore_id === null ? undefined : await backupToRestore(db, row.restore_id)
    if (restore?.state === 'restoring') return
    if (restore?.state === 'restored') {
      await deps.driver.start(await specOf(db, deps.addressing, site))
      await end(row, site, 'rolled_back', 'pages_differ')
    } else if (row.attempts + 1 < maxAttempts) await rollBack(row, site, differencesOf(row))
    else await end(row, site, 'failed', 'not_rolled_back')
  }

  /** Does the next step of the state; answers whether another can follow at once. */
  async function step(row: UpdateRow, site: SiteRow): Promise<boolean> {
    switch (row.state) {
      case 'waiting':
        await begin(row, site)
        return false
      case 'saving':
        return await saved(row, site)
      case 'updating':
        await install(row, site)
        return true
      case 'checking':
        return await check(row, site)
      case 'rolling_back':
        await rolledBack(row, site)
        return false
      default:
        return false
    }
  }

  /**
   * For a server that does not run: an update that has not begun is skipped, one that has begun
   * continues when the server runs again.
   */
  async function withoutServer(row: UpdateRow, site: SiteRow | undefined): Promise<void> {
    if (row.state === 'waiting') await end(row, site, 'skipped', 'not_running')
    else if (site === undefined || site.status === 'deleting')
      await end(row, site, 'failed', 'not_running')
    else {
      // Writes stay held, so that none comes between the server's resumption and the rest of the
      // update.
      if (row.state !== 'saving')
        await keepHold(deps, row).catch((error: unknown) => {
          log.warn({ err: error, site: site.id }, 'writes of a suspended site are not held on')
        })
      await transaction(db, (tx) => again(tx, row, suspendedMs))
    }
  }

  async function onFailure(row: UpdateRow, site: SiteRow, error: unknown, attempt: Attempt) {
    if (attempt.signal.aborted) throw error
    if (error instanceof GivenUp) {
      await end(row, site, 'failed', error.reason)
      return
    }
    const attempts = row.attempts + 1
    if (attempts < maxAttempts && !(error instanceof DriverFailure && error.kind === 'rejected')) {
      await db
        .updateTable('site_update')
        .set({ attempts })
        .where('id', '=', row.id)
        .where('state', '=', row.state)
        .execute()
      throw error
    }
    log.warn({ err: error, site: row.site_id, state: row.state }, 'an update does not get on')
    // Once files were exchanged, only the backup is certain to work.
    if (row.state === 'updating' || row.state === 'checking')
      await rollBack(row, site, [{ path: '/', what: 'unreachable', before: '', after: '' }])
    else if (row.state === 'waiting') {
      const isRejected = error instanceof DriverFailure && error.kind === 'rejected'
      await end(row, site, 'failed', isRejected ? 'package_unusable' : 'directory_unavailable')
    } else if (row.state === 'rolling_back') await end(row, site, 'failed', 'not_rolled_back')
    else await end(row, site, 'failed', 'unexpected')
  }

  /** Updates that this process is about to begin: what they take is no worker of those begun. */
  let beginning = 0
  /** True: it is one of them until `beginning` is counted down. */
  async function mayBegin(row: UpdateRow, site: SiteRow): Promise<boolean> {
    if (beginning < updatesAtOnce) {
      let may = false
      beginning++
      try {
        may = await hasPlace(db, placeOf(row, site))
      } finally {
        if (!may) beginning--
      }
      if (may) return true
    }
    await transaction(db, (tx) => putOff(tx, row))
    return false
  }

  jobs.define<{ updateId: string; begins?: boolean }>({
    name: updateJob,
    // Those that hold writes, and those that are about to begin.
    concurrency: 2 * updatesAtOnce,
    retries: 'unlimited',
    retryDelaySeconds: 2,
    limitSeconds: 3600,
    run: async ({ updateId, begins = false }, attempt) => {
      for (let isFirst = true; ; isFirst = false) {
        const row = await updateById(db, updateId)
        if (!row || row.ended_at !== null || row.state === 'planned') return
        const isWaiting = row.state === 'waiting'
        // Another run has begun it meanwhile, and goes on.
        if (begins && isFirst && !isWaiting) return
        const site = await siteById(db, row.site_id)
        if (site?.status !== 'running') return await withoutServer(row, site)
        if (isWaiting && !(await mayBegin(row, site))) return
        try {
          const work = step(row, site)
          if (!(await within(stepMs, 'the update took too long', work, attempt.signal))) return
        } catch (error) {
          // The next pass reads the row again: it continues an update that began anew, and stops at
          // one that ended.
          await onFailure(row, site, error, attempt)
        } finally {
          if (isWaiting) beginning--
        }
      }
    },
  })
}
