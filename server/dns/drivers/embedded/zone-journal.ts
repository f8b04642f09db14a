/**
 * The zones on disk, so that a name server that starts again answers at once, whether the database
 * can be reached or not: one line of JSON for each change, read from the beginning at the start,
 * written anew when most of it is outdated. The database stays the truth: what a crash of the
 * machine takes from the end of the file is put again by the portal.
 */
import { createReadStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { RecordSet, ZoneHead } from '../../driver.ts'
import type { Zones } from './zones.ts'

/** One line of the file. */
type Change =
  | readonly ['put', ZoneHead, readonly RecordSet[]]
  | readonly ['change', ZoneHead, number, readonly RecordSet[]]
  | readonly ['remove', string]

/** Below this many bytes a file is not worth writing anew. */
const smallBytes = 1024 * 1024
/** How many times its first size the file may reach before it is written anew. */
const growth = 3
const linesAtOnce = 500
/** Bytes. */
const readAtOnce = 1024 * 1024

/** False: a change that does not follow on what is there. */
function apply(zones: Zones, change: Change): boolean {
  switch (change[0]) {
    case 'put':
      zones.put(change[1], change[2])
      return true
    case 'change': {
      const [, head, fromSerial, sets] = change
      const present = zones.get(head.name)?.head
      // Written anew while it waited to be written: it is in the zone already.
      if (present?.id === head.id && present.serial >= head.serial) return true
      return zones.change(head, fromSerial, sets) === 'applied'
    }
    case 'remove':
      zones.remove(change[1])
      return true
  }
}

const zoneOf = (change: Change): string => (change[0] === 'remove' ? change[1] : change[1].name)

/** Applies lines one after the other, and keeps account of what it has to leave out. */
class Reader {
  readonly #zones: Zones
  #unreadable = 0
  /** Zones that lack a change and were neither put nor removed since. */
  readonly #behind = new Set<string>()
  /** Whether the line before could not be read: it may be the last one. */
  #isCut = false

  constructor(zones: Zones) {
    this.#zones = zones
  }

  take(line: string): void {
    if (this.#isCut) this.#unreadable++
    this.#isCut = false
    // In front of a line that follows on a write that failed.
    if (line === '') return
    try {
      const change = JSON.parse(line) as Change
      const name = zoneOf(change)
      // A zone that was changed and then removed while the file was written anew has a change
      // without its zone, and its removal behind it.
      if (!apply(this.#zones, change)) this.#behind.add(name)
      else if (change[0] !== 'change') this.#behind.delete(name)
    } catch {
      this.#isCut = true
    }
  }

  /**
   * What was left out, for the operator. The last line of a process that was killed while it wrote
   * is none: nobody was told that it is kept.
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
  /** The last write failed, maybe in the middle of its line. */
  #isTorn = false
  /** Writes, one after another. */
  #last: Promise<void> = Promise.resolve()

  /** @param onFault told of a file that cannot be read or written: zones are in memory alone */
  constructor(zones: Zones, folder: string, onFault: (error: unknown) => void) {
    this.#zones = zones
    this.#file = path.join(folder, 'zones.jsonl')
    this.#onFault = onFault
  }

  /** Fills the zones with what the file holds, and opens it for what follows. */
  async open(): Promise<void> {
    await fs.mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 })
    try {
      await this.#read()
    } catch (error) {
      // What was read so far may be served: it was true, and the portal puts what is missing, as
      // it compares all zones with a name server that was started again.
      this.#onFault(error)
    }
    try {
      await this.#compact()
    } catch (error) {
      // A full disk keeps nobody from answering: what follows is written behind what there is.
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
      // By "\n" alone: to readline a text with U+2028 in it would be two lines.
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

  /** Resolves when the system has it. Never fails: a zone that is not kept is served as well. */
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
    // Half of the line before may be there, which ends here.
    const text = this.#isTorn ? `\n${line}` : line
    this.#isTorn = true
    await this.#handle?.appendFile(text)
    if (text !== line) {
      // There is room again: the zones, of which the file lacks a change, are written anew.
      this.#compactAt = 0
    }
    this.#isTorn = false
    this.#bytes += Buffer.byteLength(text)
  }

  /** Writes the zones as they are beside the file, and puts that in its place. */
  async #compact(): Promise<void> {
    // Where it fails it is not tried with every change, for there may be much to write.
    this.#compactAt = this.#bytes + smallBytes
    const fresh = `${this.#file}.new`
    const handle = await fs.open(fresh, 'w', 0o600)
    let bytes: number
    try {
      bytes = await this.#writeAll(handle)
      await fs.rename(fresh, this.#file)
    } catch (error) {
      await handle.close()
      // What there is of it takes room that the file needs.
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
