/**
 * The zones on disk, so that a name server that starts again answers at once, whether the database
 * can be reached or not: one line of JSON for each change, read from the beginning at the start,
 * written anew when most of it is outdated. The database stays the truth: what a crash of the
 * machine takes from the end of the file is put again by the portal.
 */
import { createReadStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import readline from 'node:readline'
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

function apply(zones: Zones, change: Change): void {
  switch (change[0]) {
    case 'put':
      zones.put(change[1], change[2])
      return
    case 'change': {
      const [, head, fromSerial, sets] = change
      const present = zones.get(head.name)?.head
      // Written anew while it waited to be written: it is in the zone already.
      if (present?.id === head.id && present.serial >= head.serial) return
      if (zones.change(head, fromSerial, sets) === 'behind')
        throw new Error(`a change of ${head.name} does not follow on what is there`)
      return
    }
    case 'remove':
      zones.remove(change[1])
      return
  }
}

export class ZoneJournal {
  readonly #zones: Zones
  readonly #file: string
  readonly #onFault: (error: unknown) => void
  #handle: fs.FileHandle | undefined
  #bytes = 0
  #compactAt = smallBytes
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
      // What was read so far may be served: it was true, and the portal puts what is missing.
      this.#onFault(error)
    }
    await this.#compact()
  }

  async #read(): Promise<void> {
    const stream = createReadStream(this.#file, 'utf8')
    try {
      for await (const line of readline.createInterface({ input: stream, crlfDelay: Infinity })) {
        let change: Change
        try {
          change = JSON.parse(line) as Change
        } catch {
          // The last line of a process that was killed while it wrote.
          return
        }
        apply(this.#zones, change)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    } finally {
      stream.destroy()
    }
  }

  /** Resolves when the system has it. Never fails: a zone that is not kept is served as well. */
  note(change: Change): Promise<void> {
    const line = `${JSON.stringify(change)}\n`
    this.#last = this.#last.then(async () => {
      try {
        await this.#handle?.appendFile(line)
        this.#bytes += Buffer.byteLength(line)
        if (this.#bytes > this.#compactAt) await this.#compact()
      } catch (error) {
        this.#onFault(error)
      }
    })
    return this.#last
  }

  /** Writes the zones as they are beside the file, and puts that in its place. */
  async #compact(): Promise<void> {
    const fresh = `${this.#file}.new`
    const handle = await fs.open(fresh, 'w', 0o600)
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
    await fs.rename(fresh, this.#file)
    await this.#handle?.close()
    this.#handle = handle
    this.#bytes = bytes
    this.#compactAt = Math.max(smallBytes, bytes * growth)
  }

  async close(): Promise<void> {
    await this.#last
    await this.#handle?.close()
    this.#handle = undefined
  }
}
