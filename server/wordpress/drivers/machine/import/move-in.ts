/**
 * For a process of its own, confined to the copy's folders: makes a site of a customer's package.
 * WordPress itself is the platform's; the package provides wp-content, other files of its root, and
 * the database.
 */
import fs from 'node:fs'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import type { ImportNote, ImportFound, ImportProblem } from '../../../driver.ts'
import { databaseFileOf, type SitePlaces } from '../archive.ts'
import { readDatabase, UnfitDatabase, withDatabase } from '../snapshot.ts'
import { PackageFault } from './package-fault.ts'
import { findParts, prefixIn, versionIn, type FoundParts } from './recognise.ts'
import { prefixOf, stageDump } from './sql-dump.ts'
import { Unpacking, type UnpackLimits } from './unpack.ts'

/** The file of statements that PHP loads; it lies below a folder that is never served. */
export const stageName = '.import.jsonl'

export interface MoveInOrder {
  readonly op: 'import'
  /** The database into which the site's own PHP loads it. */
  readonly database: 'sqlite' | 'mariadb'
  readonly places: SitePlaces
  /** An empty folder in which the packages are unpacked; it is removed afterwards. */
  readonly rawDir: string
  /** Number of packages: they are descriptors 4, 5, … */
  readonly packages: number
  readonly limits: UnpackLimits & { readonly diskBytes: number; readonly databaseBytes: number }
}

export type MovedIn = { readonly found: ImportFound } | { readonly problem: ImportProblem }

/** Parts that only make sense at the package's former host: caches and their drop-ins, backups. */
const leftOutOfContent = new Set([
  'db.php',
  'object-cache.php',
  'advanced-cache.php',
  'database',
  'cache',
  'upgrade',
  'updraft',
  'ai1wm-backups',
  'backups-dup-lite',
  'backups-dup-pro',
  'upgrade-temp-backup',
])
const dropIns = new Set(['db.php', 'object-cache.php', 'advanced-cache.php'])
/** Names that belong to core, or to plugins that make packages. */
const leftOutOfRoot = new RegExp(
  `^(?:${[
    'wp-[\\w-]+',
    'wp-.*\\.php',
    'index\\.php',
    'xmlrpc\\.php',
    'readme\\.(?:html|txt)',
    'licen[cs]e.*',
    'dup-installer.*',
    '.*installer.*\\.php',
    '.*\\.(?:sql|gz|zip|wpress|log)',
    'database',
    'manifest\\.json',
    '\\.(?!well-known$).*',
  ].join('|')})$`,
  'i',
)
const usualFirst = 4
const prefixShape = /^[A-Za-z0-9_]{0,60}$/

function bytesBelow(folder: string): { files: number; bytes: number } {
  let [files, bytes] = [0, 0]
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) {
      files++
      bytes += fs.lstatSync(path.join(entry.parentPath, entry.name)).size
    }
  return { files, bytes }
}

/** Moves one entry; an existing folder is merged with the new one. */
function merge(from: string, to: string): void {
  const there = fs.lstatSync(to, { throwIfNoEntry: false })
  if (there?.isDirectory() === true && fs.lstatSync(from).isDirectory()) {
    for (const name of fs.readdirSync(from)) merge(path.join(from, name), path.join(to, name))
    return
  }
  if (there) fs.rmSync(to, { recursive: true, force: true })
  try {
    fs.renameSync(from, to)
  } catch (error) {
    // The site's content may be on another disk.
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    fs.cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    fs.rmSync(from, { recursive: true, force: true })
  }
}

