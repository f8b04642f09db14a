// One process of the WordPress runtime: its start, its messages, its measurements and its end.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { DriverFailure } from '../../../platform/errors.ts'
import { childPath, offerToOomKiller, type Command } from './confinement.ts'
import { pidFile } from './leftovers.ts'
import { readLines } from './lines.ts'
import type { Used } from './site-folder.ts'

/** The first line that the runtime reads on the control channel (its README). */
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
  /**
   * How long PHP may take for one request, from its turn on, before the container is given up, ms;
   * 3 minutes when not given.
   */
  readonly requestMs: number | undefined
  /** How often it walks its folders to count them anew, ms; a minute when not given. */
  readonly measureMs: number | undefined
  readonly install: null | {
    readonly user: string
    readonly password: string
    readonly email: string
    readonly title: string
    readonly language: string
  }
}

/**
 * One message of the runtime on the control channel. The runtime executes customers' code: every
 * value is validated.
 */
type RuntimeMessage = Readonly<Record<string, unknown>>

export interface Place {
  /** What starts it. */
  readonly command: Command
  readonly runtimeDir: string
  readonly name: string
  /** Where the pid file lies. */
  readonly runDir: string
  /** The site's number of restarts at which it began. */
  readonly generation: number
}

const endMs = 12_000
/** A visitor who was sent to the container a moment ago has not arrived yet. */
const lastVisitorMs = 100
/** PHP's own limit is 60 s a request; a process silent for longer does not come back. */
const silenceMs = 90_000
const megabyte = 1_048_576
/** Where containers may listen: what the system gives to a program that asks for any port. */
const lowestPort = 1_024
const highestPort = 65_535
/**
 * The longest line of the control channel tells an error of 4000 characters, six bytes each at
 * worst.
 */
const longestMessage = 65_536
/** A line of the log is cut again where it is kept. */
const longestText = 16_384
/**
 * PHP's memory grows a little with every few hundred requests and is never released: near the
 * plan's limit the process is recycled in time.
 */
const recycleShare = 0.85
const renewAfterMs = 10 * 60_000

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** The port that a container says it listens on, undefined when that is none. */
function portOf(message: RuntimeMessage): number | undefined {
  const { port } = message
  return Number.isInteger(port) && (port as number) >= lowestPort && (port as number) <= highestPort
    ? (port as number)
    : undefined
}

