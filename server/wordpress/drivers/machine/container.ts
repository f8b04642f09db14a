// One process of the WordPress runtime: its start, its messages, its measurements and its end.
import { spawn, type ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'
import type { Duplex } from 'node:stream'
import { DriverFailure } from '../../../platform/errors.ts'
import { childPath, offerToOomKiller, type Command } from './confinement.ts'
import { pidFile } from './leftovers.ts'
import { readLines } from './lines.ts'
import { memoryOf } from './process-memory.ts'
import type { Used } from './engine.ts'

/** The first line that the runtime reads on the control channel (its README). */
export interface BootOrder {
  readonly siteDir: string
  readonly internalDir: string
  readonly sqliteDir: string
  readonly ticketsDir: string
  /** Where letters wait that PHP has sent. */
  readonly mailDir: string
  /** Where the site's processes count together what they write to its disks. */
  readonly countDir: string
  /** Whether PHP may send any. */
  readonly mail: boolean
  readonly url: string
  readonly hosts: readonly string[]
  readonly memoryMb: number
  readonly phpMemoryMb: number
  readonly ssdBytes: number
  readonly databaseBytes: number
  readonly internalBytes: number
  readonly internet: boolean
  /** Of the plan, as many as this machine has: pages that may compute at the same time. */
  readonly cpu: number
  /** How long PHP may take for one page, from its turn on, ms. */
  readonly pageMs: number
  /** Largest body of a request, MB. */
  readonly uploadMb: number
  /** Fields of a form that PHP reads. */
  readonly inputVars: number
  /** WP_DEBUG. */
  readonly debug: boolean
  /** How a process of PHP is started, and what of the processor it leaves to others (nice). */
  readonly php: { readonly command: Command; readonly nice: number }
  /** How often it walks its folders to count them anew, ms; a minute when not given. */
  readonly measureMs: number | undefined
  /** What PHP writes is told, and waits for an answer. */
  readonly pageTags: true
  /** PHP and the database run in an engine's containers. */
  readonly engine: boolean
  /** For how long writes are held from the start on, ms. */
  readonly holdMs: number
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
  /** Puts the process under its limits before it starts others. */
  readonly limit: (pid: number, ended: Promise<unknown>) => Promise<void>
}

const endMs = 12_000
/** A visitor who was sent to the container a moment ago has not arrived yet. */
const lastVisitorMs = 100
/** It tells how it is every five seconds, whatever PHP does: silent for so long, it is lost. */
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
/** The container ends PHP's processes above the plan's memory itself, and looks every second. */
const memoryMargin = 1.1
const containerNice = 2
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

/** What a container says that PHP has written; null for everything, and for what is no tag. */
function tagsOf({ tags }: RuntimeMessage): string[] | null {
  if (!Array.isArray(tags)) return null
  return tags.every((tag) => typeof tag === 'string') ? tags : null
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
  /** What it was started with; where an engine changes a plan's size, as it is now. */
  readonly order: Readonly<BootOrder>
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
  #cpuMs = 0
  #used: Used | null = null
  #listened = false
  #ending = false
  #isGone = false

  /**
   * @param onLine told of each line for the log
   * @param onWrite told of what PHP has written; the container waits until it returns
   * @param onDoubt told that PHP ended in the middle of a request; the same
   * @param onMail told that a letter lies in `mailDir`
   */
  constructor(
    place: Place,
    order: BootOrder,
    onLine: (text: string) => void,
    onWrite: (tags: readonly string[] | null) => void,
    onDoubt: () => void,
    onMail: () => void,
  ) {
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
        // A busy site must not slow the portal, nor PHP the site's files.
        setPriority(child.pid, containerNice)
      } catch {
        // Gone already, or not permitted: the platform's default will do.
      }
    }
    this.#control = child.stdio[3] as Duplex
    this.#control.on('error', () => {})

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
        this.#cpuMs = count(message['cpu']) ?? this.#cpuMs
        const [files, database] = [count(message['ssd']), count(message['database'])]
        if (files !== undefined && database !== undefined) this.#used = { files, database }
        if (message['ev'] === 'listening') listensOn(portOf(message))
        else if (message['ev'] === 'wrote') {
          if (message['doubt'] === true) onDoubt()
          else onWrite(tagsOf(message))
          this.send({ op: 'dropped', n: count(message['n']) ?? 0 })
        } else if (message['ev'] === 'mail') onMail()
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
    const begin = () => this.send(order)
    if (child.pid !== undefined) void place.limit(child.pid, this.ended).then(begin, begin)
    for (const stream of [child.stdout!, child.stderr!]) readLines(stream, longestText, onLine)
  }

  /** What it counts on the site's disks, null until it has said so. */
  get used(): Used | null {
    return this.#isGone ? null : this.#used
  }

  /** Processor time of all its processes, ms, as it said last. */
  get cpuMs(): number {
    return this.#cpuMs
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether somebody asked it to end; its end is then no accident. */
  get ending(): boolean {
    return this.#ending
  }

  /** Memory of all its processes in MB, or null while unknown. */
  memoryMb(): number | null {
    if (this.#isGone || this.#child.pid === undefined) return null
    // No /proc on this system: what the container itself said last.
    return memoryOf(this.#child.pid) ?? this.#reportedMb
  }

  /** Why the container must be killed, or null: too much memory, or no message for too long. */
  fault(): string | null {
    if (this.#isGone || this.#ending) return null
    const memory = this.memoryMb()
    if (memory !== null && memory > this.order.memoryMb * memoryMargin)
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
