/** Packages of sites as customers upload them, valid and hostile ones. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { pack, type Header } from 'tar-stream'

export interface PackedFile {
  readonly name: string
  readonly content?: string | Buffer
  /** The entry is a link to this name. */
  readonly link?: string
  /** The type in a tar. */
  readonly type?: Header['type']
  /** The size that the zip claims, where that is false. */
  readonly saidBytes?: number
}

const bytesOf = ({ content = '' }: PackedFile): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : content

/** A zip with the names exactly as given. Entries are stored where compression gains nothing. */
export function zipOf(files: readonly (PackedFile & { nameBytes?: Buffer })[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const file of files) {
    const plain = file.link === undefined ? bytesOf(file) : Buffer.from(file.link)
    const packed = deflateRawSync(plain)
    const name = file.nameBytes ?? Buffer.from(file.name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const head = Buffer.alloc(46)
    head.writeUInt32LE(0x02014b50, 0)
    head.writeUInt16LE(3 << 8, 4)
    head.writeUInt16LE(8, 10)
    head.writeUInt16LE(((2026 - 1980) << 9) | (5 << 5) | 7, 14)
    head.writeUInt32LE(crc32(plain), 16)
    head.writeUInt32LE(packed.length, 20)
    head.writeUInt32LE(file.saidBytes ?? plain.length, 24)
    head.writeUInt16LE(name.length, 28)
    head.writeUInt32LE((file.link === undefined ? 0o100644 : 0o120777) * 65_536, 38)
    head.writeUInt32LE(at, 42)
    locals.push(local, name, packed)
    directory.push(head, name)
    at += local.length + name.length + packed.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, entries, end])
}

/** A tar compressed with gzip. */
export async function tarGzOf(files: readonly PackedFile[]): Promise<Buffer> {
  const tar = pack()
  for (const file of files) {
    const { name, link } = file
    if (link !== undefined) tar.entry({ name, type: file.type ?? 'symlink', linkname: link })
    else tar.entry({ name, type: file.type ?? 'file' }, bytesOf(file))
  }
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks), { level: 1 })
}

/** A package of All-in-One WP Migration. */
export function wpressOf(files: readonly PackedFile[]): Buffer {
  const parts = files.map((file) => {
    const content = bytesOf(file)
    const head = Buffer.alloc(4_377)
    const cut = file.name.lastIndexOf('/')
    head.write(file.name.slice(cut + 1), 0)
    head.write(String(content.length), 255)
    head.write('1767225600', 269)
    head.write(cut < 0 ? '.' : file.name.slice(0, cut), 281)
    return Buffer.concat([head, content])
  })
  return Buffer.concat([...parts, Buffer.alloc(4_377)])
}