/** A line of the log as a person reads it. */
function lineOf(message: RuntimeMessage): string | null {
  switch (message['s']) {
    case 'access':
      return (
        `${text(message['ip'])} "${text(message['m'])} ${text(message['u'])}" ` +
        `${count(message['st']) ?? '-'} ${count(message['b']) ?? '-'} ` +
        `${count(message['ms']) ?? '-'}ms "${text(message['ua'])}"`
      )
    case 'php':
      return text(message['m'])
    case 'disk-full': {
      let disk
      if (message['kind'] === 'database') disk = 'database'
      else if (message['kind'] === 'ssd') disk = 'SSD'
      else disk = 'temporary'

      return (
        `${disk} disk is full: the limit is ` +
        `${Math.round((count(message['limit']) ?? 0) / megabyte)} MB`
      )
    }
    case 'net-denied':
      return `connection refused by the platform: ${text(message['m'])}`
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
  readonly #control: Duplex
  #lastMessageAt = Date.now()
  #reportedMb: number | null = null
  #used: Used | null = null
  #listened = false
  #ending = false
  #isGone = false

  constructor(place: Place, order: BootOrder, onLine: (text: string) => void) {
    this.name = place.name
    this.generation = place.generation
    // Without the password: this object lives as long as the container.
    this.order = { ...order, install: null }
    // Nothing of the portal's environment: it holds keys, and the child runs strangers' code.
    this.#child = spawn(place.command.file, place.command.args, {
      // The fourth is the control channel. What comes on the others is text, whatever it says: PHP
      // may write there.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { PATH: childPath, TZ: 'UTC' },
      cwd: place.runtimeDir,
    })
    const child = this.#child
    if (child.pid !== undefined) {
      writeFileSync(pidFile(place.runDir, path.basename(order.internalDir)), String(child.pid))
      offerToOomKiller(child.pid)
      try {
        // A busy site must not slow the portal.
        setPriority(child.pid, 5)
      } catch {
        // Gone already, or not permitted: the platform's default will do.
      }
    }
    this.#control = child.stdio[3] as Duplex
    this.#control.on('error', () => {})
    this.#control.write(`${JSON.stringify(order)}\n`)

    let fatal: { readonly why: string; readonly rejected: boolean } | undefined
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#isGone = true
        resolve(error.message)
      })
      child.once('close', (code, signal) => {
        this.#isGone = true
        resolve(fatal?.why ?? (signal ? `signal ${signal}` : `code ${code}`))
      })
    })
    this.ready = new Promise((resolve, reject) => {
      /** Once, and at once or never: an address does not change. */
      const listensOn = (port: number | undefined): void => {
        if (port === undefined || this.#listened) {
          onLine('the container gave no port or a second one: restarting it')
          this.kill()
          return
        }
        this.#listened = true
        if (!this.#ending) this.port = port
        resolve()
      }
      const onMessage = (line: string): void => {
        this.#lastMessageAt = Date.now()
        let message: RuntimeMessage | null
        try {
          message = JSON.parse(line) as RuntimeMessage | null
        } catch {
          return
        }
        if (typeof message !== 'object' || message === null) return
        const rss = count(message['rss'])
        if (rss !== undefined) this.#reportedMb = Math.round(rss / megabyte)
        const [files, database] = [count(message['ssd']), count(message['database'])]
        if (files !== undefined && database !== undefined) this.#used = { files, database }
        if (message['ev'] === 'listening') listensOn(portOf(message))
        else if (message['ev'] === 'fatal')
          fatal = { why: text(message['m']), rejected: message['rejected'] === true }
        else {
          const line = lineOf(message)
          if (line !== null) onLine(line)
        }
      }
      readLines(this.#control, longestMessage, onMessage, () => this.kill())
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
    for (const stream of [child.stdout!, child.stderr!]) readLines(stream, longestText, onLine)
  }

  /** What it counts on the site's disks, null until it has said so. */
  get used(): Used | null {
    return this.#isGone ? null : this.#used
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether somebody asked it to end; its end is then no accident. */
  get ending(): boolean {
    return this.#ending
  }

  /** Resident memory in MB, or null while unknown. */
  memoryMb(): number | null {
    if (this.#isGone || this.#child.pid === undefined) return null
    try {
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(
        readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'),
      )?.[1]
      if (kilobytes !== undefined) return Math.round(Number(kilobytes) / 1024)
    } catch {
      // No /proc on this system: what the container itself said last.
    }
    return this.#reportedMb
  }

  /** Why the container must be killed, or null: too much memory, or no message for too long. */
  fault(): string | null {
    if (this.#isGone || this.#ending) return null
    const memory = this.memoryMb()
    if (memory !== null && memory > this.order.memoryMb)
      return `memory ${memory} MB is above the plan's ${this.order.memoryMb} MB`
    if (this.port !== null && Date.now() - this.#lastMessageAt > silenceMs)
      return `nothing heard for ${silenceMs / 1000} s`
    return null
  }

  /** Whether its memory is near the limit and it has lived long enough to be replaced calmly. */
  shouldRecycle(): boolean {
    const memory = this.memoryMb()
    return (
      memory !== null &&
      memory > this.order.memoryMb * recycleShare &&
      Date.now() - this.startedAt > renewAfterMs
    )
  }

  /** A control line: new disk budgets, host names, cron. */
  send(line: object): void {
    if (!this.#isGone) this.#control.write(`${JSON.stringify(line)}\n`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  /** Takes the container out of the rotation first, so that no visitor meets a closed port. */
  async retire(): Promise<void> {
    this.#ending = true
    this.port = null
    await new Promise((resolve) => setTimeout(resolve, lastVisitorMs))
    await this.stop()
  }

  /**
   * Lets the request in progress finish, then ends the container; resolves when the process has
   * exited.
   */
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
