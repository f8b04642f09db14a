// Runs the child processes that archive and restore sites: few at a time, each with the time and
// memory that a normal site of its size needs.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures } from '../../driver.ts'
import type { ArchiveOrder } from './archive-process.ts'
import { confinedProgram } from './confined-program.ts'
import { childPath, offerToOomKiller, type Confinement, type AllowedPaths } from './confinement.ts'
import { Gate } from './gate.ts'

const { file: program, cwd } = confinedProgram('archive-process')

const atOnce = 2
/** The limits of a copy. */
export interface CopyLimits {
  /** Time, ms: at least `leastMs`, or what its bytes take at `bytesPerMs`. */
  readonly leastMs: number
  readonly bytesPerMs: number
  /** Memory of the process, MB. */
  readonly residentMb: number
}
/** A fresh site takes some seconds; a busy machine or a slow disk ten times as much. */
const usualLimits: CopyLimits = { leastMs: 3 * 60_000, bytesPerMs: 1_000, residentMb: 768 }
const mostMs = 30 * 60_000
/** A copy that failed after using this share of its time counts as slow, whatever the reason. */
const slowShare = 0.25
/** Limit of JavaScript's heap, MB. */
const heapMb = 256
const watchMs = 500

export interface CopyJob {
  /** The id by which `cutShort` ends the job. */
  readonly owner: string
  /**
   * The site, for choosing a queue: sites whose copy was once too slow or too large share a queue
   * that runs one at a time.
   */
  readonly queueKey: string
  readonly order: ArchiveOrder
  readonly allowedPaths: AllowedPaths
  /** The user that the process runs as; null: the portal's own. */
  readonly user: number | null
  /** Descriptor of the archive. */
  readonly input?: number
  readonly output?: number
  /** Packages that are moved in: they become descriptors 4, 5, … of the process. */
  readonly packages?: readonly number[]
  /** Size of the site or the archive: larger ones may take longer. */
  readonly bytes: number
}

/** Resident memory, MB; undefined where the system does not tell. */
function residentOf(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}

export class ArchiveRunner {
  readonly #confinement: Confinement
  /**
   * The queue of sites whose copies kept to their time, and that of sites with a copy that did not.
   */
  readonly #gate = new Gate(atOnce)
  readonly #slowGate = new Gate(1)
  readonly #slow = new Set<string>()
  readonly #limits: CopyLimits
  #closed = false
  /** How often an owner's jobs were cut short, so that waiting jobs end, too. */
  readonly #cuts = new Map<string, number>()
  readonly #running = new Map<
    ChildProcess,
    { readonly owner: string; readonly ended: Promise<unknown> }
  >()

  /** `limits`: smaller limits, for tests. */
  constructor(confinement: Confinement, limits: Partial<CopyLimits> = {}) {
    this.#confinement = confinement
    this.#limits = { ...usualLimits, ...limits }
  }

  /**
   * Does the job in its turn.
   * @throws DriverFailure rejected: the site's content is at fault; unavailable: it did not end
   *   within its time or memory, or the driver is closing
   */
  async run<T = CopyFigures>(job: CopyJob): Promise<T> {
    const gate = this.#slow.has(job.queueKey) ? this.#slowGate : this.#gate
    const cuts = this.#cuts.get(job.owner)
    return gate.run(() => this.#work<T>(job, cuts))
  }

  async #work<T>(job: CopyJob, cuts: number | undefined): Promise<T> {
    const { file, args } = await this.#confinement.command(
      program,
      [],
      {
        reads: [program, ...job.allowedPaths.reads],
        writes: job.allowedPaths.writes,
      },
      job.user,
      {
        addons: false,
        flags: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${heapMb}`],
      },
    )
    if (this.#closed) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
    if (this.#cuts.get(job.owner) !== cuts)
      throw new DriverFailure('unavailable', 'the copy was cut short before its turn')
    const stdio: StdioOptions = [
      job.input ?? 'ignore',
      job.output ?? 'ignore',
      'inherit',
      'ipc',
      ...(job.packages ?? []),
    ]
    // The portal's environment is not passed on: it holds keys.
    const child = spawn(file, args, { stdio, env: { PATH: childPath }, cwd })
    if (child.pid !== undefined) offerToOomKiller(child.pid)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const fail = (why: string, kind: 'rejected' | 'unavailable' = 'unavailable'): void =>
      reject(new DriverFailure(kind, `the copy was not finished: ${why}`))
    const giveUp = (why: string): void => {
      this.#slow.add(job.queueKey)
      fail(why)
      child.kill('SIGKILL')
    }
    const { leastMs, bytesPerMs, residentMb } = this.#limits
    const began = performance.now()
    const limitMs = Math.min(mostMs, leastMs + job.bytes / bytesPerMs)
    const timer = setTimeout(
      () => giveUp(`it took longer than ${Math.round(limitMs / 1000)} s`),
      limitMs,
    )
    const watch = setInterval(() => {
      const resident = residentOf(child.pid)
      if (resident !== undefined && resident > residentMb)
        giveUp(`it took more than ${residentMb} MB of memory`)
    }, watchMs)
    const ended = new Promise((done) => child.once('close', done))
    this.#running.set(child, { owner: job.owner, ended })
    child.once('message', (answer: { figures?: T; fault?: string; unfit?: boolean }) =>
      answer.figures
        ? resolve(answer.figures)
        : fail(answer.fault ?? 'no answer', answer.unfit ? 'rejected' : 'unavailable'),
    )
    child.once('error', (error) => fail(error.message))
    child.once('close', (code, signal) => fail(String(signal ?? code)))
    child.send(job.order, (error) => error && fail(error.message))
    try {
      return await promise
    } catch (error) {
      if (performance.now() - began > limitMs * slowShare) this.#slow.add(job.queueKey)
      throw error
    } finally {
      clearTimeout(timer)
      clearInterval(watch)
      await ended
      this.#running.delete(child)
    }
  }

  /** Ends running jobs, and begins no others. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#end([...this.#running])
  }

  /** Ends the owner's running and waiting jobs. */
  cutShort(owner: string): Promise<void> {
    this.#cuts.set(owner, (this.#cuts.get(owner) ?? 0) + 1)
    return this.#end([...this.#running].filter(([, one]) => one.owner === owner))
  }

  async #end(
    doomed: readonly (readonly [ChildProcess, { readonly ended: Promise<unknown> }])[],
  ): Promise<void> {
    for (const [child] of doomed) child.kill('SIGKILL')
    await Promise.all(doomed.map(([, { ended }]) => ended))
  }
}
