/**
 * Unpacks a customer's package into an empty folder. The package is hostile: names that lead
 * outside are refused, links and devices are left out, and sizes are limited while writing.
 */
import fs from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { PackageFault, streamOf, type PackageEntry } from './package-fault.ts'
import { headBytes, isWpressHead, readWpress } from './wpress.ts'
import { readZip } from './zip.ts'

export interface UnpackLimits {
  /** Limit of all files together, unpacked. */
  readonly maxBytes: number
  readonly maxFiles: number
}

/** The kind of an uploaded file, by its content. */
export type UploadKind = 'zip' | 'tar' | 'wpress' | 'sql'

/** Highest compression ratio: genuine content compresses less, a bomb a thousandfold. */
const mostRatio = 200
/** Bytes that may be unpacked in any case, however small the package is. */
const freeBytes = 64 * 1_048_576
/** Same limits as the site's own disk has (the runtime's disk-budget.js). */
const longestPath = 900
const longestName = 255
const sniffBytes = 65_536

/** The first bytes of a file; fewer where it is shorter. */
function headOf(descriptor: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let at = 0
  for (let read = 1; read > 0 && at < length; at += read)
    read = fs.readSync(descriptor, bytes, at, length - at, at)
  return bytes.subarray(0, at)
}

const isTarHead = (head: Buffer): boolean => head.subarray(257, 262).toString('latin1') === 'ustar'

const sqlWords = /\b(?:CREATE\s+TABLE|INSERT\s+INTO|DROP\s+TABLE)\b/i
const sqlTitles = /^-- (?:MySQL|MariaDB) dump|phpMyAdmin SQL Dump/im
/** Whether the head looks like a dump of MySQL or MariaDB. */
export function looksLikeSql(head: Buffer): boolean {
  const text = head.includes(0) ? '' : head.toString('latin1')
  return sqlWords.test(text) || sqlTitles.test(text)
}

/** The first bytes of the content of a gzip file. */
async function headInside(descriptor: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const raw = streamOf(descriptor)
  const plain = raw.pipe(createGunzip())
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= sniffBytes) break
    }
  } catch {
    throw new PackageFault('damaged', 'gzip')
  } finally {
    raw.destroy()
    plain.destroy()
  }
  return Buffer.concat(chunks).subarray(0, sniffBytes)
}

/** The kind of a file, and whether it is gzipped. Throws PackageFault for an unknown kind. */
export async function kindOf(descriptor: number): Promise<{ kind: UploadKind; gzip: boolean }> {
  const head = headOf(descriptor, sniffBytes)
  const mark = head.subarray(0, 4).toString('latin1')
  if (mark === 'PK\u0003\u0004' || mark === 'PK\u0005\u0006') return { kind: 'zip', gzip: false }
  const gzip = head[0] === 0x1f && head[1] === 0x8b
  const inside = gzip ? await headInside(descriptor) : head
  if (isTarHead(inside)) return { kind: 'tar', gzip }
  if (!gzip && isWpressHead(head.subarray(0, headBytes))) return { kind: 'wpress', gzip }
  if (looksLikeSql(inside)) return { kind: 'sql', gzip }
  throw new PackageFault('unknown_format')
}

const tarKinds: Readonly<Record<string, PackageEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'directory',
  symlink: 'link',
  link: 'link',
}

async function* readTar(source: Readable): AsyncGenerator<PackageEntry> {
  const tar = extract()
  const fed = pipeline(source, tar)
  fed.catch(() => {})
  try {
    for await (const entry of tar) {
      const { name, type, mtime } = entry.header as Header
      yield {
        name,
        kind: tarKinds[type ?? 'file'] ?? 'other',
        mtime: mtime ?? undefined,
        content: () => entry as AsyncIterable<Buffer>,
      }
      entry.resume()
    }
    await fed
  } catch (error) {
    if (error instanceof PackageFault) throw error
    throw new PackageFault('damaged', (error as Error).message)
  }
}

/** The parts of a name below the folder. Throws PackageFault for a name that leads elsewhere. */
export function partsOf(name: string): string[] {
  const plain = name.replaceAll('\\', '/')
  if (plain.includes('\0') || plain.startsWith('/') || /^[a-z]:/i.test(plain))
    throw new PackageFault('leads_outside', name)
  const parts = plain.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw new PackageFault('leads_outside', name)
  const isLong =
    parts.some((part) => Buffer.byteLength(part) > longestName) ||
    Buffer.byteLength(plain) > longestPath
  if (isLong) throw new PackageFault('name_too_long', name.slice(0, 200))
  return parts
}