function placeFiles(parts: FoundParts, places: SitePlaces, notes: ImportNote[]): void {
  const content = path.join(places.filesDir, 'wp-content')
  const replaced = new Set<string>()
  const dropped: string[] = []
  for (const from of parts.contents)
    for (const name of fs.readdirSync(from)) {
      if (leftOutOfContent.has(name)) {
        if (dropIns.has(name)) dropped.push(name)
        continue
      }
      // Files of the package's top folder that are not content: the dump, package.json.
      if (/\.(?:sql|gz|json|sqlite)$/i.test(name)) continue
      const to = path.join(content, name)
      // The package replaces what WordPress ships; only translations are merged.
      if (!replaced.has(name) && name !== 'languages')
        fs.rmSync(to, { recursive: true, force: true })
      replaced.add(name)
      merge(path.join(from, name), to)
    }
  const left: string[] = []
  for (const root of parts.roots)
    for (const name of fs.readdirSync(root)) {
      if (name === 'wp-content' || leftOutOfRoot.test(name)) continue
      // Programs beside WordPress are left out: they are no part of it, and may be the former
      // host's.
      if (/\.(?:php\d?|phtml|phar|cgi|pl)$/i.test(name)) left.push(name)
      else merge(path.join(root, name), path.join(places.filesDir, name))
    }
  if (dropped.length > 0) notes.push({ code: 'dropins_left_out', detail: dropped.join(', ') })
  if (left.length > 0) notes.push({ code: 'root_left_out', detail: left.slice(0, 10).join(', ') })
}

const salts = ['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'].flatMap((name) => [
  `${name}_KEY`,
  `${name}_SALT`,
])

/** Writes wp-config.php as the runtime does for a new site (php.js), with the package's prefix. */
function writeConfig(places: SitePlaces, prefix: string): void {
  const defined = (name: string, value: string): string => `define( '${name}', '${value}' );`
  const guarded = (name: string, value: string): string =>
    `defined( '${name}' ) || define( '${name}', ${value} );`
  const lines = [
    '<?php',
    '// The hosting platform sets address, database and limits before this file is read.',
    guarded('DB_NAME', "'wordpress'"),
    guarded('DB_USER', "'wordpress'"),
    guarded('DB_PASSWORD', "''"),
    guarded('DB_HOST', "'localhost'"),
    guarded('DB_CHARSET', "'utf8mb4'"),
    guarded('DB_COLLATE', "''"),
    ...salts.map((name) => defined(name, randomBytes(48).toString('base64url'))),
    `$table_prefix = '${prefix}';`,
    guarded('WP_DEBUG', 'false'),
    guarded('ABSPATH', "__DIR__ . '/'"),
    "require_once ABSPATH . 'wp-settings.php';",
    '',
  ]
  const config = path.join(places.filesDir, 'wp-config.php')
  fs.rmSync(config, { force: true })
  fs.writeFileSync(config, lines.join('\n'), { mode: 0o640 })
}

/** Takes over a SQLite file of the portal's own, after the checks of a restore. */
function takeSqlite(file: string, places: SitePlaces, wished: string | undefined) {
  let counted
  try {
    counted = readDatabase(file)
  } catch (error) {
    if (error instanceof UnfitDatabase) throw new PackageFault('damaged', error.message)
    throw error
  }
  const tables = counted.filter(
    ({ name }) => !name.startsWith('_wp_sqlite_') && !name.startsWith('sqlite_'),
  )
  const prefix = prefixOf(
    tables.map(({ name }) => name),
    wished,
  )
  // Triggers and views are SQL that runs by itself: WordPress on this runtime has none.
  const programs = withDatabase(file, (database) =>
    database.prepare("select name from sqlite_schema where type in ('trigger', 'view')").all(),
  )
  if (programs.length > 0) throw new PackageFault('damaged', 'the database holds programs')
  fs.mkdirSync(places.databaseDir, { recursive: true })
  fs.renameSync(file, databaseFileOf(places))
  return { prefix, tables: tables.length, rows: tables.reduce((sum, { rows }) => sum + rows, 0) }
}

/** Unpacks compressed dumps inside a package, within the limits of the package as a whole. */
async function unpackDumps(uploads: readonly string[], unpacking: Unpacking): Promise<void> {
  for (const upload of uploads)
    for (const entry of fs.readdirSync(upload, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile() || !/\.sql\.gz$|db\.gz$/i.test(entry.name)) continue
      if (entry.parentPath.includes('wp-content')) continue
      const file = path.join(entry.parentPath, entry.name)
      await unpacking.gunzip(file, `${file}.sql`)
      fs.rmSync(file)
    }
}

