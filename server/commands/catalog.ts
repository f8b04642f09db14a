import { readFileSync } from 'node:fs'
import { CatalogFault, listCatalogs, originOf, activateCatalog } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { connect } from '../platform/db.ts'
import type { Output } from './output.ts'

/**
 * `catalog`: the versions that were in use, the newest first. `catalog use`: this machine's file is
 * the newest from now on, also where it was in use before; running portals take it over.
 */
export async function catalogCommand(
  config: Config,
  databaseUrl: string,
  [act, ...more]: readonly string[],
  out: Output,
): Promise<number> {
  if ((act !== undefined && act !== 'use') || more.length > 0) {
    out.refuse('npm run portal -- catalog [use] [--json]')
    return 64
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (act === 'use') {
      const text = readFileSync(config.CATALOG, 'utf8')
      const version = await activateCatalog(db, { text, origin: originOf(config.DATA_DIR) })
      out.line(`${config.CATALOG} is in use, as version ${version}.`)
      out.fields({ version })
      return 0
    }
    const versions = await listCatalogs(db)
    for (const { version, origin, at } of versions)
      out.line(`${version}  since ${at.toISOString()}  from ${origin}`)
    out.fields({ versions })
    return 0
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    out.refuse(error.message)
    return 1
  } finally {
    await close()
  }
}
