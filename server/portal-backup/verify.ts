/**
 * Says whether a backup would do: every file is what was written, the database comes up from it
 * with the same rows and whole books, its secret opens it, and sites come up from their archives.
 */
import fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { connect, type Queryable } from '../platform/db.ts'
import { openSecrets, WrongSecret } from '../platform/secrets.ts'
import { checkLedger, ledgerFigures } from '../wallet/index.ts'
import { NowhereToProve, type WordpressDriver } from '../wordpress/index.ts'
import { qualified } from './dump.ts'
import { loadDatabase } from './load.ts'
import { figuresOfFile, openBackup, type Manifest, type Opened } from './manifest.ts'
import { inScratchDatabase } from './scratch.ts'
import type { ObjectStore } from '../platform/object-store/index.ts'
import { BackupFault } from './fault.ts'
import { readChecked } from './tally.ts'

export interface VerifyParts {
  readonly store: ObjectStore
  readonly passphrase: string | undefined
  /** The scratch database is made beside this one. */
  readonly databaseUrl: string
  /** Holds one archive at a time; made and removed. */
  readonly scratchFolder: string
  /** Throws NowhereToProve for an archive that cannot be tried here. */
  readonly prove: WordpressDriver['prove']
  readonly signal?: AbortSignal | undefined
}

export interface Verdict {
  readonly manifest: Manifest
  /** The checks that agree, a sentence each. */
  readonly agreed: readonly string[]
  /** The checks that do not, a sentence each; none if the backup is good. */
  readonly faults: readonly string[]
  /** Archives that match the manifest but could not be tried here. */
  readonly untried: readonly { readonly name: string; readonly why: string }[]
}

/** Archives that are test-restored, chosen anew each time. */
const archivesProven = 10

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/**
 * Checks every file except those in `except`; returns a sentence for each that differs from the
 * manifest.
 */
export async function checkFiles(
  store: ObjectStore,
  { manifest, base }: Opened,
  except: ReadonlySet<string> = new Set(),
  signal?: AbortSignal,
): Promise<string[]> {
  const faults: string[] = []
  for (const file of manifest.files) {
    if (except.has(file.name)) continue
    signal?.throwIfAborted()
    try {
      await readChecked(store, base + file.name, file)
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error
      faults.push(error.message)
    }
  }
  return faults
}

/** Writes files of the backup into streams, compared on the way. */
export const readerOf =
  (store: ObjectStore, { manifest, base }: Opened) =>
  (file: string, into: NodeJS.WritableStream): Promise<void> =>
    readChecked(store, base + file, figuresOfFile(manifest, file), into as fs.WriteStream)

/** The differences between the manifest and the database restored from its backup. */
export async function differences(
  db: Queryable,
  manifest: Manifest,
  leftOut: readonly string[],
): Promise<string[]> {
  const found: string[] = []
  for (const table of manifest.tables) {
    if (leftOut.includes(qualified(table))) continue
    const { rows } = await sql<{ n: bigint }>`
      select count(*) as n from ${sql.table(`${table.schema}.${table.name}`)}`.execute(db)
    const n = Number(rows[0]?.n)
    if (n !== table.rows)
      found.push(`${table.schema}.${table.name} has ${n} rows; ${table.rows} were written.`)
  }
  const ledger = await ledgerFigures(db)
  if (!isDeepStrictEqual(ledger, manifest.ledger))
    found.push('The ledger’s sums, entries or last hashes are not those of the manifest.')
  return found
}

/** Restores the database on trial; answers what agrees and what does not. */
async function tryDatabase(
  parts: VerifyParts,
  opened: Opened,
): Promise<Pick<Verdict, 'agreed' | 'faults'>> {
  const { manifest, secret } = opened
  const agreed: string[] = []
  const faults: string[] = []
  await inScratchDatabase(parts.databaseUrl, async (url) => {
    const leftOut = await loadDatabase(url, manifest, readerOf(parts.store, opened))
    const { db, close } = connect(url, 2, () => undefined)
    try {
      const unlike = await differences(db, manifest, leftOut)
      faults.push(...unlike)
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      if (unlike.length === 0)
        agreed.push(`${manifest.tables.length} tables came up with ${rows} rows.`)
      try {
        await openSecrets(db, secret, undefined)
        agreed.push('The secret opens what the database keeps sealed.')
      } catch (error) {
        if (!(error instanceof WrongSecret)) throw error
        faults.push('The secret is not the one of the database.')
      }
      const findings = await checkLedger(db, 'full')
      for (const { invariant, where } of findings) faults.push(`Broken: ${invariant}: ${where}.`)
      const entries = manifest.ledger.reduce((sum, currency) => sum + currency.entries, 0)
      if (findings.length === 0) agreed.push(`The ledger is whole: ${entries} entries.`)
    } finally {
      await close()
    }
  })
  return { agreed, faults }
}

function someOf<T>(all: readonly T[], count: number): T[] {
  const rest = [...all]
  const chosen: T[] = []
  while (chosen.length < count && rest.length > 0)
    chosen.push(...rest.splice(Math.floor(Math.random() * rest.length), 1))
  return chosen
}

/** Restores one archive on trial; neither where it is what its figures say. */
async function tryArchive(
  parts: VerifyParts,
  opened: Opened,
  site: Manifest['sites'][number],
): Promise<{ readonly fault?: string; readonly untried?: string }> {
  const file = path.join(parts.scratchFolder, `${site.backupId}.tar.gz`)
  try {
    fs.mkdirSync(parts.scratchFolder, { recursive: true, mode: 0o700 })
    await readerOf(parts.store, opened)(site.file, fs.createWriteStream(file, { mode: 0o600 }))
    const proof = await parts.prove(file, site.siteId, site.database)
    return isDeepStrictEqual(proof, site.figures)
      ? {}
      : { fault: `The site ${site.name} does not come up as it was: its figures differ.` }
  } catch (error) {
    if (error instanceof NowhereToProve) return { untried: error.message }
    return {
      fault:
        error instanceof BackupFault
          ? error.message
          : `The site ${site.name} does not come up from its archive: ${reasonOf(error)}.`,
    }
  } finally {
    fs.rmSync(parts.scratchFolder, { recursive: true, force: true })
  }
}

/**
 * Verifies the newest backup at the store, or the one that it is.
 * @throws BackupFault where there is none, the manifest was changed, or the passphrase is wrong
 */
export async function verifyBackup(parts: VerifyParts): Promise<Verdict> {
  const { store, signal } = parts
  const opened = await openBackup(store, parts.passphrase)
  const { manifest } = opened
  const tried = someOf(manifest.sites, archivesProven)
  const faults = await checkFiles(store, opened, new Set(tried.map(({ file }) => file)), signal)
  const agreed: string[] = []
  if (faults.length === 0) {
    try {
      const database = await tryDatabase(parts, opened)
      agreed.push(...database.agreed)
      faults.push(...database.faults)
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error
      faults.push(error.message)
    }
  }
  let proven = 0
  const untried: Verdict['untried'][number][] = []
  for (const site of tried) {
    signal?.throwIfAborted()
    const { fault, untried: why } = await tryArchive(parts, opened, site)
    if (fault !== undefined) faults.push(fault)
    else if (why !== undefined) untried.push({ name: site.name, why })
    else proven += 1
  }
  if (proven > 0)
    agreed.push(`${proven} of ${manifest.sites.length} sites came up from their archives.`)
  if (faults.length === 0) agreed.unshift(`${manifest.files.length} files are what was written.`)
  return { manifest, agreed, faults, untried }
}
