/** Puts a backup of the whole portal back, on a machine that has nothing of it. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { connect } from '../platform/db.ts'
import {
  type Archives,
  hideLostArchives,
  bringAllTo,
  specsToRestore,
  type SiteAddressing,
  type SiteSpec,
  type WordpressDriver,
} from '../wordpress/index.ts'
import { loadDatabase, refuseUnlessEmpty, releaseOf } from './load.ts'
import { openBackup, type Manifest, type Opened } from './manifest.ts'
import type { ObjectStore } from '../platform/object-store/index.ts'
import { BackupFault } from './fault.ts'
import { checkFiles, differences, readerOf } from './verify.ts'

export interface RestoreParts {
  readonly store: ObjectStore
  readonly passphrase: string | undefined
  readonly databaseUrl: string
  readonly dataDir: string
  /** The store for the sites' own backups. */
  readonly archives: Archives
  /** SITE_BACKUPS_TO, where the operator has set it. */
  readonly archivesTo: string | undefined
  /** PORTAL_SECRET, where the operator has set it. */
  readonly givenSecret: string | undefined
  readonly addressing: SiteAddressing
  /** The node of this machine. */
  readonly node: string
  /** Sites of other nodes come to this one, too: their machines are gone as well. */
  readonly bringAllHere?: boolean
  /**
   * Opens the runtime of the sites in `dataDir`; called when database and archives are restored.
   */
  readonly openRuntime: () => Promise<{
    readonly driver: Pick<WordpressDriver, 'restore'>
    close(): Promise<void>
  }>
  /** Reports the steps, a sentence each. */
  readonly say: (line: string) => void
}

export interface Restored {
  readonly manifest: Manifest
  /** Servers that came up from their archives. */
  readonly sites: number
  /** Servers that should run and do not, a sentence each. */
  readonly missing: readonly string[]
}

/** Lies in DATA_DIR from the first file to the last; the portal does not start beside it. */
const unfinishedName = 'restore-unfinished'
const megabyte = 1_048_576
const sitesAtOnce = 2

/** Throws BackupFault where a restore into this DATA_DIR did not come to its end. */
export async function refuseUnfinishedRestore(dataDir: string): Promise<void> {
  const there = await fs.stat(path.join(dataDir, unfinishedName)).catch(() => null)
  if (there)
    throw new BackupFault(
      `A restore into ${dataDir} did not come to its end: empty it and the database, and restore ` +
        'again.',
    )
}

/** Whether there is a file in a folder, at any depth; a link is looked through. */
async function hasFiles(folder: string): Promise<boolean> {
  for (const name of await fs.readdir(folder)) {
    if (name === 'lost+found') continue
    const there = path.join(folder, name)
    if (!(await fs.stat(there)).isDirectory() || (await hasFiles(there))) return true
  }
  return false
}

/**
 * A folder that the operator made ready holds no data of a portal: disks that are mounted in it,
 * links to other disks, and what npm leaves in the home of the portal's user. The embedded
 * database's own folder is there since the command began, its cluster empty.
 */
async function refuseUnlessEmptyFolder(dataDir: string): Promise<void> {
  const names = await fs.readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const name of names) {
    if (name === 'postgres' || name === 'lost+found' || name.startsWith('.')) continue
    const there = path.join(dataDir, name)
    if ((await fs.stat(there)).isDirectory() && !(await hasFiles(there))) continue
    throw new BackupFault(
      `DATA_DIR ${dataDir} is not empty (${name} is there): a backup is restored into an ` +
        'empty one only.',
    )
  }
}

async function putArchives(parts: RestoreParts, opened: Opened): Promise<void> {
  const read = readerOf(parts.store, opened)
  for (const { siteId, backupId, file } of opened.manifest.sites)
    await parts.archives.put({ siteId, backupId }, (into) => read(file, into))
}

/**
 * A customer's site may slightly exceed its disk: its limit is raised so that it can be restored.
 */
function roomy(spec: SiteSpec, figures: { fileBytes: number; databaseBytes: number }): SiteSpec {
  const needed = (bytes: number): number => Math.ceil(bytes / megabyte)
  return {
    ...spec,
    diskMb: Math.max(spec.diskMb, needed(figures.fileBytes)),
    databaseDiskMb: Math.max(spec.databaseDiskMb, needed(figures.databaseBytes)),
  }
}

