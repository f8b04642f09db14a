// One process of the WordPress runtime: starting it, hearing it, measuring it, ending it.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { DriverFailure } from '../../../platform/errors.ts'
import { pidFile } from './leftovers.ts'

/** The first line that the runtime reads (its README). */
export interface BootOrder {
  readonly siteDir: string
  readonly internalDir: string
  readonly sqliteDir: string
  readonly ticketsDir: string
  readonly url: string
  readonly hosts: readonly string[]
  readonly memoryMb: number
  readonly phpMemoryMb: number
  readonly ssdBytes: number
  readonly databaseBytes: number
  readonly internalBytes: number
  readonly internet: boolean
  /** How long PHP may take for one request, from its turn on, before the container is given up, ms; 3 minutes when not given. */
  readonly requestMs: number | undefined
  readonly install: null | {
    readonly user: string
    readonly password: string
    readonly email: string
    readonly title: string
    readonly language: string
  }
}

/** What the runtime writes, one JSON object a line. */
interface Said {
  readonly ev?: string
  readonly s?: string
  readonly port?: number
  readonly rss?: number
  readonly rejected?: boolean
  readonly m?: string
  readonly u?: string
  readonly st?: number
  readonly b?: number
  readonly ms?: number
  readonly ip?: string
  readonly ua?: string
  readonly kind?: string
  readonly limit?: number
}

export interface Place {
  readonly nodePath: string
  readonly runtimeDir: string
  readonly siteId: string
  readonly name: string
  /** Where the pid file lies. */
  readonly runDir: string
  /** The site's number of restarts at which it began. */
  readonly generation: number
}

const endMs = 12_000
/** A visitor who was sent here a moment ago is still on his way. */
const lastVisitorMs = 100
/** PHP's own limit is 60 s a request; a process silent for longer does not come back. */
const silenceMs = 90_000
const megabyte = 1_048_576
/** PHP's memory grows a little with every few hundred requests and is never given back: near the plan's limit the process is renewed in good time. */
const nearShare = 0.85
const renewAfterMs = 10 * 60_000

/** A line of the log as a person reads it. */
function lineOf(said: Said): string | null {
  switch (said.s) {
    case 'access':
      return `${said.ip} "${said.m} ${said.u}" ${said.st} ${said.b} ${said.ms}ms "${said.ua}"`
    case 'php':
      return said.m ?? ''
    case 'disk-full':
      return `${said.kind === 'database' ? 'database' : said.kind === 'ssd' ? 'SSD' : 'temporary'} disk is full: the limit is ${Math.round((said.limit ?? 0) / megabyte)} MB`
    case 'net-denied':
      return `connection refused by the platform: ${said.m}`
    default:
      return null
  }
}

export class Container {
  readonly name: string
  readonly order: BootOrder
  readonly generation: number
  readonly startedAt = Date.now()
  /** The port once it answers. */
  port: number | null = null
  /** Resolves when the process is gone, with the way it went in words. */
  readonly ended: Promise<string>
  /** Resolves when it answers. Rejects with DriverFailure when it ends before. */
  readonly ready: Promise<void>
  readonly #child: ChildProcess
  #heardAt = Date.now()
  #toldMb: number | null = null
  #ending = false
  #isGone = false

  constructor(place: Place, order: BootOrder, onLine: (text: string) => void) {
    this.name = place.name
    this.generation = place.generation
    // Without the password: this object lives as long as the container.
    this.order = { ...order, install: null }
    const main = path.join(place.runtimeDir, 'main.js')
    // Nothing of the portal's environment: it holds keys, and the child runs strangers' code.
    this.#child = spawn(place.nodePath, [main, '--site', place.siteId, '--container', place.name], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC' },
      cwd: place.runtimeDir,
    })
    const child = this.#child
    if (child.pid !== undefined) {
      writeFileSync(pidFile(place.runDir, path.basename(order.internalDir)), String(child.pid))
      try {
        // A busy site must not slow the portal.
        setPriority(child.pid, 5)
      } catch {
        // Gone already, or not permitted: the platform's default will do.
      }
    }
    child.stdin?.on('error', () => {})
    child.stdin?.write(`${JSON.stringify(order)}\n`)

    let fatal: Said | undefined
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#isGone = true
        resolve(error.message)
      })
      child.once('close', (code, signal) => {
        this.#isGone = true
        resolve(fatal?.m ?? (signal ? `signal ${signal}` : `code ${code}`))
      })
    })
    this.ready = new Promise((resolve, reject) => {
      readline.createInterface({ input: child.stdout! }).on('line', (line) => {
        this.#heardAt = Date.now()
        let said: Said
        try {
          said = JSON.parse(line) as Said
        } catch {
          onLine(line)
          return
        }
        if (said.rss !== undefined) this.#toldMb = Math.round(said.rss / megabyte)
        if (said.ev === 'listening' && said.port) {
          this.port = said.port
          resolve()
        } else if (said.ev === 'fatal') {
          fatal = said
        } else {
          const text = lineOf(said)
          if (text !== null) onLine(text)
        }
      })
      void this.ended.then((how) => {
        this.port = null
        reject(
          new DriverFailure(
            fatal?.rejected ? 'rejected' : 'unavailable',
            `container ${place.name} ended before it answered: ${how.split('\n')[0]}`,
          ),
        )
      })
    })
    this.ready.catch(() => {})
    readline.createInterface({ input: child.stderr! }).on('line', onLine)
  }

  /** Whether somebody asked it to end; its end is then no accident. */
  get ending(): boolean {
    return this.#ending
  }

  /** Resident memory in MB, or null while unknown. */
  memoryMb(): number | null {
    if (this.#isGone || this.#child.pid === undefined) return null
    try {
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))?.[1]
      if (kilobytes !== undefined) return Math.round(Number(kilobytes) / 1024)
    } catch {
      // No /proc on this system: what the container itself said last.
    }
    return this.#toldMb
  }

  /** Why it must be put down, or null: too much memory, or nothing heard for too long. */
  fault(): string | null {
    if (this.#isGone || this.#ending) return null
    const memory = this.memoryMb()
    if (memory !== null && memory > this.order.memoryMb) return `memory ${memory} MB is above the plan's ${this.order.memoryMb} MB`
    if (this.port !== null && Date.now() - this.#heardAt > silenceMs) return `nothing heard for ${silenceMs / 1000} s`
    return null
  }

  /** Whether it grew near its limit and has lived long enough to be renewed without hurry. */
  ripe(): boolean {
    const memory = this.memoryMb()
    return memory !== null && memory > this.order.memoryMb * nearShare && Date.now() - this.startedAt > renewAfterMs
  }

  /** A control line: new disk budgets, host names, cron. */
  send(line: object): void {
    if (!this.#isGone) this.#child.stdin?.write(`${JSON.stringify(line)}\n`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Takes it from the visitors first, so that none of them meets a closed door. */
  async retire(): Promise<void> {
    this.#ending = true
    this.port = null
    await new Promise((resolve) => setTimeout(resolve, lastVisitorMs))
    await this.stop()
  }

  /** Lets the request in hand finish, then ends it; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#ending = true
    this.port = null
    if (this.#isGone) return
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), endMs)
    await this.ended
    clearTimeout(timer)
  }
}
