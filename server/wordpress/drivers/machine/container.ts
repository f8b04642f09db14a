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
  /** Folder of letters that PHP has sent. */
  readonly mailDir: string
  /** Folder in which the site's processes together count what they write to its disks. */
  readonly countDir: string
  /** Whether PHP may send letters. */
  readonly mail: boolean
  readonly url: string
  readonly hosts: readonly string[]
  readonly memoryMb: number
  readonly phpMemoryMb: number
  readonly ssdBytes: number
  readonly databaseBytes: number
  readonly internalBytes: number
  readonly internet: boolean
  /** How many pages may compute at the same time: the plan's processors, at most the machine's. */
  readonly cpu: number
  /** How long PHP may take for one page, from its turn on, ms. */
  readonly pageMs: number
  /** Largest body of a request, MB. */
  readonly uploadMb: number
  /** Most fields of a form that PHP reads. */
  readonly inputVars: number
  /** WP_DEBUG. */
  readonly debug: boolean
  /** How a process of PHP is started, and its nice value. */
  readonly php: { readonly command: Command; readonly nice: number }
  /** Interval at which it walks its folders to count them again, ms; a minute when not given. */
  readonly measureMs: number | undefined
  /** The container reports what PHP writes, and waits for an answer. */
  readonly pageTags: true
  /** Whether PHP and the database run in an engine's containers. */
  readonly engine: boolean
  /** How long writes are held from the start on, ms. */
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
  /** The command that starts the process. */
  readonly command: Command
  readonly runtimeDir: string
  readonly name: string
  /** Folder of the pid file. */
  readonly runDir: string
  /** The site's number of restarts when the container was started. */
  readonly generation: number
  /** Puts the process under its limits before it starts others. */
  readonly limit: (pid: number, ended: Promise<unknown>) => Promise<void>
}

const endMs = 12_000
/** How long a retiring container still takes requests: an edge may just have sent it a visitor. */
const lastVisitorMs = 100
/**
 * A container reports every five seconds, whatever PHP does: after this silence it counts as lost.
 */
const silenceMs = 90_000
const megabyte = 1_048_576
/**
 * Ports that a container may listen on: those that the system gives to a program that asks for any.
 */
const lowestPort = 1_024
const highestPort = 65_535
/**
 * The longest line of the control channel: an error of 4000 characters, six bytes each at worst.
 */
const longestMessage = 65_536
/** Longest text of a log line; it is cut again where it is stored. */
const longestText = 16_384
/**
 * PHP's memory grows a little with every few hundred requests and is never released: above this
 * share of the plan's limit the container is replaced.
 */
const recycleShare = 0.85
/**
 * The kill limit, by this factor above the plan. The container itself ends PHP's processes above
 * the plan's memory, and checks every second.
 */
const memoryMargin = 1.1
const containerNice = 2
const renewAfterMs = 10 * 60_000

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** The port that a container reports; undefined where it is invalid. */
function portOf(message: RuntimeMessage): number | undefined {
  const { port } = message
  return Number.isInteger(port) && (port as number) >= lowestPort && (port as number) <= highestPort
    ? (port as number)
    : undefined
}

/** The tags of what PHP has written; null for everything, and for an invalid list. */
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
  /** The order that it was started with; where an engine changes a plan's size, as it is now. */
  readonly order: Readonly<BootOrder>
  readonly generation: number
  readonly startedAt = Date.now()
  /** The port once the container answers; null: it takes no requests. */
  port: number | null = null
  /** Resolves when the process is gone, with the way it ended in words. */
  readonly ended: Promise<string>
  /** Resolves when the container answers. Rejects with DriverFailure when it ends before. */
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
   * @param onLine called with each line for the log
   * @param onWrite called with what PHP has written; the container waits until it returns
   * @param onDoubt called when PHP ended in the middle of a request; the container waits likewise
   * @param onMail called when a letter lies in `mailDir`
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
    // The password is left out: this object lives as long as the container.
    this.order = { ...order, install: null }
    // The portal's environment is not passed on: it holds keys, and the child runs strangers' code.
    this.#child = spawn(place.command.file, place.command.args, {
      // The fourth is the control channel. Whatever comes on the others is only text: PHP may write
      // there.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { PATH: childPath, TZ: 'UTC' },
      cwd: place.runtimeDir,
    })
    const child = this.#child
    if (child.pid !== undefined) {
      writeFileSync(pidFile(place.runDir, path.basename(order.internalDir)), String(child.pid))
      offerToOomKiller(child.pid)
      try {
        // Priorities keep a busy site from slowing the portal, and PHP from slowing the site's
        // files.
        setPriority(child.pid, containerNice)
      } catch {
        // The process is gone already, or this is not permitted: the default is good enough.
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
      /**
       * Takes the port that the container reports, once: an address does not change. A missing or
       * second port ends the container.
       */
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

  /** The container's count of the site's disks; null until it has reported. */
  get used(): Used | null {
    return this.#isGone ? null : this.#used
  }

  /** CPU time of all its processes, ms, as last reported. */
  get cpuMs(): number {
    return this.#cpuMs
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Whether the driver asked it to end; then its end is no accident. */
  get ending(): boolean {
    return this.#ending
  }

  /** Memory of all its processes in MB, or null while unknown. */
  memoryMb(): number | null {
    if (this.#isGone || this.#child.pid === undefined) return null
    // This system has no /proc: the container's last report is used.
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

  /** Sends a control line: new disk budgets, host names, cron. */
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
