/** Makes zip files (APPNOTE.TXT of PKWARE): deflated files, names in UTF-8, one fixed date. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipFile {
  readonly name: string
  readonly content: string | Buffer
}

/** 1 September 2026 in MS-DOS form: years since 1980, month, day. */
const date = ((2026 - 1980) << 9) | (9 << 5) | 1
/** Flag for UTF-8 names. */
const flags = 0x0800
const version = 20
const deflated = 8
/** A regular file of Unix, readable by all. */
const attributes = 0o100_644 * 0x1_0000

/** The whole archive. `level`: of deflate, 0 to 9. */
export function zipOf(files: readonly ZipFile[], level = 6): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const file of files) {
    const content = Buffer.from(file.content)
    const packed = deflateRawSync(content, { level })
    const name = Buffer.from(file.name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(version, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(deflated, 4)
    common.writeUInt16LE(date, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, name, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(attributes, 6)
    rest.writeUInt32LE(offset, 10)
    // Made on Unix (3): the attributes contain Unix modes.
    const maker = Buffer.from([version, 3])
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), maker, common, rest, name]))
    parts.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, entries, end])
}