/** Every server that should run, from its archive. */
async function putSites(
  parts: RestoreParts,
  manifest: Manifest,
  specs: readonly SiteSpec[],
): Promise<Pick<Restored, 'sites' | 'missing'>> {
  const missing: string[] = []
  let sites = 0
  if (specs.length === 0) return { sites, missing }
  const runtime = await parts.openRuntime()
  const waiting = [...specs]
  const worker = async (): Promise<void> => {
    for (let spec = waiting.shift(); spec; spec = waiting.shift()) {
      const { id } = spec
      const saved = manifest.sites.find(({ siteId }) => siteId === id)
      if (!saved) {
        const why = manifest.notSaved.find(({ siteId }) => siteId === id)?.why ?? 'not saved'
        missing.push(`The site ${spec.title} is not in the backup: ${why}.`)
        continue
      }
      const figures = saved.figures as Parameters<WordpressDriver['restore']>[1]['figures']
      const wanted = roomy(spec, figures)
      try {
        await parts.archives.use({ siteId: id, backupId: saved.backupId }, (file) =>
          runtime.driver.restore(wanted, { file, figures }, randomUUID()),
        )
        sites += 1
      } catch (error) {
        missing.push(`The site ${spec.title} did not come up: ${(error as Error).message}.`)
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: sitesAtOnce }, worker))
  } finally {
    await runtime.close()
  }
  return { sites, missing }
}

/**
 * Restores the newest backup at the store, or the one that it is: archives, database, secret,
 * sites. The portal starts afterwards as it always does.
 * @throws BackupFault where something is there already, or the backup is not good
 */
export async function restoreBackup(parts: RestoreParts): Promise<Restored> {
  const { store, dataDir, say } = parts
  const opened = await openBackup(store, parts.passphrase)
  const { manifest, secret } = opened
  if (parts.givenSecret !== undefined && parts.givenSecret !== secret)
    throw new BackupFault(
      'PORTAL_SECRET is set and is not the one of the backup: remove it, and change it after the ' +
        'restore (PORTAL_SECRET_PREVIOUS).',
    )
  await refuseUnfinishedRestore(dataDir)
  await refuseUnlessEmptyFolder(dataDir)
  await refuseUnlessEmpty(parts.databaseUrl)
  await releaseOf(manifest)
  const faults = await checkFiles(store, opened, new Set(manifest.sites.map(({ file }) => file)))
  if (faults.length > 0) throw new BackupFault(faults.join('\n'))
  say(`Restoring the backup ${manifest.id} of release ${manifest.release}.`)

  await fs.mkdir(dataDir, { recursive: true })
  const unfinished = path.join(dataDir, unfinishedName)
  await fs.writeFile(unfinished, `${manifest.id}\n`)
  await putArchives(parts, opened)
  say(`${manifest.sites.length} archives of sites are in their place.`)
  const leftOut = await loadDatabase(parts.databaseUrl, manifest, readerOf(store, opened))
  for (const table of leftOut) say(`${table} is no table of the portal's, and was left out.`)
  if (parts.givenSecret === undefined)
    await fs.writeFile(path.join(dataDir, 'secret'), secret, { mode: 0o600, flag: 'wx' })
  const { db, close } = connect(parts.databaseUrl, 1, () => undefined)
  let specs: SiteSpec[]
  try {
    const unlike = await differences(db, manifest, leftOut)
    if (unlike.length > 0) throw new BackupFault(unlike.join('\n'))
    if (parts.bringAllHere) await bringAllTo(db, parts.node)
    const { here, elsewhere } = await specsToRestore(db, parts.addressing, parts.node)
    specs = here
    if (elsewhere > 0) say(`${elsewhere} sites are on other nodes, and stay there.`)
    const lost = await hideLostArchives(db, parts.archives)
    if (lost > 0)
      say(
        `${lost} older backups of sites are not ` +
          (parts.archivesTo === undefined
            ? 'in DATA_DIR, and SITE_BACKUPS_TO is not set'
            : `at SITE_BACKUPS_TO, ${parts.archivesTo}`) +
          ', so nobody is offered them. Where they lie elsewhere, set SITE_BACKUPS_TO to that ' +
          'place and start the portal: it deletes none of them, and offers what it finds again.',
      )
  } finally {
    await close()
  }
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  say(`The database is there: ${manifest.tables.length} tables, ${rows} rows.`)
  const { sites, missing } = await putSites(parts, manifest, specs)
  say(`${sites} sites are there.`)
  await fs.rm(unfinished)
  return { manifest, sites, missing }
}
