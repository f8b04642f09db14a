/** The lines of a live log. Pure: the newest are kept, the oldest are dropped. */
import { chosenZone, formatTime } from '../format.ts'

export interface LogLine {
  /** Counts from the first received line, so that a line keeps its key while others are dropped. */
  number: number
  /** `<time> <container>`, as the server sent it: the time is UTC. */
  source: string
  text: string
}

export const ringSize = 5000
const separator = '- -'

/** `<time> <container> - - <line>`: the line is what follows the last separator. */
export function parseMessage(message: string): { source: string; text: string } {
  const parts = message.split(separator)
  const text = parts.pop() ?? ''
  return { source: (parts[0] ?? '').trim(), text: text.replace(/^ /, '').replace(/\r?\n$/, '') }
}

const utcSecond = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
/** The last formatted second: a busy log has many lines per second, and Intl is slow. */
let last = { second: '', zone: chosenZone.name, written: '' }

/** `<time> <container>` with the time as screens show it, in the customer's zone. */
export function shownSource(source: string): string {
  const end = source.indexOf(' ')
  const time = end === -1 ? source : source.slice(0, end)
  const second = utcSecond.exec(time)?.[0]
  if (second === undefined || !time.endsWith('Z')) return source
  const zone = chosenZone.name
  if (last.second !== second || last.zone !== zone)
    last = { second, zone, written: formatTime(`${second}Z`) }
  return last.written + source.slice(time.length)
}

export class LogRing {
  #lines: LogLine[] = []
  #heard = 0
  #cleared = 0
  readonly #size: number

  constructor(size = ringSize) {
    this.#size = size
  }

  get lines(): readonly LogLine[] {
    return this.#lines
  }
  /** Number of lines that were dropped since the ring was cleared. */
  get dropped(): number {
    return this.#heard - this.#cleared - this.#lines.length
  }

  /** Takes several at once: otherwise a busy log would copy the ring for every line. */
  push(messages: readonly string[]): void {
    const added = messages.map((message) => ({ number: this.#heard++, ...parseMessage(message) }))
    const all = [...this.#lines, ...added]
    this.#lines = all.length > this.#size ? all.slice(all.length - this.#size) : all
  }

  /** The numbering continues, because callers compare numbers to count new lines. */
  clear(): void {
    this.#lines = []
    this.#cleared = this.#heard
  }
}

export interface LogBlock {
  key: number
  lines: readonly LogLine[]
}
const blockSize = 100

/**
 * Lines grouped by hundreds of their number, so that a block stays the same while others come and
 * go.
 */
export function blocksOf(lines: readonly LogLine[]): LogBlock[] {
  const blocks: { key: number; lines: LogLine[] }[] = []
  for (const line of lines) {
    const key = Math.floor(line.number / blockSize)
    const last = blocks.at(-1)
    if (last?.key === key) last.lines.push(line)
    else blocks.push({ key, lines: [line] })
  }
  return blocks
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Where to connect: the given address, in the page's own scheme, and with the page's own host where
 * both mean this machine.
 */
export function socketAddress(given: string, page: string): string {
  const here = new URL(page)
  const address = new URL(given, here)
  // A portal behind TLS may be configured with an address without it.
  if (here.protocol === 'https:') address.protocol = 'wss:'
  else if (address.protocol === 'http:') address.protocol = 'ws:'
  if (loopback.has(here.hostname) && loopback.has(address.hostname) && here.port === address.port)
    address.hostname = here.hostname
  return address.href
}

/** The address without its ticket, which is safe to show. */
export function withoutTicket(address: string): string {
  try {
    const url = new URL(address)
    return `${url.protocol}//${url.host}${url.pathname}`
  } catch {
    return address.split('?')[0] ?? ''
  }
}
