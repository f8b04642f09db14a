/**
 * The zones on disk, so that a restarted name server answers at once, even without the database.
 * The file has one line of JSON per change; it is read completely at the start and rewritten when
 * most of it is outdated. The database is authoritative: if a crash of the machine loses the end of
 * the file, the portal puts those changes again.
 */
import { createReadStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { RecordSet, ZoneHead } from '../../driver.ts'
import type { Zones } from './zones.ts'

/** One line of the file: a change. */
type Change =
  | readonly ['put', ZoneHead, readonly RecordSet[]]
  | readonly ['change', ZoneHead, number, readonly RecordSet[]]
  | readonly ['remove', string]

/** A file smaller than this is not rewritten. */
const smallBytes = 1024 * 1024
/** A file is rewritten when it has grown to this multiple of its first size. */
const growth = 3
const linesAtOnce = 500
/** Bytes. */
const readAtOnce = 1024 * 1024

/** False: the change does not follow the present state. */
function apply(zones: Zones, change: Change): boolean {
  switch (change[0]) {
    case 'put':
      zones.put(change[1], change[2])
      return true
    case 'change': {
      const [, head, fromSerial, sets] = change
      const present = zones.get(head.name)?.head
      // The file was rewritten while this change waited for its write: the zone contains it
      // already.
      if (present?.id === head.id && present.serial >= head.serial) return true
      return zones.change(head, fromSerial, sets) === 'applied'
    }
    case 'remove':
      zones.remove(change[1])
      return true
  }
}

const zoneOf = (change: Change): string => (change[0] === 'remove' ? change[1] : change[1].name)

/** Applies lines one after the other, and records those that it must leave out. */
class Reader {
  readonly #zones: Zones
  #unreadable = 0
  /** Zones that lack a change and were neither put nor removed since. */
  readonly #behind = new Set<string>()
  /** Whether the previous line was unreadable. It is ignored if it is the last one. */
  #isCut = false

  constructor(zones: Zones) {
    this.#zones = zones
  }

  take(line: string): void {
    if (this.#isCut) this.#unreadable++
    this.#isCut = false
    // Empty lines precede a line that follows a failed write.
    if (line === '') return
    try {
      const change = JSON.parse(line) as Change
      const name = zoneOf(change)
      // A zone that was changed and then removed during a rewrite has a change without the zone,
      // followed by its removal.
      if (!apply(this.#zones, change)) this.#behind.add(name)
      else if (change[0] !== 'change') this.#behind.delete(name)
    } catch {
      this.#isCut = true
    }
  }

  /**
   * The changes that were left out, for the operator. An incomplete last line is none: the process
   * was killed during the write, and nobody was told that the change is stored.
   */
  fault(): Error | undefined {
    if (this.#unreadable === 0 && this.#behind.size === 0) return undefined
    const behind = [...this.#behind]
    return new Error(
      `of the kept zones ${this.#unreadable} lines cannot be read, and ${behind.length} zones ` +
        `lack a change (${behind.slice(0, 10).join(', ') || 'none'}): the portal puts them again`,
    )
  }
}

export class ZoneJournal {
  readonly #zones: Zones
  readonly #file: string
  readonly #onFault: (error: unknown) => void
  #handle: fs.FileHandle | undefined
  #bytes = 0
  #compactAt = smallBytes
  /** The last write failed, perhaps in the middle of its line. */
  #isTorn = false
  /** The queue of writes, one after the other. */
  #last: Promise<void> = Promise.resolve()

  /** @param onFault called if the file cannot be read or written; zones are then in memory only */
  constructor(zones: Zones, folder: string, onFault: (error: unknown) => void) {
    this.#zones = zones
    this.#file = path.join(folder, 'zones.jsonl')
    this.#onFault = onFault
  }

  /** Fills the zones from the file, and opens it for appending. */
  async open(): Promise<void> {
    await fs.mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 })
    try {
      await this.#read()
    } catch (error) {
      // The changes read so far may be served: they were true. The portal puts what is missing,
      // because it compares all zones with a restarted name server.
      this.#onFault(error)
    }
    try {
      await this.#compact()
    } catch (error) {
      // A full disk does not stop the service: later changes are appended to the present file.
      this.#handle = await fs.open(this.#file, 'a', 0o600)
      this.#bytes = (await this.#handle.stat()).size
      this.#isTorn = true
      this.#onFault(error)
    }
  }

  async #read(): Promise<void> {
    const stream = createReadStream(this.#file, { encoding: 'utf8', highWaterMark: readAtOnce })
    const reader = new Reader(this.#zones)
    let rest = ''
    try {
      // Split by "\n" only: readline would also split a text at U+2028.
      for await (const part of stream as AsyncIterable<string>) {
        const lines = (rest + part).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) reader.take(line)
      }
      if (rest !== '') reader.take(rest)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    } finally {
      stream.destroy()
    }
    const fault = reader.fault()
    if (fault) this.#onFault(fault)
  }

  /**
   * Resolves when the system has written it. Never rejects: a zone that cannot be stored is served
   * nevertheless.
   */
  note(change: Change): Promise<void> {
    const line = `${JSON.stringify(change)}\n`
    this.#last = this.#last.then(async () => {
      try {
        await this.#append(line)
        if (this.#bytes > this.#compactAt) await this.#compact()
      } catch (error) {
        this.#onFault(error)
      }
    })
    return this.#last
  }

  async #append(line: string): Promise<void> {
    // The previous line may be incomplete: end it here.
    const text = this.#isTorn ? `\n${line}` : line
    this.#isTorn = true
    await this.#handle?.appendFile(text)
    if (text !== line) {
      // There is space again. The file may lack a change, so it is rewritten.
      this.#compactAt = 0
    }
    this.#isTorn = false
    this.#bytes += Buffer.byteLength(text)
  }

  /** Writes the present zones to a new file, and replaces the old one by it. */
  async #compact(): Promise<void> {
    // After a failure it is not retried with every change, because there may be much to write.
    this.#compactAt = this.#bytes + smallBytes
    const fresh = `${this.#file}.new`
    const handle = await fs.open(fresh, 'w', 0o600)
    let bytes: number
    try {
      bytes = await this.#writeAll(handle)
      await fs.rename(fresh, this.#file)
    } catch (error) {
      await handle.close()
      // The incomplete file would take space that the present file needs.
      await fs.rm(fresh, { force: true })
      throw error
    }
    await this.#handle?.close()
    this.#handle = handle
    this.#bytes = bytes
    this.#compactAt = Math.max(smallBytes, bytes * growth)
  }

  async #writeAll(handle: fs.FileHandle): Promise<number> {
    let bytes = 0
    let lines: string[] = []
    const write = async (): Promise<void> => {
      const text = lines.join('')
      lines = []
      bytes += Buffer.byteLength(text)
      await handle.appendFile(text)
    }
    for (const name of this.#zones.names()) {
      const zone = this.#zones.read(name)
      if (zone) lines.push(`${JSON.stringify(['put', zone.head, zone.sets] satisfies Change)}\n`)
      if (lines.length >= linesAtOnce) await write()
    }
    await write()
    return bytes
  }

  async close(): Promise<void> {
    await this.#last
    await this.#handle?.close()
    this.#handle = undefined
  }
}
