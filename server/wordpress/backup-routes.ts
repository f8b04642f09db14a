import { wordpressBackups as api } from '../../contract/index.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import { type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import { backupPage, presentBackup, shownBackup } from './backup-store.ts'
import type { Backups } from './backups.ts'
import { ownSite } from './store.ts'
import { hasUpdateUnderWay } from './update-store.ts'

export interface BackupRouteDeps {
  readonly db: Database
  readonly backups: Backups
  /** Limits how many backups and restores are asked for, per server. */
  readonly copyWork: Limit
}

export function backupRoutes(http: Http, { db, backups, copyWork }: BackupRouteDeps): void {
  const own = async (from: Queryable, customerId: string, id: string): Promise<string> =>
    (await ownSite(from, customerId, id)).id

  /** An update makes and restores backups of its own, which others would get in the way of. */
  const refuseWhileUpdating = async (from: Queryable, siteId: string): Promise<void> => {
    if (await hasUpdateUnderWay(from, siteId)) throw new Refusal('update_in_progress')
  }

  http.read(api.listBackups, async ({ customerId, params, query, language }) => {
    const siteId = await backups.siteWithBackups(customerId, params.id)
    const { rows, next } = await backupPage(db, { siteId, ...pageRequest(query, language) })
    return new Page(rows.map(presentBackup), encodeCursor(next))
  })
  http.write(api.makeBackup, async ({ tx, customerId, params }) => {
    const siteId = await own(tx, customerId, params.id)
    await refuseWhileUpdating(tx, siteId)
    const id = await backups.make(tx, siteId)
    await copyWork.take(siteId)
    return presentBackup(await shownBackup(tx, siteId, id))
  })
  http.write(api.restoreBackup, async ({ tx, customerId, params }) => {
    const siteId = await own(tx, customerId, params.id)
    await refuseWhileUpdating(tx, siteId)
    const id = await backups.restore(tx, siteId, params.backupId)
    await copyWork.take(siteId)
    return { id }
  })
  http.act(api.linkBackup, async ({ customerId, params }) => ({
    url: await backups.link(await backups.siteWithBackups(customerId, params.id), params.backupId),
  }))
  http.file(api.downloadBackup, ({ params, query, range }) =>
    backups.open(params.id, params.backupId, query.ticket, range),
  )
}
