// For a process of its own, as archive.ts: packs what changed in a site's content since the last
// archive, so that a copy on another machine follows while visitors go on. An archive holds the
// files that are new or were written to, the whole database, and the names of removed files.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  constants,
  createGunzip,
  createGzip,
  createZstdCompress,
  createZstdDecompress,
} from 'node:zlib'
import { extract, pack, type Pack } from 'tar-stream'
import * as z from 'zod/mini'
import type { RoundCompression, SiteChanges, SiteDatabase } from '../../driver.ts'
import {
  addFile,
  batchBytes,
  batched,
  chunkBytes,
  databaseFileOf,
  filesPrefix,
  gzipLevel,
  layFile,
  partsOf,
  walk,
  type SitePlaces,
} from './archive.ts'
import {
  carryToSqlite,
  requireCarried,
  type CountedTable,
  type TablesToMake,
} from './carry-to-sqlite.ts'
import { layReleased, Released, ReleasedNames, type Release } from './release.ts'
import { replaceDatabase, snapshotDatabase, UnfitDatabase } from './snapshot.ts'
import { writeWholeMysqlDump } from './takeaway.ts'

const databaseName = 'database/wordpress.sqlite'
const dumpName = 'database.sql'
/** The folder of the copy's database, if that is SQLite's. */
const sqliteFolder = 'wp-content/database'
/**
 * The database's form in the archive. `sqlite`: the file as it is. `dump`: SQLite's data as SQL for
 * MariaDB. An object: an engine has written and counted it as SQL already, for that database.
 */
export type PackedDatabase =
  | 'sqlite'
  | 'dump'
  | { readonly for: SiteDatabase; readonly counted: readonly CountedTable[] }
const manifestName = 'changes.json'
/**
 * A file that was written to this shortly before it was looked at is packed once more: it may be
 * written to again within the same tick of the file system's clock.
 */
const tickMs = 50
const longestManifest = 64 * 1_048_576
/** The first bytes of a frame of Zstandard (RFC 8878, section 3.1.1). */
const zstdMark = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** Zstandard's lowest level takes a quarter of gzip's CPU time here, for archives as small. */
const compressed = (as: RoundCompression) =>
  as === 'zstd'
    ? createZstdCompress({
        params: { [constants.ZSTD_c_compressionLevel]: 1 },
        chunkSize: chunkBytes,
      })
    : createGzip({ level: gzipLevel, chunkSize: chunkBytes })

/** Recognises the compression by the file's first bytes: older releases write gzip only. */
function decompressed(descriptor: number) {
  const first = Buffer.alloc(zstdMark.length)
  fs.readSync(descriptor, first, 0, first.length, 0)
  return first.equals(zstdMark)
    ? createZstdDecompress({ chunkSize: batchBytes })
    : createGunzip({ chunkSize: batchBytes })
}

const Manifest = z.object({
  removed: z.array(z.string()),
  databaseBytes: z.int(),
  databaseSha256: z.string(),
  files: z.int(),
  /** Figures of a dump that an engine has written; absent from earlier releases. */
  tables: z.optional(z.array(z.object({ name: z.string(), rows: z.int() }))),
  released: z.optional(Released),
})
/** The state of each file when it was packed, by its name; names of folders end with a slash. */
const Listing = z.record(z.string(), z.string())
type Listing = Record<string, string>

