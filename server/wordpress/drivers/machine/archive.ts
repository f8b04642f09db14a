// For a process of its own: it reads and writes synchronously, which is several times faster over
// thousands of small files. A site as one archive: wordpress/… (its files),
// database/wordpress.sqlite (a snapshot, where the database is SQLite's), database.sql and
// README.txt for another host (takeaway.ts), and last manifest.json with the figures.
import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack, type Header, type Pack } from 'tar-stream'
import type { CopyFigures } from '../../driver.ts'
import { takeawayNotes, writeMysqlDump } from './takeaway.ts'
import { readDatabase, snapshotDatabase, UnfitDatabase } from './snapshot.ts'

export const filesPrefix = 'wordpress/'
const databaseName = 'database/wordpress.sqlite'
const manifestName = 'manifest.json'
/** Files for taking the site to another host; a restore does not need them. */
const takeawayNames = ['database.sql', 'README.txt'] as const
/** Written at every start, and useful on this runtime only. */
const runtimeFile = 'wp-content/db.php'
/** WordPress is mostly text; higher levels cost twice the time for a hundredth of the size. */
export const gzipLevel = 4
export const chunkBytes = 1_048_576
/** Bytes that zlib gets at a time. */
export const batchBytes = 262_144

/** The folders of a site's content. */
export interface SitePlaces {
  readonly filesDir: string
  /** Below `filesDir` or beside it; it does not count as one of the files. */
  readonly databaseDir: string
  /** Where a restore puts the dump; absent: the database is SQLite's. */
  readonly dumpFile?: string
}
export const databaseFileOf = (places: SitePlaces): string =>
  path.join(places.databaseDir, '.ht.sqlite')

interface Found {
  /** Relative to the folder of files, with `/`. */
  readonly name: string
  readonly isDirectory: boolean
}

