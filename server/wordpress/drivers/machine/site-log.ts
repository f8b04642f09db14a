// The last lines of one site: a ring buffer in memory, continued in two files that alternate, so
// that the lines survive a restart of the portal.
import { EventEmitter } from 'node:events'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { LogLine, SiteLog } from '../../driver.ts'

const keptLines = 5_000
const fileBytes = 1_000_000
const lineLength = 4_000
const flushMs = 200
/** More than the lines that a site writes on one machine while it is copied to another. */
const takeOverGap = 1_000_000

interface Stored {
  readonly q: number
  readonly t: number
  readonly c: string
  readonly x: string
  /** What the line's `leftOut` is. */
  readonly g?: number
}

/** The position of the first line after `seq`: numbers rise, but there are gaps between them. */
function firstAfter(lines: readonly LogLine[], seq: number): number {
  let [low, high] = [0, lines.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((lines[middle]?.seq ?? Infinity) > seq) high = middle
    else low = middle + 1
  }
  return low
}

/** How many numbers were left out up to a stored line; earlier releases did not write it. */
function leftOutBy({ q, g }: Stored, before: LogLine | undefined): number {
  if (g !== undefined || !before) return g ?? 0
  const hole = q - before.seq - 1
  return (before.leftOut ?? 0) + (hole >= takeOverGap - 1 ? hole : 0)
}

export class FileLog implements SiteLog {
  readonly #events = new EventEmitter<{ line: [] }>()
  readonly #dir: string
  /** Lines of an earlier run are read in the background: visitors of other sites do not wait. */
  readonly #loaded: Promise<void>
  #isLoaded = false
  /** Lines that came while earlier ones were read; they have no number yet. */
  #early: Omit<LogLine, 'seq'>[] = []
  #lines: LogLine[] = []
  #next = 1
  /** How many numbers below the next one were left out when other logs were taken over. */
  #leftOut = 0
  #pending: string[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #size = 0
  #isDiscarded = false

  /** Reads the lines of an earlier run; creates no file until the first line. */
  constructor(dir: string) {
    this.#dir = dir
    this.#events.setMaxListeners(0)
    this.#loaded = this.#load()
  }

  async #load(): Promise<void> {
    const found: LogLine[] = []
    for (const name of ['previous.jsonl', 'current.jsonl']) {
      const text = await fs.readFile(path.join(this.#dir, name), 'utf8').catch(() => '')
      if (name === 'current.jsonl') this.#size = Buffer.byteLength(text)
      for (const line of text.split('\n')) {
        try {
          const stored = JSON.parse(line) as Stored
          const leftOut = leftOutBy(stored, found.at(-1))
          found.push({
            seq: stored.q,
            at: new Date(stored.t),
            container: stored.c,
            text: stored.x,
            ...(leftOut > 0 && { leftOut }),
          })
        } catch {
          // The line is empty, or was cut by a kill.
        }
      }
    }
    if (!this.#isDiscarded) {
      this.#lines = found.slice(-keptLines)
      this.#next = (this.#lines.at(-1)?.seq ?? 0) + 1
      this.#leftOut = this.#lines.at(-1)?.leftOut ?? 0
    }
    this.#isLoaded = true
    for (const line of this.#early.splice(0)) this.#append(line)
  }

  add(container: string, text: string): void {
    // Control characters are removed: a line break would forge another line of the log.
    // oxlint-disable-next-line no-control-regex
    const clean = text.slice(0, lineLength).replace(/[\u0000-\u001f\u007f]/g, ' ')
    const line = { at: new Date(), container, text: clean }
    if (this.#isLoaded) this.#append(line)
    else if (this.#early.push(line) > keptLines) this.#early.shift()
  }

  #append(given: Pick<LogLine, 'at' | 'container' | 'text'>): void {
    const leftOut = this.#leftOut
    const line: LogLine = { seq: this.#next++, ...given, ...(leftOut > 0 && { leftOut }) }
    this.#lines.push(line)
    // Cut in blocks: shifting lines one by one would copy the array for each line.
    if (this.#lines.length > keptLines * 1.2) this.#lines = this.#lines.slice(-keptLines)
    const { seq: q, container: c, text: x } = line
    const stored: Stored = { q, t: line.at.getTime(), c, x, ...(leftOut > 0 && { g: leftOut }) }
    this.#pending.push(`${JSON.stringify(stored)}\n`)
    // When the disk is slower than the site's output, the files keep no more than the ring buffer
    // does.
    if (this.#pending.length > keptLines * 1.2) this.#pending = this.#pending.slice(-keptLines)
    this.#timer ??= setTimeout(() => void this.flush(), flushMs)
    this.#events.emit('line')
  }

  /**
   * Takes over lines of the site's log on another machine, which go before those written here from
   * now on. Numbers continue with a gap, so that a reader of the other log misses no line.
   */
  async takeOver(lines: readonly LogLine[]): Promise<void> {
    await this.#loaded
    const last = lines.at(-1)
    if (!last || last.seq < this.#next) return
    for (const { seq, at, container, text, leftOut = 0 } of lines.slice(-keptLines)) {
      if (seq < this.#next) continue
      this.#next = seq
      this.#leftOut = leftOut
      this.#append({ at, container, text })
    }
    this.#next = last.seq + takeOverGap
    this.#leftOut += takeOverGap - 1
  }

  /** The newest line, or undefined when there is none. */
  get newest(): Pick<LogLine, 'text'> | undefined {
    return this.#early.at(-1) ?? this.#lines.at(-1)
  }

  async tail(limit: number): Promise<readonly LogLine[]> {
    await this.#loaded
    return limit <= 0 ? [] : this.#lines.slice(-Math.min(limit, keptLines))
  }

  async after(seq: number, limit: number): Promise<readonly LogLine[]> {
    await this.#loaded
    const from = Math.max(firstAfter(this.#lines, seq), this.#lines.length - keptLines)
    return this.#lines.slice(from, from + limit)
  }

  watch(onNew: () => void): () => void {
    this.#events.on('line', onNew)
    return () => void this.#events.off('line', onNew)
  }

  /** Writes waiting lines; resolves when they are on the disk. Writes happen one after another. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(async () => {
      await this.#loaded
      await this.#write(this.#pending.splice(0).join(''))
    })
    return this.#writing
  }

  async #write(text: string): Promise<void> {
    if (text === '' || this.#isDiscarded) return
    const current = path.join(this.#dir, 'current.jsonl')
    try {
      await fs.mkdir(this.#dir, { recursive: true })
      if (this.#size > fileBytes) {
        await fs.rename(current, path.join(this.#dir, 'previous.jsonl'))
        this.#size = 0
      }
      await fs.appendFile(current, text)
      this.#size += Buffer.byteLength(text)
    } catch {
      // A full host disk must not stop the sites; the ring still has the lines.
    }
  }

  /** Drops all lines, because the site is removed; resolves when no write is under way any more. */
  async discard(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDiscarded = true
    this.#early = []
    this.#pending = []
    this.#lines = []
    await Promise.all([this.#loaded, this.#writing])
    this.#size = 0
    this.#isDiscarded = false
  }
}