const markOf = (file: string): { mark: string; isFresh: boolean } | undefined => {
  try {
    const stat = fs.lstatSync(file, { bigint: true })
    const changedMs = Number(stat.ctimeNs / 1_000_000n)
    return {
      mark: `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}`,
      isFresh: Math.abs(Date.now() - changedMs) < tickMs,
    }
  } catch (error) {
    // The site has removed it since it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Throws where the listing cannot be read: files removed since then would be missed. */
const listingIn = (file: string): Listing =>
  Listing.parse(JSON.parse(fs.readFileSync(file, 'utf8')))

const sha256Of = (file: string): string => {
  const sum = createHash('sha256')
  const descriptor = fs.openSync(file, 'r')
  try {
    const chunk = Buffer.alloc(1_048_576)
    for (let read; (read = fs.readSync(descriptor, chunk, 0, chunk.length, null)) > 0;)
      sum.update(chunk.subarray(0, read))
  } finally {
    fs.closeSync(descriptor)
  }
  return sum.digest('hex')
}

/** Names that an earlier try of the round found changed since the round before. */
function doubtfulIn(before: Listing | undefined, tried: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const file of tried) {
    const found = listingIn(file)
    for (const name of Object.keys({ ...before, ...found }))
      if (before?.[name] !== found[name]) names.add(name)
  }
  return names
}

/** Adds changed files; answers what was packed, and the state of every file. */
async function addFiles(
  tar: Pack,
  places: SitePlaces,
  { before, doubtful }: { before: Listing | undefined; doubtful: ReadonlySet<string> },
  { maxBytes, released }: { maxBytes: number; released: ReleasedNames | null },
): Promise<{ sent: number; named: number; bytes: number; found: Listing }> {
  const found: Listing = {}
  let [sent, named, bytes] = [0, 0, 0]
  for (const { name, isDirectory } of walk(places)) {
    if (isDirectory) {
      found[`${name}/`] = ''
      if (before?.[`${name}/`] === undefined || doubtful.has(`${name}/`))
        tar.entry({ name: `${filesPrefix}${name}/`, type: 'directory', mode: 0o755 })
      continue
    }
    const file = path.join(places.filesDir, name)
    const seen = markOf(file)
    if (!seen) continue
    // An empty mark matches no file: it is packed again the next time.
    found[name] = seen.isFresh ? '' : seen.mark
    if (before?.[name] === seen.mark && !doubtful.has(name)) continue
    const known = released?.note(name, file)
    const added = known ?? (await addFile(tar, file, filesPrefix + name))?.bytes
    if (added === undefined) {
      delete found[name]
      continue
    }
    if (known === undefined) sent++
    else named++
    bytes += added
    if (bytes > maxBytes) throw new Error('the site grew too fast to be copied')
  }
  return { sent, named, bytes, found }
}

/**
 * Writes what changed to a descriptor, and closes that.
 * @param scratchFile temporary file for the database's snapshot, or the dump that exists already
 * @param since the listing of what the other copy has; null: it has nothing yet
 * @param tried listings of earlier tries of this round, each of which the copy may have applied
 * @param listing where the new listing is written
 */
export async function packChanges(
  places: SitePlaces,
  descriptor: number,
  of: {
    readonly scratchFile: string
    readonly maxBytes: number
    readonly since: string | null
    readonly tried: readonly string[]
    readonly listing: string
    readonly database: PackedDatabase
    readonly compression: RoundCompression
    /** Files equal to its own are only named: the other node has them. Null: all are sent. */
    readonly release: Release | null
  },
): Promise<SiteChanges> {
  const dumped = typeof of.database === 'object' ? of.database : null
  if (dumped?.for === 'sqlite' && fs.existsSync(path.join(places.filesDir, sqliteFolder)))
    throw new UnfitDatabase(`the site has files in ${sqliteFolder}, where SQLite's database stands`)
  // Checked before anything is copied; the other node checks each round.
  if (dumped?.for === 'sqlite' && of.since === null) requireCarried(of.scratchFile)
  // The database first: files that its rows name exist by the time that files are packed.
  if (!dumped) await snapshotDatabase(databaseFileOf(places), of.scratchFile)
  const dump = of.database === 'dump' ? `${of.scratchFile}.sql` : of.scratchFile
  if (of.database === 'dump') writeWholeMysqlDump(of.scratchFile, dump)
  const [packed, name] =
    of.database === 'sqlite' ? [of.scratchFile, databaseName] : [dump, dumpName]
  const before = of.since === null ? undefined : listingIn(of.since)
  const doubtful = doubtfulIn(before, of.tried)
  const tar = pack()
  const written = pipeline(
    batched(tar),
    compressed(of.compression),
    fs.createWriteStream('', { fd: descriptor }),
  )
  const fill = async (): Promise<SiteChanges> => {
    const released = of.release && new ReleasedNames(of.release)
    const limits = { maxBytes: of.maxBytes, released }
    const { sent, named, bytes, found } = await addFiles(tar, places, { before, doubtful }, limits)
    const database = await addFile(tar, packed, name)
    if (!database) throw new Error('the snapshot of the database is gone')
    const known = new Set([...Object.keys(before ?? {}), ...doubtful])
    const removed = [...known].filter((name) => !Object.hasOwn(found, name))
    const manifest = {
      removed,
      databaseBytes: database.bytes,
      databaseSha256: database.content.digest('hex'),
      files: sent,
      ...(released && { released: released.told() }),
      ...(dumped && { tables: dumped.counted.map(({ name, rows }) => ({ name, rows })) }),
    } satisfies z.infer<typeof Manifest>
    tar.entry({ name: manifestName }, JSON.stringify(manifest))
    tar.finalize()
    // Renamed once it is complete, because a later try reads it.
    fs.writeFileSync(`${of.listing}.part`, JSON.stringify(found))
    fs.renameSync(`${of.listing}.part`, of.listing)
    const databaseBytes = database.bytes
    return {
      files: sent + named,
      removed: removed.length,
      bytes: bytes + databaseBytes,
      databaseBytes,
    }
  }
  const [changes] = await Promise.all([fill(), written])
  return changes
}

/** The place of an archive's entry. Throws where the name leads outside the site's files. */
function placeOf({ filesDir, databaseDir }: SitePlaces, name: string): string {
  const parts = partsOf(name)
  const place = parts && path.join(filesDir, ...parts)
  if (!place || place === databaseDir || place.startsWith(databaseDir + path.sep))
    throw new Error(`the archive holds what no copy does: ${name}`)
  return place
}

/**
 * Makes the folders on the way. Throws where one is a link: the copy's PHP may have run already.
 * @param made folders that need no second check, for a content that nothing else writes to
 */
function makeWay(filesDir: string, folder: string, made?: Set<string>): void {
  if (folder === filesDir || made?.has(folder)) return
  makeWay(filesDir, path.dirname(folder), made)
  const found = fs.lstatSync(folder, { throwIfNoEntry: false })
  made?.add(folder)
  if (found?.isDirectory()) return
  if (found) fs.rmSync(folder)
  fs.mkdirSync(folder)
}

function takeAway(places: SitePlaces, name: string): void {
  const place = placeOf(places, name)
  for (let folder = path.dirname(place); folder !== places.filesDir; folder = path.dirname(folder))
    if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  fs.rmSync(place, { recursive: true, force: true })
}

/** What was applied, and what remains before a dump becomes SQLite's database. */
export interface LaidChanges extends SiteChanges {
  readonly waits?: { readonly tables: TablesToMake; readonly counted: readonly CountedTable[] }
}

export interface LayOrder {
  /** Temporary file for the database that the archive brings. */
  readonly scratchFile: string
  /** The copy's database; a dump for MariaDB is left in `scratchFile`, for the engine. */
  readonly database: SiteDatabase
  /** Empty tables that WordPress's driver has made for an earlier dump; null: none. */
  readonly made: { readonly key: string; readonly file: string } | null
  /** The content is new: its folders are empty, and nothing else writes to it. */
  readonly isWhole: boolean
  /** This node's release, from which files come that the archive only names. */
  readonly release: Release | null
}

/**
 * Makes the copy's database out of the unpacked dump; answers the tables that PHP must make first,
 * or null where all is done. Throws UnfitDatabase for what SQLite would not keep.
 */
export async function layDump(
  places: SitePlaces,
  { scratchFile, made }: LayOrder,
  counted: readonly CountedTable[],
): Promise<TablesToMake | null> {
  const target = `${scratchFile}.carried`
  const tables = carryToSqlite(scratchFile, target, made, counted)
  if (!tables) await replaceDatabase(target, databaseFileOf(places))
  return tables
}

/**
 * Applies the archive, read from a descriptor, to a content that is as the archive before left it,
 * or to empty folders. Each file is replaced at once; the database is written in one transaction of
 * its own, because the site's PHP may have it open.
 */
export async function unpackChanges(
  descriptor: number,
  places: SitePlaces,
  order: LayOrder,
): Promise<LaidChanges> {
  const { scratchFile, database } = order
  if (database === 'sqlite') fs.mkdirSync(places.databaseDir, { recursive: true })
  const tar = extract()
  let manifest: z.infer<typeof Manifest> | undefined
  let laid: string | undefined
  const made = order.isWhole ? new Set<string>() : undefined
  const layAt = async (...[header, content, place]: Parameters<typeof layFile>): Promise<void> => {
    makeWay(places.filesDir, path.dirname(place), made)
    // A kill needs no care here: the whole content is then unpacked again.
    if (order.isWhole) return await layFile(header, content, place)
    // The name is the same at every try, so a killed try leaves no other file behind.
    const coming = `${place}.portal-coming`
    fs.rmSync(coming, { force: true })
    await layFile(header, content, coming)
    if (fs.lstatSync(place, { throwIfNoEntry: false })?.isDirectory())
      fs.rmSync(place, { recursive: true })
    fs.renameSync(coming, place)
  }
  let [files, bytes] = [0, 0]
  const lay = async (): Promise<void> => {
    for await (const entry of tar) {
      const { name, type, size } = entry.header
      if (type === 'file' && name === manifestName && size < longestManifest) {
        const chunks: Buffer[] = []
        for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
        manifest = Manifest.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      } else if (
        type === 'file' &&
        (name === dumpName || (name === databaseName && database === 'sqlite'))
      ) {
        laid = name
        await layFile({}, entry as AsyncIterable<Buffer>, scratchFile)
      } else {
        const place = placeOf(
          places,
          name.startsWith(filesPrefix) ? name.slice(filesPrefix.length) : '',
        )
        if (type === 'file') {
          await layAt(entry.header, entry as AsyncIterable<Buffer>, place)
          files++
          bytes += size
        } else if (type === 'directory') makeWay(places.filesDir, place, made)
        else throw new Error(`the archive holds what no copy does: ${name}`)
      }
      entry.resume()
    }
  }
  await Promise.all([
    pipeline(
      fs.createReadStream('', { fd: descriptor, highWaterMark: batchBytes }),
      decompressed(descriptor),
      tar,
    ),
    lay(),
  ])
  if (!manifest || files !== manifest.files) throw new Error('the archive is not whole')
  if (sha256Of(scratchFile) !== manifest.databaseSha256)
    throw new Error('the database of the archive is not what was packed')
  const named = manifest.released
    ? await layReleased(manifest.released, order.release, async (name, header, content) => {
        await layAt(header, [content], placeOf(places, name))
      })
    : { files: 0, bytes: 0 }
  for (const name of manifest.removed) takeAway(places, name)
  const changes = {
    files: files + named.files,
    removed: manifest.removed.length,
    bytes: bytes + named.bytes + manifest.databaseBytes,
    databaseBytes: manifest.databaseBytes,
  }
  if (database === 'mariadb') return changes
  if (laid === databaseName) {
    await replaceDatabase(scratchFile, databaseFileOf(places))
    return changes
  }
  const counted = manifest.tables ?? []
  const tables = await layDump(places, order, counted)
  return { ...changes, ...(tables && { waits: { tables, counted } }) }
}