async function build(order: MoveInOrder, firstDescriptor: number): Promise<ImportFound> {
  const { places, rawDir, limits } = order
  const unpacking = new Unpacking(limits)
  const uploads: string[] = []
  let isWpress = false
  for (let index = 0; index < order.packages; index++) {
    const folder = path.join(rawDir, String(index))
    // Core is not taken from the package, except the file with its version.
    const kind = await unpacking.run(firstDescriptor + index, folder, (parts) => {
      const at = parts.findIndex((part) => part === 'wp-admin' || part === 'wp-includes')
      if (at < 0 || parts.includes('wp-content')) return false
      return !(parts[at] === 'wp-includes' && parts[at + 1] === 'version.php')
    })
    isWpress ||= kind === 'wpress'
    uploads.push(folder)
  }
  await unpackDumps(uploads, unpacking)
  const parts = findParts(uploads, isWpress)
  const notes: ImportNote[] = []
  const wished = prefixIn(parts.roots)
  const version = versionIn(parts.roots)
  const hasSqlite = parts.sqlite !== null && order.database === 'sqlite'
  if (!hasSqlite && parts.dumps.length === 0) throw new PackageFault('no_database')
  if (parts.contents.length === 0) throw new PackageFault('no_content')
  // Before the files are placed: visitors could download a dump among them.
  const dump = path.join(rawDir, 'dump')
  for (const [index, file] of parts.dumps.entries())
    if (index === 0) fs.renameSync(file, dump)
    else fs.rmSync(file)
  placeFiles(parts, places, notes)
  fs.mkdirSync(places.databaseDir, { recursive: true })
  // The folder itself stays, because it may have a limit of its own.
  for (const name of fs.readdirSync(places.databaseDir))
    fs.rmSync(path.join(places.databaseDir, name), { recursive: true, force: true })
  let database: { prefix: string; tables: number; rows: number }
  let stageBytes = 0
  if (parts.sqlite !== null && order.database === 'sqlite')
    database = takeSqlite(parts.sqlite, places, wished)
  else {
    const stage = path.join(places.databaseDir, stageName)
    const staged = await stageDump(dump, stage, wished)
    notes.push(...staged.notes)
    database = staged
    stageBytes = fs.statSync(stage).size
  }
  if (!prefixShape.test(database.prefix)) throw new PackageFault('no_tables', database.prefix)
  writeConfig(places, database.prefix)
  if (unpacking.linksLeftOut > 0)
    notes.push({ code: 'links_left_out', detail: String(unpacking.linksLeftOut) })
  if (unpacking.oddNames > 0) notes.push({ code: 'names_odd', detail: String(unpacking.oddNames) })
  const inDatabase = bytesBelow(places.databaseDir)
  const all = bytesBelow(places.filesDir)
  const isBelow = places.databaseDir.startsWith(places.filesDir + path.sep)
  const files = isBelow ? all.files - inDatabase.files : all.files
  const fileBytes = isBelow ? all.bytes - inDatabase.bytes : all.bytes
  if (fileBytes > limits.diskBytes || inDatabase.bytes - stageBytes > limits.databaseBytes)
    throw new PackageFault('too_large')
  return {
    maker: parts.maker,
    prefix: database.prefix,
    version,
    files,
    fileBytes,
    tables: database.tables,
    rows: database.rows,
    stageBytes,
    notes,
  }
}

/**
 * The parts that were found, or why the package cannot be moved in. Throws faults of this machine.
 * `firstDescriptor`: the first package's.
 */
export async function moveIn(order: MoveInOrder, firstDescriptor = usualFirst): Promise<MovedIn> {
  try {
    return { found: await build(order, firstDescriptor) }
  } catch (error) {
    if (error instanceof PackageFault) return { problem: error.problem }
    throw error
  } finally {
    fs.rmSync(order.rawDir, { recursive: true, force: true })
  }
}
