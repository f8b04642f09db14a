/** The open files of a client: a file being read, and a file being written. */
import { randomUUID } from 'node:crypto'
import { mostFileBytes, pieceBytes } from '../../../contract/wordpress-files.ts'
import type { SiteFiles } from './files.ts'
import { SftpFault, status } from './protocol.ts'

/** Reads ahead in pieces, since clients ask for some 32 KB at a time. */
export class ReadFile {
  readonly path: string
  readonly #files: SiteFiles
  #from = 0
  #piece: Buffer = Buffer.alloc(0)
  constructor(files: SiteFiles, where: string) {
    this.#files = files
    this.path = where
  }

  /** At most `length` bytes from `offset` on; empty at the end of the file. */
  async read(offset: number, length: number): Promise<Buffer> {
    const isHere = offset >= this.#from && offset < this.#from + this.#piece.length
    if (!isHere) {
      this.#piece = (await this.#files.piece(this.path, offset)).data
      this.#from = offset
    }
    const at = offset - this.#from
    return this.#piece.subarray(at, at + length)
  }
}

/**
 * How far ahead of the received bytes a client may write, in all its files together: it has several
 * requests under way.
 */
const aheadBytes = 8 * 1_048_576

/**
 * A file that is written from its first byte on. It replaces the former file when it is closed: a
 * visitor gets one or the other, and a broken connection leaves the former one.
 */
export class WrittenFile {
  readonly path: string
  readonly #files: SiteFiles
  readonly #upload = randomUUID()
  readonly #replaces: boolean
  /** Throws SftpFault where there is no room for so many more bytes. */
  readonly #askRoom: (bytes: number) => Promise<void>
  readonly #ahead = new Map<number, Buffer>()
  /** Bytes written ahead in all files of the session. */
  readonly #aheadOfAll: { bytes: number }
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** Bytes handed to the site's files. */
  #sent = 0
  /** Attributes that the client asked for, to be set once the file is complete. */
  attributes: { mode?: number; at?: number } = {}

  constructor(
    files: SiteFiles,
    of: {
      readonly path: string
      readonly replaces: boolean
      readonly ahead: { bytes: number }
      readonly askRoom: (bytes: number) => Promise<void>
    },
  ) {
    this.#files = files
    this.path = of.path
    this.#replaces = of.replaces
    this.#askRoom = of.askRoom
    this.#aheadOfAll = of.ahead
  }

  get bytes(): number {
    return this.#sent + this.#waitingBytes
  }

  async write(offset: number, data: Buffer): Promise<void> {
    if (data.length === 0) return
    if (offset + data.length > mostFileBytes)
      throw new SftpFault(status.failure, 'Files of up to 512 MB can be sent')
    if (offset > this.bytes) {
      const more = data.length - (this.#ahead.get(offset)?.length ?? 0)
      if (this.#aheadOfAll.bytes + more > aheadBytes)
        throw new SftpFault(status.failure, 'A file is written from its first byte on')
      this.#aheadOfAll.bytes += more
      this.#ahead.set(offset, data)
      return
    }
    if (offset < this.bytes)
      throw new SftpFault(status.failure, 'What was written is not written again: send it anew')
    this.#take(data)
    for (let next = this.#ahead.get(this.bytes); next; next = this.#ahead.get(this.bytes)) {
      this.#ahead.delete(this.bytes)
      this.#aheadOfAll.bytes -= next.length
      this.#take(next)
    }
    while (this.#waitingBytes > pieceBytes) await this.#send(pieceBytes, false)
  }

  #take(data: Buffer): void {
    this.#waiting.push(data)
    this.#waitingBytes += data.length
  }

  async #send(bytes: number, isLast: boolean): Promise<void> {
    const all = Buffer.concat(this.#waiting)
    const piece = all.subarray(0, bytes)
    await this.#askRoom(piece.length)
    await this.#files.act({
      op: 'write',
      path: this.path,
      upload: this.#upload,
      offset: this.#sent,
      data: piece.toString('base64'),
      isLast,
      replaces: this.#replaces,
    })
    this.#sent += piece.length
    this.#waiting = [all.subarray(bytes)]
    this.#waitingBytes = all.length - piece.length
  }

  /** Drops bytes that were written ahead of a missing piece. */
  drop(): void {
    for (const { length } of this.#ahead.values()) this.#aheadOfAll.bytes -= length
    this.#ahead.clear()
  }

  /** Completes the file. */
  async close(): Promise<void> {
    if (this.#ahead.size > 0) throw new SftpFault(status.failure, 'A part of the file is missing')
    await this.#send(this.#waitingBytes, true)
    const { mode, at } = this.attributes
    if (mode !== undefined || at !== undefined)
      await this.#files.act({ op: 'attributes', path: this.path, ...this.attributes })
  }
}
