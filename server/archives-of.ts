import path from 'node:path'
import type { Config } from './config.ts'
import { folderStore, openStore, type ObjectStore } from './platform/object-store/index.ts'
import { archivesAt, archivesIn, type Archives } from './wordpress/index.ts'

/**
 * The archives of sites' backups, where the operator has them.
 * @throws StoreFault where SITE_BACKUPS_TO names no bucket, or its keys are missing
 */
export function archivesOf(config: Config): Archives {
  const own = path.join(config.DATA_DIR, 'backups')
  const { SITE_BACKUPS_TO: to } = config
  if (to === undefined) return archivesIn(own)
  // In a folder, archives are written in place.
  return to.startsWith('s3:')
    ? archivesAt(openStore(to, config), path.join(own, '.under-way'))
    : archivesIn(path.resolve(to))
}

/** The store for uploads of imported sites until they are unpacked. Throws as above. */
export function importStoreOf(config: Config): { store: ObjectStore; scratch: string } {
  const own = path.join(config.DATA_DIR, 'imports')
  const { SITE_BACKUPS_TO: to } = config
  const store =
    to === undefined
      ? folderStore(path.join(own, 'pieces'))
      : openStore(
          to.startsWith('s3:') ? `${to.replace(/\/+$/, '')}/imports` : path.join(to, 'imports'),
          config,
        )
  return { store, scratch: path.join(own, '.under-way') }
}
