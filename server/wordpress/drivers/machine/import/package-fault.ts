/** Faults of a customer's package, in codes that the screens know. */
import { readSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { ImportProblem } from '../../../driver.ts'

/** The package cannot be moved in; trying again does not help. */
export class PackageFault extends Error {
  override readonly name = 'PackageFault'
  readonly problem: ImportProblem

  constructor(code: ImportProblem['code'], detail = '') {
    super(detail === '' ? code : `${code}: ${detail}`)
    this.problem = { code, detail: detail.slice(0, 300) }
  }
}

/** An entry of an archive. */
export interface PackageEntry {
  /** The name in the archive, with `/` between the parts. */
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly mtime: Date | undefined
  /** The content of a file; read once, before the next entry. */
  content(): AsyncIterable<Buffer>
}

const pieceBytes = 262_144

/**
 * The bytes of a descriptor from `start` on. The descriptor stays open; a stream of Node's would
 * close it.
 */
function* piecesOf(descriptor: number, start: number, bytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes;) {
    const piece = Buffer.alloc(Math.min(pieceBytes, bytes - at))
    const read = readSync(descriptor, piece, 0, piece.length, start + at)
    if (read === 0) return
    yield piece.subarray(0, read)
    at += read
  }
}
export const streamOf = (descriptor: number, start = 0, bytes = Infinity): Readable =>
  Readable.from(piecesOf(descriptor, start, bytes))

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** The upper half of code page 437, which zips use for names without the UTF-8 flag. */
const upper437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
  '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ '

/** A name as UTF-8 where its bytes are valid, otherwise as code page 437. */
export function nameOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return [...bytes]
      .map((byte) => (byte < 128 ? String.fromCharCode(byte) : upper437[byte - 128]))
      .join('')
  }
}
