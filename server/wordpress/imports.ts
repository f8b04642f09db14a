/**
 * Moves sites of other hosts into a server: the upload becomes a copy beside the server's content,
 * its pages are compared with the original's, and the customer switches over, after a backup of the
 * former content. Jobs read the row's state, so that a killed job is repeated with the same result.
 */
import { randomUUID } from 'node:crypto'
import { keptHours, undoHours, type Import } from '../../contract/wordpress-import.ts'
import { ruleText, type RuleKey } from '../../contract/server-sentences.ts'
import type { Language } from '../../contract/errors.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { databaseError, transaction, type Database, type Tx } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Attempt, Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { Backups } from './backups.ts'
import { backupById, beginBackup, refuseUnfinished } from './backup-store.ts'
import { ensureJob } from './change.ts'
import { comparePages } from './import-pages.ts'
import type { ImportProblem, SiteSpec, WordpressDriver } from './driver.ts'
import { defineImportCleaning } from './import-cleaning.ts'
import type { ImportFiles } from './import-files.ts'
import {
  buildJob,
  cleanJob,
  copiedOf,
  filesOf,
  foundOf,
  importById,
  lockImport,
  openImports,
  presentImport,
  receivedOf,
  storable,
  switchJob,
  type ImportRow,
} from './import-store.ts'
import { readOrigin, type Originals } from './original.ts'
import { lockSite, siteById, specOf, type SiteAddressing } from './store.ts'
import { hasUpdateUnderWay, listAnew } from './update-store.ts'
import { within } from './within.ts'

const megabyte = 1_048_576
const maxAttempts = 3
/** Longest time of one step; the same as for a restore. */
const layOutMs = hours(2)
/** Most uploads and copies of one customer at a time. */
const mostOpen = 3
const undoMs = hours(undoHours)

export interface ImportDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  readonly driver: WordpressDriver
  readonly addressing: SiteAddressing
  readonly files: ImportFiles
  readonly originals: Originals
  readonly backups: Pick<Backups, 'restore'>
  /** Tells the edge that a site's state changed. */
  readonly onChange: () => void
}

export interface Imports {
  begin(
    tx: Tx,
    of: {
      siteId: string
      customerId: string
      files: readonly { name: string; bytes: number }[]
      origin: string | undefined
      language: Language
    },
  ): Promise<Import>
  build(tx: Tx, siteId: string, importId: string): Promise<Import>
  switchOver(tx: Tx, siteId: string, importId: string): Promise<Import>
  undo(tx: Tx, siteId: string, importId: string): Promise<string>
  discard(tx: Tx, siteId: string, importId: string): Promise<void>
  present(row: ImportRow): Promise<Import>
}