/** Unpacks all packages of one import, and counts what is written for them together. */
export class Unpacking {
  files = 0
  bytes = 0
  linksLeftOut = 0
  oddNames = 0
  readonly #limits: UnpackLimits

  constructor(limits: UnpackLimits) {
    this.#limits = limits
  }

  /** Makes a folder and its parents: each counts as a file on the disk. */
  #folder(folder: string): void {
    const first = fs.mkdirSync(folder, { recursive: true })
    if (first === undefined) return
    this.files += path.relative(first, folder).split(path.sep).length
    if (this.files > this.#limits.maxFiles) throw new PackageFault('too_many_files')
  }

  async #lay(entry: PackageEntry, file: string, allowed: number): Promise<void> {
    this.#folder(path.dirname(file))
    // No link was ever unpacked here, and none is followed.
    const flags =
      fs.constants.O_WRONLY |
      fs.constants.O_CREAT |
      fs.constants.O_TRUNC |
      (fs.constants.O_NOFOLLOW ?? 0)
    const descriptor = fs.openSync(file, flags, 0o644)
    try {
      for await (const chunk of entry.content()) {
        this.#count(chunk.length, allowed, entry.name)
        fs.writeSync(descriptor, chunk)
      }
    } finally {
      fs.closeSync(descriptor)
    }
    if (entry.mtime) fs.utimesSync(file, entry.mtime, entry.mtime)
  }

  /** The limit of `bytes` while a packed file of that size is unpacked. */
  #allowedAfter(packedBytes: number): number {
    return this.bytes + freeBytes + packedBytes * mostRatio
  }
  /** Counts bytes before they are written; `name` is the packed file's. */
  #count(bytes: number, allowed: number, name: string): void {
    this.bytes += bytes
    if (this.bytes > this.#limits.maxBytes) throw new PackageFault('too_large')
    if (this.bytes > allowed) throw new PackageFault('bomb', name)
  }

  /** Unpacks a gzip file of a package into `to`; it counts as the packages do. */
  async gunzip(file: string, to: string): Promise<void> {
    const name = path.basename(file)
    if (++this.files > this.#limits.maxFiles) throw new PackageFault('too_many_files')
    const allowed = this.#allowedAfter(fs.statSync(file).size)
    const count = this.#count.bind(this)
    async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        count(chunk.length, allowed, name)
        yield chunk
      }
    }
    const into = fs.createWriteStream(to, { flags: 'wx' })
    await pipeline(fs.createReadStream(file), createGunzip(), counted, into).catch(
      (error: unknown) => {
        if (error instanceof PackageFault) throw error
        throw new PackageFault('damaged', name)
      },
    )
  }

  /** Unpacks the content of a descriptor below `folder`. `skip`: names that are not wanted. */
  async run(
    descriptor: number,
    folder: string,
    skip: (parts: readonly string[]) => boolean,
  ): Promise<UploadKind> {
    const { kind, gzip } = await kindOf(descriptor)
    const { size } = fs.fstatSync(descriptor)
    const allowed = this.#allowedAfter(size)
    const raw = (): Readable => {
      const file = streamOf(descriptor)
      if (!gzip) return file
      const plain = createGunzip({ chunkSize: 262_144 })
      file.once('error', (error) => plain.destroy(error))
      return file.pipe(plain)
    }
    fs.mkdirSync(folder, { recursive: true })
    let entries: Iterable<PackageEntry> | AsyncIterable<PackageEntry>
    if (kind === 'zip') entries = readZip(descriptor, this.#limits.maxFiles)
    else if (kind === 'wpress') entries = readWpress(descriptor, this.#limits.maxFiles)
    else if (kind === 'tar') entries = readTar(raw())
    else
      entries = [
        {
          name: 'database.sql',
          kind: 'file',
          mtime: undefined,
          content: () => raw() as AsyncIterable<Buffer>,
        },
      ]
    for await (const entry of entries) {
      if (++this.files > this.#limits.maxFiles) throw new PackageFault('too_many_files')
      const parts = partsOf(entry.name)
      if (parts.length === 0 || skip(parts)) continue
      if (entry.name.includes('\ufffd')) this.oddNames++
      const place = path.join(folder, ...parts)
      try {
        if (entry.kind === 'directory') this.#folder(place)
        else if (entry.kind === 'file') await this.#lay(entry, place, allowed)
        else this.linksLeftOut++
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        // The same name is a file in one place and a folder in another.
        if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'EEXIST')
          throw new PackageFault('damaged', entry.name)
        if (code?.startsWith('Z_') === true || code === 'ERR_STREAM_PREMATURE_CLOSE')
          throw new PackageFault('damaged', entry.name)
        throw error
      }
    }
    return kind
  }
}
