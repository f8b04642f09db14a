/**
 * Reads zip files from outside (APPNOTE.TXT of PKWARE, 6.3.10), stored and deflated. The central
 * directory is judged before a byte is unpacked: paths that leave the folder, links, duplicate
 * names, and archives beyond the limits are refused.
 */
import { createHash } from 'node:crypto'
import fs, { type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'

const inflate = promisify(inflateRaw)

export interface ZipLimits {
  /** The size of the archive file, bytes. */
  readonly archiveBytes: number
  /** The unpacked size of all files together. */
  readonly bytes: number
  readonly files: number
}

export interface ZipEntry {
  /** The path with slashes between folders; it never leads outside. */
  readonly name: string
  readonly bytes: number
  readonly isFolder: boolean
}

/** A zip that is no zip, or does what none of ours may. */
export class BadZip extends Error {}

interface Placed extends ZipEntry {
  readonly method: number
  readonly packedBytes: number
  readonly crc: number
  readonly offset: number
}

const endSignature = 0x06054b50
const centralSignature = 0x02014b50
const localSignature = 0x04034b50
/** The end record is within its own length and the longest comment of the file's end. */
const endBytes = 22
const longestComment = 65_535
const [stored, deflated] = [0, 8]
const centralBytes = 46
const localBytes = 30
/** More of one directory is a bomb of names. */
const mostDirectoryBytes = 16 * 1_048_576
/** Unix modes in the upper half of the external attributes; 0 where the maker knew none. */
const [kindOfFile, regular, folder] = [0o170_000, 0o100_000, 0o040_000]
const nameBytes = 255

/** The name, if every part of it is the plain name of a file or folder. */
function safeName(name: string): string | undefined {
  const trimmed = name.endsWith('/') ? name.slice(0, -1) : name
  const parts = trimmed.split('/')
  const isSafe = parts.every(
    (part) =>
      part !== '' &&
      part !== '.' &&
      part !== '..' &&
      Buffer.byteLength(part) <= nameBytes &&
      // oxlint-disable-next-line no-control-regex
      !/[\u0000-\u001f\\:]/.test(part),
  )
  return isSafe && parts.length <= 32 && trimmed.length <= 800 ? trimmed : undefined
}

/** A file that is open, and how many bytes it has. */
interface Opened {
  readonly file: FileHandle
  readonly size: number
}

/**
 * Reads `length` bytes from `offset`. A length from the archive is compared with the file's size
 * first: it must not allocate memory for bytes that do not exist, and Node ends the process over a
 * length of 2 GiB.
 */
async function readAt({ file, size }: Opened, offset: number, length: number): Promise<Buffer> {
  if (offset + length > size) throw new BadZip('the archive ends too early')
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, offset)
  if (bytesRead < length) throw new BadZip('the archive ends too early')
  return bytes
}

/** The offset and length of the central directory, and its number of entries. */
async function directoryOf(archive: Opened) {
  const { size } = archive
  const length = Math.min(size, endBytes + longestComment)
  const tail = await readAt(archive, size - length, length)
  for (let at = length - endBytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endSignature) continue
    if (at + endBytes + tail.readUInt16LE(at + 20) !== length) continue
    const count = tail.readUInt16LE(at + 10)
    const bytes = tail.readUInt32LE(at + 12)
    const offset = tail.readUInt32LE(at + 16)
    if (tail.readUInt16LE(at + 4) !== 0 || offset + bytes > size || bytes > mostDirectoryBytes)
      throw new BadZip('the directory of the archive is not where it should be')
    return { count, bytes, offset }
  }
  throw new BadZip('no zip archive')
}