export function createImports(deps: ImportDeps): Imports {
  const { db, clock, log, jobs, driver, files } = deps

  const change = async (id: string, state: ImportRow['state'], values: Partial<ImportRow>) =>
    await db
      .updateTable('site_import')
      .set(values as never)
      .where('id', '=', id)
      .where('state', '=', state)
      .execute()

  /** Reports the failure and removes what was built; the server is unchanged. */
  const fail = async (row: ImportRow, problem: ImportProblem): Promise<void> => {
    await transaction(db, async (tx) => {
      await tx
        .updateTable('site_import')
        .set({ state: 'failed', problem: storable(problem) })
        .where('id', '=', row.id)
        .where('state', '=', 'building')
        .execute()
      await jobs.add(tx, cleanJob, { importId: row.id })
    })
  }

  async function compare(row: ImportRow, spec: SiteSpec, signal: AbortSignal): Promise<void> {
    const copied = copiedOf(row)
    const base = row.origin ?? readOrigin(copied?.home ?? '')
    const from = { driver, originals: deps.originals, spec, signal }
    const pages = await comparePages(from, base, copied?.paths ?? [])
    await change(row.id, 'building', {
      state: 'ready',
      pages: storable(pages),
      problem: null,
      expires_at: later(clock.now(), hours(keptHours)),
    })
  }

  /** One attempt; it continues where the last one stopped. */
  async function build(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const row = await importById(db, id)
      if (row?.state !== 'building') return
      const site = await siteById(db, row.site_id)
      if (site?.status !== 'running')
        throw new DriverFailure('unavailable', 'the server does not run')
      const spec = await specOf(db, deps.addressing, site)
      if (row.found === null) {
        await change(id, 'building', { phase: 'unpack', share: 0 })
        const laidOut = await within(
          layOutMs,
          'the packages took too long',
          files.use(id, (all) => driver.layOutImport(spec, all)),
          signal,
        )
        if ('problem' in laidOut) return await fail(row, laidOut.problem)
        await change(id, 'building', { found: storable(laidOut.found), phase: 'database' })
        continue
      }
      if (row.copied !== null) return await compare(row, spec, signal)
      const hosts = row.origin === null ? [] : [new URL(row.origin).hostname]
      const step = await driver.stepImport(spec, hosts)
      if (step.problem) return await fail(row, step.problem)
      await change(
        id,
        'building',
        step.site
          ? { copied: storable(step.site), phase: 'compare', share: 1 }
          : { phase: step.phase, share: step.share },
      )
    }
  }

  jobs.define<{ importId: string }>({
    name: buildJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 4 * 3600,
    run: async ({ importId }, attempt) => {
      try {
        await build(importId, attempt.signal)
      } catch (error) {
        await afterFailure(importId, error, attempt)
      }
    },
  })

  async function afterFailure(id: string, error: unknown, { signal }: Attempt): Promise<void> {
    if (signal.aborted) throw error
    const row = await importById(db, id)
    if (row?.state !== 'building') return
    // The copy was lost with a restore or a node: it is made anew.
    const isGone = error instanceof DriverFailure && error.kind === 'rejected'
    const attempts = row.attempts + 1
    log.warn({ err: error, site: row.site_id, attempts }, 'a site was not moved in yet')
    if (attempts >= maxAttempts) {
      log.error({ err: error, site: row.site_id }, 'a site could not be moved in')
      return await fail(row, { code: 'not_answering', detail: '' })
    }
    await change(id, 'building', {
      attempts,
      ...(isGone && { found: null, copied: null }),
    })
    throw error
  }

  jobs.define<{ importId: string }>({
    name: switchJob,
    concurrency: 2,
    retries: 'unlimited',
    limitSeconds: 4 * 3600,
    run: async ({ importId }, attempt) => {
      const row = await importById(db, importId)
      if (row?.state !== 'switching') return
      const backup = row.backup_id === null ? undefined : await backupById(db, row.backup_id)
      // The backup's end adds this job again.
      if (backup?.state === 'making') return
      let end: Partial<ImportRow>
      if (backup?.state !== 'proven')
        end = { state: 'ready', problem: storable({ code: 'backup_failed', detail: '' }) }
      else {
        const failure = await exchange(row, attempt)
        end = failure ?? { state: 'done', problem: null, switched_at: clock.now() }
      }
      // Whichever content the server has now, it is started if it should run.
      await transaction(db, async (tx) => {
        await tx
          .updateTable('site_import')
          .set(end as never)
          .where('id', '=', importId)
          .where('state', '=', 'switching')
          .execute()
        await jobs.add(tx, ensureJob, { siteId: row.site_id })
        if (end.state === 'done') {
          await listAnew(tx, row.site_id)
          await jobs.add(tx, cleanJob, { importId })
        }
      })
      deps.onChange()
    },
  })

  /** Makes the copy the server's content; undefined: done. Throws where the job tries again. */
  async function exchange(
    row: ImportRow,
    { signal }: Attempt,
  ): Promise<Partial<ImportRow> | undefined> {
    try {
      const site = await siteById(db, row.site_id)
      if (site?.status !== 'running') throw new DriverFailure('rejected', 'the server does not run')
      const spec = await specOf(db, deps.addressing, site)
      const switched = driver.switchImport(spec, row.id)
      await within(layOutMs, 'the switch took too long', switched, signal)
      return undefined
    } catch (error) {
      if (signal.aborted) throw error
      const attempts = row.attempts + 1
      const isFinal = error instanceof DriverFailure && error.kind === 'rejected'
      if (!isFinal && attempts < maxAttempts) {
        await change(row.id, 'switching', { attempts })
        throw error
      }
      log.error({ err: error, site: row.site_id }, 'a site that was moved in was not switched to')
      return { state: 'ready', problem: storable({ code: 'switch_failed', detail: '' }) }
    }
  }

  defineImportCleaning(deps)

  const locked = async (tx: Tx, siteId: string, importId: string): Promise<ImportRow> => {
    const row = await lockImport(tx, siteId, importId)
    if (!row || row.state === 'discarded') throw new Refusal('not_found')
    return row
  }
  const presented = async (tx: Tx, importId: string): Promise<Import> =>
    await presentImport(tx, (await importById(tx, importId))!, undoMs)

  return {
    present: (row) => presentImport(db, row, undoMs),

    async begin(tx, of) {
      const refuse = (field: string, rule: RuleKey): Refusal =>
        new Refusal('invalid_input', { fields: { [field]: ruleText(rule, of.language) } })
      const site = await lockSite(tx, of.siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      const total = of.files.reduce((sum, { bytes }) => sum + bytes, 0)
      if (total > site.disk_mb * megabyte) throw refuse('files', 'import_too_large')
      const typed = of.origin?.trim() ?? ''
      const origin = typed === '' ? null : (readOrigin(typed) ?? null)
      if (typed !== '' && origin === null) throw refuse('origin', 'import_origin')
      if ((await openImports(tx, of.customerId)) >= mostOpen) throw new Refusal('rate_limited')
      await files.requireRoom(tx, total)
      const id = randomUUID()
      const now = clock.now()
      try {
        await tx
          .insertInto('site_import')
          .values({
            id,
            site_id: of.siteId,
            customer_id: of.customerId,
            state: 'uploading',
            files: storable(of.files),
            total_bytes: BigInt(total),
            origin,
            created_at: now,
            expires_at: later(now, hours(keptHours)),
          })
          .execute()
      } catch (error) {
        if (databaseError(error)?.constraint === 'site_import_open') throw new Refusal('conflict')
        throw error
      }
      return await presented(tx, id)
    },

    async build(tx, siteId, importId) {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      const row = await locked(tx, siteId, importId)
      // The button was pressed twice.
      if (row.state === 'building') return await presented(tx, importId)
      if (row.state !== 'uploading') throw new Refusal('conflict')
      const received = await receivedOf(tx, importId)
      const isWhole = filesOf(row).every(({ bytes }, index) => received.get(index) === bytes)
      if (!isWhole) throw new Refusal('conflict')
      await tx
        .updateTable('site_import')
        .set({
          state: 'building',
          phase: 'unpack',
          expires_at: later(clock.now(), hours(keptHours)),
        })
        .where('id', '=', importId)
        .execute()
      await jobs.add(tx, buildJob, { importId })
      return await presented(tx, importId)
    },

    async switchOver(tx, siteId, importId) {
      const site = await lockSite(tx, siteId)
      if (site?.status !== 'running') throw new Refusal('server_not_running')
      const row = await locked(tx, siteId, importId)
      if (row.state === 'switching' || row.state === 'done') return await presented(tx, importId)
      if (row.state !== 'ready') throw new Refusal('conflict')
      await refuseUnfinished(tx, siteId)
      // Its roll-back would put the site of before back.
      if (await hasUpdateUnderWay(tx, siteId)) throw new Refusal('update_in_progress')
      if ((foundOf(row)?.fileBytes ?? 0) > site.disk_mb * megabyte)
        throw new Refusal('backup_too_large')
      const backupId = await beginBackup(deps, tx, siteId, 'manual')
      await tx
        .updateTable('site_import')
        .set({ state: 'switching', backup_id: backupId, attempts: 0, problem: null })
        .where('id', '=', importId)
        .execute()
      return await presented(tx, importId)
    },

    async undo(tx, siteId, importId) {
      const row = await locked(tx, siteId, importId)
      const isOver = row.switched_at === null || later(row.switched_at, undoMs) < clock.now()
      if (row.state !== 'done' || row.backup_id === null || isOver) throw new Refusal('conflict')
      if (await hasUpdateUnderWay(tx, siteId)) throw new Refusal('update_in_progress')
      await tx
        .updateTable('site_import')
        .set({ state: 'undone' })
        .where('id', '=', importId)
        .execute()
      await listAnew(tx, siteId)
      return await deps.backups.restore(tx, siteId, row.backup_id)
    },

    async discard(tx, siteId, importId) {
      const row = await locked(tx, siteId, importId)
      if (row.state === 'switching' || row.state === 'done') throw new Refusal('conflict')
      await tx
        .updateTable('site_import')
        .set({ state: 'discarded' })
        .where('id', '=', importId)
        .execute()
      await jobs.add(tx, cleanJob, { importId })
    },
  }
}
