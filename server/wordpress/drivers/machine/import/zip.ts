/**
 * Reads a zip by its central directory (PKWARE APPNOTE 6.3.10, zip64 too) from a descriptor. Its
 * own statements are not trusted: sizes and checksums are compared with the content.
 */
import { fstatSync, readSync } from 'node:fs'
import { crc32, createInflateRaw } from 'node:zlib'
import { nameOf, PackageFault, streamOf, type PackageEntry } from './package-fault.ts'

const endMark = 0x06054b50
const end64Mark = 0x06064b50
const locator64Mark = 0x07064b50
const entryMark = 0x02014b50
const localMark = 0x04034b50
const endBytes = 22
const longestComment = 65_535
const entryBytes = 46
const localBytes = 30
const allOnes = 0xffff_ffff
/** The file type in Unix's mode, which is the upper half of the external attributes; stat(2). */
const typeMask = 0o170000
const unixTypes: Readonly<Record<number, PackageEntry['kind']>> = {
  0: 'file',
  0o100000: 'file',
  0o040000: 'directory',
  0o120000: 'link',
}

const damaged = (why: string): PackageFault => new PackageFault('damaged', why)

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length;) {
    const read = readSync(descriptor, bytes, at, length - at, position + at)
    if (read === 0) throw damaged('the zip ends too soon')
    at += read
  }
  return bytes
}

interface Directory {
  readonly at: number
  readonly bytes: number
  readonly entries: number
}

function directoryOf(descriptor: number, size: number): Directory {
  const tailBytes = Math.min(size, endBytes + longestComment)
  const tail = readAt(descriptor, size - tailBytes, tailBytes)
  let at = tail.length - endBytes
  while (at >= 0 && tail.readUInt32LE(at) !== endMark) at--
  if (at < 0) throw damaged('the zip has no directory')
  const plain = {
    entries: tail.readUInt16LE(at + 10),
    bytes: tail.readUInt32LE(at + 12),
    at: tail.readUInt32LE(at + 16),
  }
  const isLarge = plain.entries === 0xffff || plain.bytes === allOnes || plain.at === allOnes
  const locatorAt = size - tailBytes + at - 20
  if (!isLarge || locatorAt < 0) return plain
  const locator = readAt(descriptor, locatorAt, 20)
  if (locator.readUInt32LE(0) !== locator64Mark) return plain
  const end = readAt(descriptor, Number(locator.readBigUInt64LE(8)), 56)
  if (end.readUInt32LE(0) !== end64Mark) throw damaged('the zip64 directory is not where it says')
  return {
    entries: Number(end.readBigUInt64LE(32)),
    bytes: Number(end.readBigUInt64LE(40)),
    at: Number(end.readBigUInt64LE(48)),
  }
}

/**
 * 64-bit sizes and offset of an entry, in this order, for fields that did not fit in 32 bits
 * (APPNOTE 4.5.3); and its Unicode name.
 */
function enlarge(extra: Buffer, values: number[]): { values: number[]; unicode: string | null } {
  const out = [...values]
  let unicode: string | null = null
  for (let at = 0; at + 4 <= extra.length;) {
    const id = extra.readUInt16LE(at)
    const body = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2))
    if (id === 1) {
      let place = 0
      for (const [index, value] of values.entries())
        if (value === allOnes && place + 8 <= body.length) {
          out[index] = Number(body.readBigUInt64LE(place))
          place += 8
        }
    }
    // Info-ZIP's name in UTF-8 (APPNOTE 4.6.9).
    if (id === 0x7075 && body.length > 5) unicode = nameOf(body.subarray(5))
    at += 4 + extra.readUInt16LE(at + 2)
  }
  return { values: out, unicode }
}

function timeOf(date: number, time: number): Date | undefined {
  const made = new Date(
    Date.UTC(
      1980 + (date >> 9),
      ((date >> 5) & 15) - 1,
      date & 31,
      time >> 11,
      (time >> 5) & 63,
      (time & 31) * 2,
    ),
  )
  return Number.isNaN(made.getTime()) ? undefined : made
}

/** The entries, in the order of the directory. Throws PackageFault. */
export function* readZip(descriptor: number, maxEntries: number): Generator<PackageEntry> {
  const { size } = fstatSync(descriptor)
  if (size < endBytes) throw damaged('the zip is too short')
  const directory = directoryOf(descriptor, size)
  if (directory.entries > maxEntries) throw new PackageFault('too_many_files')
  if (directory.at + directory.bytes > size) throw damaged('the directory lies outside of the zip')
  let at = directory.at
  for (let index = 0; index < directory.entries; index++) {
    const head = readAt(descriptor, at, entryBytes)
    if (head.readUInt32LE(0) !== entryMark) throw damaged('the directory is broken')
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((one) => head.readUInt16LE(one))
    const rest = readAt(descriptor, at + entryBytes, nameBytes! + extraBytes!)
    at += entryBytes + nameBytes! + extraBytes! + commentBytes!
    const { values, unicode } = enlarge(rest.subarray(nameBytes), [
      head.readUInt32LE(24),
      head.readUInt32LE(20),
      head.readUInt32LE(42),
    ])
    const [bytes, packed, localAt] = values as [number, number, number]
    const name = unicode ?? nameOf(rest.subarray(0, nameBytes))
    if ((head.readUInt16LE(8) & 1) !== 0) throw new PackageFault('encrypted', name)
    const method = head.readUInt16LE(10)
    if (method !== 0 && method !== 8) throw new PackageFault('unknown_format', `${name}: ${method}`)
    const sum = head.readUInt32LE(16)
    const madeOnUnix = head.readUInt8(5) === 3
    const type = madeOnUnix ? (head.readUInt32LE(38) >>> 16) & typeMask : 0
    const kind = /[/\\]$/.test(name) ? 'directory' : (unixTypes[type] ?? 'other')
    yield {
      name,
      kind,
      mtime: timeOf(head.readUInt16LE(14), head.readUInt16LE(12)),
      content: () => contentOf(descriptor, { name, localAt, packed, bytes, method, sum }),
    }
  }
}

async function* contentOf(
  descriptor: number,
  of: {
    name: string
    localAt: number
    packed: number
    bytes: number
    method: number
    sum: number
  },
): AsyncGenerator<Buffer> {
  const local = readAt(descriptor, of.localAt, localBytes)
  if (local.readUInt32LE(0) !== localMark) throw damaged(of.name)
  const start = of.localAt + localBytes + local.readUInt16LE(26) + local.readUInt16LE(28)
  let out = 0
  let sum = 0
  if (of.packed > 0) {
    const raw = streamOf(descriptor, start, of.packed)
    const plain = of.method === 0 ? raw : raw.pipe(createInflateRaw({ chunkSize: 262_144 }))
    if (plain !== raw) raw.once('error', (error) => plain.destroy(error))
    try {
      for await (const chunk of plain as AsyncIterable<Buffer>) {
        out += chunk.length
        if (out > of.bytes) throw damaged(`${of.name} is longer than it says`)
        sum = crc32(chunk, sum)
        yield chunk
      }
    } catch (error) {
      if (error instanceof PackageFault) throw error
      throw damaged(`${of.name}: ${(error as Error).message}`)
    } finally {
      raw.destroy()
    }
  }
  if (out !== of.bytes || sum !== of.sum) throw damaged(of.name)
}
