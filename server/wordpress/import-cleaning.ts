/**
 * Cleans up after imports that are over: uploads, copies that nobody switched to, and what is left
 * of both.
 */
import { transaction, type Database } from '../platform/db.ts'
import type { Clock } from '../platform/clock.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { WordpressDriver } from './driver.ts'
import type { ImportFiles } from './import-files.ts'
import { cleanJob, importById, importsToEnd } from './import-store.ts'
import { siteById } from './store.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly driver: Pick<WordpressDriver, 'dropImport'>
  readonly files: Pick<ImportFiles, 'remove'>
}

export function defineImportCleaning({ db, clock, jobs, driver, files }: Deps): void {
  /** Removes the upload and the copy of an import that is over. */
  jobs.define<{ importId: string }>({
    name: cleanJob,
    retries: 'unlimited',
    run: async ({ importId }) => {
      const row = await importById(db, importId)
      if (!row || row.cleaned_at !== null) return
      // Lists everybody's uploads: once is enough, however long the node of the copy is away.
      if (row.upload_removed_at === null) {
        await files.remove(importId)
        await db
          .updateTable('site_import')
          .set({ upload_removed_at: clock.now() })
          .where('id', '=', importId)
          .execute()
      }
      const site = await siteById(db, row.site_id)
      // The copy may belong to a newer import of the same server.
      const other = await db
        .selectFrom('site_import')
        .select('id')
        .where('site_id', '=', row.site_id)
        .where('id', '<>', importId)
        .where('state', 'in', ['building', 'ready', 'switching'])
        .executeTakeFirst()
      if (site && site.deleted_at === null && !other) await driver.dropImport(row.site_id)
      await db
        .updateTable('site_import')
        .set({ cleaned_at: clock.now() })
        .where('id', '=', importId)
        .execute()
    },
  })

  jobs.define({
    name: 'expire-imports',
    cron: '*/10 * * * *',
    retries: 0,
    run: async () => {
      const ended = await importsToEnd(db, clock.now())
      for (const importId of ended)
        await transaction(db, async (tx) => {
          await tx
            .updateTable('site_import')
            .set({ state: 'discarded' })
            .where('id', '=', importId)
            .where('state', 'in', ['uploading', 'building', 'ready'])
            .execute()
          await jobs.add(tx, cleanJob, { importId })
        })
    },
  })
}