function entriesOf(dir: string): fs.Dirent[] {
  try {
    return fs
      .readdirSync(dir, { withFileTypes: true })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    // The site has removed it since it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Folders and regular files below, in a stable order; links are left out. */
export function* walk({ filesDir, databaseDir }: SitePlaces, below = ''): Generator<Found> {
  for (const entry of entriesOf(path.join(filesDir, below))) {
    const name = `${below}${entry.name}`
    if (entry.isDirectory()) {
      if (path.join(filesDir, name) === databaseDir) continue
      yield { name, isDirectory: true }
      yield* walk({ filesDir, databaseDir }, `${name}/`)
    } else if (entry.isFile() && name !== runtimeFile) yield { name, isDirectory: false }
  }
}

/** Counts and hashes files as they are read. */
class FileCount {
  #files = 0
  #bytes = 0
  readonly #lines: [name: string, line: string][] = []

  add(name: string, bytes: number, content: Hash): void {
    this.#files++
    this.#bytes += bytes
    this.#lines.push([name, `${name}\0${bytes}\0${content.digest('hex')}\n`])
  }

  figures(): Pick<CopyFigures, 'files' | 'fileBytes' | 'filesSha256'> {
    const all = createHash('sha256')
    for (const [, line] of this.#lines.toSorted(([a], [b]) => (a < b ? -1 : 1))) all.update(line)
    return { files: this.#files, fileBytes: this.#bytes, filesSha256: all.digest('hex') }
  }
}

/**
 * Exactly `bytes` of the file: what it grew by since is left to the next backup; if it shrank,
 * zeros fill it up, as every tar does.
 */
function* exactly(descriptor: number, bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0;) {
    const chunk = Buffer.alloc(Math.min(left, chunkBytes))
    const read = fs.readSync(descriptor, chunk, 0, chunk.length, null)
    yield read > 0 ? chunk.subarray(0, read) : chunk
    left -= read > 0 ? read : chunk.length
  }
}

/**
 * Joins chunks to a quarter of a megabyte or more: a tar stream comes in small pieces (a header, a
 * small file, padding), and zlib takes a turn of the thread pool for each.
 */
export async function* batched(tar: Pack): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const chunk of tar as AsyncIterable<Buffer>) {
    held.push(chunk)
    bytes += chunk.length
    if (bytes < batchBytes) continue
    yield Buffer.concat(held)
    held = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(held)
}

const wholeOf = (chunks: Buffer[]): Buffer =>
  chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)

const put = (
  tar: Pack,
  entry: Partial<Header> & Pick<Header, 'name' | 'size'>,
  content: Iterable<Buffer>,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const done = (error?: Error | null): void => (error ? reject(error) : resolve())
  // A stream for each of thousands of small files would cost more processor time than their bytes.
  if (entry.size <= chunkBytes) tar.entry(entry, wholeOf([...content]), done)
  else Readable.from(content).on('error', reject).pipe(tar.entry(entry, done))
  return promise
}

/** Opens a file and no link; undefined when it is no longer there. */
export function openFile(file: string): number | undefined {
  try {
    return fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Adds a file and answers what was read; undefined when it no longer exists. */
export async function addFile(
  tar: Pack,
  file: string,
  name: string,
): Promise<{ readonly bytes: number; readonly content: Hash } | undefined> {
  const descriptor = openFile(file)
  if (descriptor === undefined) return undefined
  try {
    const { size, mode, mtime } = fs.fstatSync(descriptor)
    const content = createHash('sha256')
    const hashed = function* () {
      for (const chunk of exactly(descriptor, size)) {
        content.update(chunk)
        yield chunk
      }
    }
    await put(tar, { name, size, mode: mode & 0o777, mtime }, hashed())
    return { bytes: size, content }
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Adds the snapshot of SQLite, and the same data as a dump; answers the snapshot's length. */
async function addSnapshot(tar: Pack, scratchFile: string): Promise<number> {
  const database = await addFile(tar, scratchFile, databaseName)
  if (!database) throw new Error('the snapshot of the database is gone')
  const dump = `${scratchFile}.sql`
  const isWritten = writeMysqlDump(scratchFile, dump)
  if (isWritten) await addFile(tar, dump, takeawayNames[0])
  fs.rmSync(dump, { force: true })
  tar.entry({ name: takeawayNames[1] }, takeawayNotes({ hasDump: isWritten, hasSqlite: true }))
  return database.bytes
}

/** Adds a dump that exists already; answers its length. */
async function addDump(tar: Pack, dump: string): Promise<number> {
  const database = await addFile(tar, dump, takeawayNames[0])
  if (!database) throw new Error('the dump of the database is gone')
  tar.entry({ name: takeawayNames[1] }, takeawayNotes({ hasDump: true, hasSqlite: false }))
  return database.bytes
}

/**
 * Writes the archive to a descriptor, and closes that.
 * @param scratchFile temporary file for the database's snapshot
 * @param maxBytes limit of the files; a larger site is refused, because it was smaller when it was
 *   measured
 * @param dumped figures of the database whose dump is `scratchFile`; null: the database is
 *   SQLite's, and its snapshot is still to be made
 */
export async function packSite(
  places: SitePlaces,
  descriptor: number,
  scratchFile: string,
  maxBytes: number,
  dumped: CopyFigures['tables'] | null = null,
): Promise<CopyFigures> {
  // The database first: files that its rows name exist by the time that files are packed.
  const tables = dumped ?? (await snapshotDatabase(databaseFileOf(places), scratchFile))
  const tar = pack()
  const written = pipeline(
    batched(tar),
    createGzip({ level: gzipLevel, chunkSize: chunkBytes }),
    fs.createWriteStream('', { fd: descriptor }),
  )
  const fill = async (): Promise<CopyFigures> => {
    const count = new FileCount()
    let left = maxBytes
    for (const { name, isDirectory } of walk(places)) {
      const full = path.join(places.filesDir, name)
      if (isDirectory) tar.entry({ name: `${filesPrefix}${name}/`, type: 'directory', mode: 0o755 })
      else {
        const added = await addFile(tar, full, filesPrefix + name)
        if (!added) continue
        left -= added.bytes
        if (left < 0) throw new Error('the site grew too fast to be copied')
        count.add(name, added.bytes, added.content)
      }
    }
    const databaseBytes = await (dumped ? addDump : addSnapshot)(tar, scratchFile)
    const figures = { ...count.figures(), databaseBytes, tables }
    tar.entry({ name: manifestName }, JSON.stringify({ format: 1, figures }, null, 1))
    tar.finalize()
    return figures
  }
  const [figures] = await Promise.all([fill(), written])
  return figures
}

/** The parts of a name below a site's files; null where the name leads elsewhere. */
export function partsOf(inside: string): string[] | null {
  const parts = inside.replace(/\/$/, '').split('/')
  const isSound = parts.every((part) => part !== '' && part !== '.' && part !== '..')
  return isSound && !inside.includes('\0') ? parts : null
}

/** For a server that has moved to a node with another database since the backup. */
const ofAnother = (backup: string, here: string): string =>
  `the backup is of ${backup}, and the server has ${here} now: it can be moved in, not restored`

/**
 * The place of an entry: null for one that a restore leaves out, undefined for the manifest, which
 * comes last. Throws for an entry that we never write.
 */
function placeOf(places: SitePlaces, { name, type }: Header): string | null | undefined {
  const { dumpFile } = places
  if (type === 'file' && name === databaseName) {
    if (dumpFile === undefined) return databaseFileOf(places)
    throw new UnfitDatabase(ofAnother('SQLite', 'MariaDB'))
  }
  if (type === 'file' && name === takeawayNames[0] && dumpFile !== undefined) return dumpFile
  if (type === 'file' && takeawayNames.some((one) => one === name)) return null
  if (type === 'file' && name === manifestName) return undefined
  const inside = name.startsWith(filesPrefix) ? name.slice(filesPrefix.length) : ''
  const parts = type === 'file' || type === 'directory' ? partsOf(inside) : null
  if (!parts) throw new Error(`the archive holds what no backup does: ${name}`)
  const place = path.join(places.filesDir, ...parts)
  if (place === places.databaseDir || place.startsWith(places.databaseDir + path.sep))
    throw new Error(`the archive holds what no backup does: ${name}`)
  return place
}

export async function layFile(
  { mode = 0o644, mtime }: Partial<Header>,
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
  file: string,
): Promise<void> {
  const descriptor = fs.openSync(file, 'wx', mode)
  try {
    for await (const chunk of content) fs.writeSync(descriptor, chunk)
  } finally {
    fs.closeSync(descriptor)
  }
  // PHP's cache of compiled files compares this time. By path, because the permission model refuses
  // it by descriptor.
  if (mtime) fs.utimesSync(file, mtime, mtime)
}

/**
 * Unpacks the archive, read from a descriptor, into folders that do not exist yet, then counts what
 * is there. Throws when the archive ends too soon.
 */
export async function unpackSite(descriptor: number, places: SitePlaces): Promise<CopyFigures> {
  const { filesDir, databaseDir, dumpFile } = places
  // Where an engine has the database, this process may not touch its folder.
  fs.mkdirSync(dumpFile === undefined ? databaseDir : filesDir, { recursive: true })
  const tar = extract()
  let whole = false
  const lay = async (): Promise<void> => {
    for await (const entry of tar) {
      const place = placeOf(places, entry.header)
      if (place === undefined) whole = true
      else if (place === null) entry.resume()
      else if (entry.header.type === 'directory') fs.mkdirSync(place, { recursive: true })
      else await layFile(entry.header, entry as AsyncIterable<Buffer>, place)
      entry.resume()
    }
  }
  await Promise.all([
    pipeline(
      fs.createReadStream('', { fd: descriptor, highWaterMark: batchBytes }),
      createGunzip({ chunkSize: batchBytes }),
      tar,
    ),
    lay(),
  ])
  if (!whole) throw new Error('the archive is not whole')
  if (dumpFile === undefined && !fs.existsSync(databaseFileOf(places)))
    throw new UnfitDatabase(ofAnother('MariaDB', 'SQLite'))
  return countSite(places)
}

/** The figures of the content on the disk; nothing may write to it meanwhile. */
function countSite(places: SitePlaces): CopyFigures {
  const count = new FileCount()
  for (const { name, isDirectory } of walk(places)) {
    if (isDirectory) continue
    const descriptor = fs.openSync(path.join(places.filesDir, name), 'r')
    const { size } = fs.fstatSync(descriptor)
    const content = createHash('sha256')
    for (const chunk of exactly(descriptor, size)) content.update(chunk)
    fs.closeSync(descriptor)
    count.add(name, size, content)
  }
  // The tables of a dump are counted when it is loaded.
  if (places.dumpFile !== undefined)
    return {
      ...count.figures(),
      databaseBytes: fs.statSync(places.dumpFile).size,
      tables: [],
    }
  const database = databaseFileOf(places)
  return {
    ...count.figures(),
    databaseBytes: fs.statSync(database).size,
    tables: readDatabase(database),
  }
}
