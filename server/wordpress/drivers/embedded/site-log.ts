// The last lines of one site: a ring in memory, continued in two files that take turns, so that a restart of the portal keeps them.
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import type { LogLine, SiteLog } from '../../driver.ts'

const keptLines = 5_000
const fileBytes = 1_000_000
const lineLength = 4_000
const flushMs = 200

interface Stored {
  readonly q: number
  readonly t: number
  readonly c: string
  readonly x: string
}

export class FileLog implements SiteLog {
  readonly #events = new EventEmitter<{ line: [] }>()
  readonly #dir: string
  #lines: LogLine[] = []
  #next = 1
  #pending: string[] = []
  #timer: NodeJS.Timeout | undefined
  #size = 0

  /** Reads what an earlier life left; creates nothing until the first line. */
  constructor(dir: string) {
    this.#dir = dir
    this.#events.setMaxListeners(0)
    for (const name of ['previous.jsonl', 'current.jsonl']) {
      let text
      try {
        text = fs.readFileSync(path.join(dir, name), 'utf8')
      } catch {
        continue
      }
      if (name === 'current.jsonl') this.#size = Buffer.byteLength(text)
      for (const line of text.split('\n')) {
        try {
          const stored = JSON.parse(line) as Stored
          this.#lines.push({ seq: stored.q, at: new Date(stored.t), container: stored.c, text: stored.x })
        } catch {
          // An empty last line, or one cut by a kill.
        }
      }
    }
    this.#lines = this.#lines.slice(-keptLines)
    this.#next = (this.#lines.at(-1)?.seq ?? 0) + 1
  }

  add(container: string, text: string): void {
    // One line is one line: control characters would forge others.
    // oxlint-disable-next-line no-control-regex
    const clean = text.slice(0, lineLength).replace(/[\u0000-\u001f\u007f]/g, ' ')
    const line: LogLine = { seq: this.#next++, at: new Date(), container, text: clean }
    this.#lines.push(line)
    // Cut in blocks: shifting one by one costs a copy a line.
    if (this.#lines.length > keptLines * 1.2) this.#lines = this.#lines.slice(-keptLines)
    this.#pending.push(`${JSON.stringify({ q: line.seq, t: line.at.getTime(), c: container, x: clean } satisfies Stored)}\n`)
    this.#timer ??= setTimeout(() => this.flush(), flushMs)
    this.#events.emit('line')
  }

  /** The newest line, or undefined when there is none. */
  get newest(): LogLine | undefined {
    return this.#lines.at(-1)
  }

  async tail(limit: number): Promise<readonly LogLine[]> {
    return limit <= 0 ? [] : this.#lines.slice(-Math.min(limit, keptLines))
  }

  async after(seq: number, limit: number): Promise<readonly LogLine[]> {
    const first = this.#lines[0]?.seq ?? this.#next
    const from = Math.max(0, seq + 1 - first, this.#lines.length - keptLines)
    return this.#lines.slice(from, from + limit)
  }

  watch(onNew: () => void): () => void {
    this.#events.on('line', onNew)
    return () => void this.#events.off('line', onNew)
  }

  /** Writes what waits. Small and seldom, so without a promise: nothing is lost when the process ends right after. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending.length === 0) return
    const text = this.#pending.join('')
    this.#pending = []
    const current = path.join(this.#dir, 'current.jsonl')
    try {
      fs.mkdirSync(this.#dir, { recursive: true })
      if (this.#size > fileBytes) {
        fs.renameSync(current, path.join(this.#dir, 'previous.jsonl'))
        this.#size = 0
      }
      fs.appendFileSync(current, text)
      this.#size += Buffer.byteLength(text)
    } catch {
      // A full host disk must not stop the sites; the ring still has the lines.
    }
  }

  /** Forgets everything: the site is removed. */
  discard(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending = []
    this.#lines = []
    this.#size = 0
  }
}