function entryAt(directory: Buffer, at: number): { entry: Placed; next: number } {
  if (at + centralBytes > directory.length || directory.readUInt32LE(at) !== centralSignature)
    throw new BadZip('the directory of the archive is damaged')
  const nameLength = directory.readUInt16LE(at + 28)
  const nameEnd = at + centralBytes + nameLength
  const next = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  if (next > directory.length) throw new BadZip('the directory of the archive is damaged')
  const raw = directory.toString('utf8', at + centralBytes, nameEnd)
  const name = safeName(raw)
  if (name === undefined) throw new BadZip(`a name that leads elsewhere: ${raw.slice(0, 100)}`)
  const isFolder = raw.endsWith('/')
  const kind = (directory.readUInt32LE(at + 38) >>> 16) & kindOfFile
  if (kind !== 0 && kind !== (isFolder ? folder : regular))
    throw new BadZip(`neither file nor folder: ${name.slice(0, 100)}`)
  const method = directory.readUInt16LE(at + 10)
  if ((directory.readUInt16LE(at + 8) & 1) !== 0 || (method !== stored && method !== deflated))
    throw new BadZip('encrypted, or packed in another way than deflate')
  return {
    entry: {
      name,
      isFolder,
      method,
      crc: directory.readUInt32LE(at + 16),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    },
    next,
  }
}

async function contentOf(archive: Opened, entry: Placed): Promise<Buffer> {
  const head = await readAt(archive, entry.offset, localBytes)
  if (head.readUInt32LE(0) !== localSignature) throw new BadZip('a file is not where it should be')
  const begin = entry.offset + localBytes + head.readUInt16LE(26) + head.readUInt16LE(28)
  const packed = await readAt(archive, begin, entry.packedBytes)
  let content = packed
  if (entry.method === deflated)
    try {
      // If it unpacks to more than the stated size, the archive is wrong.
      content = await inflate(packed, { maxOutputLength: Math.max(1, entry.bytes) })
    } catch (error) {
      throw new BadZip(`${entry.name}: cannot be unpacked`, { cause: error })
    }
  if (content.length !== entry.bytes || crc32(content) !== entry.crc)
    throw new BadZip(`${entry.name}: is not what the archive says`)
  return content
}

export interface ZipReader {
  readonly entries: readonly ZipEntry[]
  /** The content of a file of it; undefined where there is none. */
  read(name: string): Promise<Buffer | undefined>
}

/** Opens the archive for `read`. Throws BadZip before anything is unpacked. */
export async function withZip<T>(
  archive: string,
  limits: ZipLimits,
  read: (zip: ZipReader) => Promise<T>,
): Promise<T> {
  const file = await fs.open(archive)
  try {
    const { size } = await file.stat()
    if (size > limits.archiveBytes) throw new BadZip('the archive is larger than it may be')
    if (size < endBytes) throw new BadZip('no zip archive')
    const opened = { file, size }
    const { count, bytes, offset } = await directoryOf(opened)
    if (count > limits.files) throw new BadZip('the archive holds more files than it may')
    const directory = await readAt(opened, offset, bytes)
    const entries = new Map<string, Placed>()
    let sum = 0
    for (let index = 0, at = 0; index < count; index++) {
      const { entry, next } = entryAt(directory, at)
      at = next
      // Names that a file system may take for the same are the same.
      const key = entry.name.normalize('NFC').toLowerCase()
      if (entries.has(key)) throw new BadZip(`stands twice in the archive: ${entry.name}`)
      entries.set(key, entry)
      sum += entry.bytes
      if (sum > limits.bytes) throw new BadZip('the archive unpacks to more than it may')
    }
    const byName = new Map([...entries.values()].map((entry) => [entry.name, entry]))
    return await read({
      entries: [...entries.values()],
      async read(name) {
        const entry = byName.get(name)
        return entry && !entry.isFolder ? await contentOf(opened, entry) : undefined
      },
    })
  } finally {
    await file.close()
  }
}

/**
 * Writes the files whose name `placeOf` gives a place below `target`, a folder that is made anew.
 * Answers how many bytes they are.
 */
export async function unpackZip(
  zip: ZipReader,
  target: string,
  placeOf: (name: string) => string | undefined,
): Promise<number> {
  await fs.mkdir(target, { recursive: true, mode: 0o755 })
  let sum = 0
  for (const { name, isFolder } of zip.entries) {
    const place = placeOf(name)
    if (place === undefined || isFolder) continue
    const content = await zip.read(name)
    if (!content) continue
    const file = path.join(target, place)
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
    await fs.writeFile(file, content, { flag: 'wx', mode: 0o644 })
    sum += content.length
  }
  return sum
}

/** SHA-256 of a file, hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const handle = await fs.open(file)
  try {
    const hash = createHash('sha256')
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk)
    return hash.digest('hex')
  } finally {
    await handle.close()
  }
}
