import { wordpressImport as api } from '../../contract/index.ts'
import { type Database, type Queryable } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { ImportFiles } from './import-files.ts'
import { newestImport } from './import-store.ts'
import type { Imports } from './imports.ts'
import { ownSite } from './store.ts'

export interface ImportRouteDeps {
  readonly db: Database
  readonly imports: Imports
  readonly files: ImportFiles
  /** Limits the imports begun, per server. */
  readonly begun: Limit
}

export function importRoutes(http: Http, { db, imports, files, begun }: ImportRouteDeps): void {
  const own = async (from: Queryable, customerId: string, id: string): Promise<string> =>
    (await ownSite(from, customerId, id)).id

  http.read(api.getImport, async ({ customerId, params }) => {
    const row = await newestImport(db, await own(db, customerId, params.id))
    return row ? await imports.present(row) : null
  })
  http.write(api.beginImport, async ({ tx, customerId, params, body, language }) => {
    const siteId = await own(tx, customerId, params.id)
    await begun.take(siteId)
    const { files: listed, origin } = body
    return await imports.begin(tx, { siteId, customerId, files: listed, origin, language })
  })
  http.read(api.getImportFile, async ({ customerId, params }) => {
    const siteId = await own(db, customerId, params.id)
    return await files.received(siteId, params.importId, params.file)
  })
  http.bytes(api.putImportPiece, async ({ customerId, params, query, chunks }) => {
    const siteId = await own(db, customerId, params.id)
    const { importId, file } = params
    return await files.take({ siteId, importId, file, offset: query.offset }, chunks)
  })
  http.write(api.buildImport, async ({ tx, customerId, params }) =>
    imports.build(tx, await own(tx, customerId, params.id), params.importId),
  )
  http.write(api.switchImport, async ({ tx, customerId, params }) =>
    imports.switchOver(tx, await own(tx, customerId, params.id), params.importId),
  )
  http.write(api.undoImport, async ({ tx, customerId, params }) => ({
    id: await imports.undo(tx, await own(tx, customerId, params.id), params.importId),
  }))
  http.write(api.discardImport, async ({ tx, customerId, params }) => {
    await imports.discard(tx, await own(tx, customerId, params.id), params.importId)
    return {}
  })
}
