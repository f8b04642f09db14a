/**
 * The processes that act on sites' files (files-process.ts): one for each site, while it is needed.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import * as z from 'zod'
import { DriverFailure } from '../../../platform/errors.ts'
import { fileFaults, type FileAnswer, type FileOrder } from '../../driver.ts'
import { confinedProgram } from './confined-program.ts'
import { childPath, offerToOomKiller, type Confinement } from './confinement.ts'

const { file: program, cwd } = confinedProgram('files-process')
const heapMb = 96
/** Most processes at a time, and so most sites whose owners act at once; each takes 50 MB. */
const usualProcesses = 20
/**
 * Longest time of an act. A folder of thousands of files takes a second; removing a large one takes
 * longer.
 */
const actMs = 60_000

/** The process runs as the site's user: its answers are validated. */
const answerShape = z.union([
  z.strictObject({ fault: z.enum(fileFaults) }),
  z.strictObject({
    entries: z
      .array(
        z.strictObject({
          name: z.string().max(255),
          kind: z.enum(['file', 'folder', 'link', 'other']),
          bytes: z.number().nonnegative(),
          at: z.number(),
        }),
      )
      .max(5_000),
    isWhole: z.boolean(),
  }),
  z.strictObject({ bytes: z.number().nonnegative(), data: z.base64().max(1_400_000) }),
  z.strictObject({ bytes: z.number().nonnegative() }),
  z.strictObject({}),
])

const faultIn = (said: unknown): string =>
  typeof said === 'string' ? said.slice(0, 300) : 'no answer that can be read'

interface Hand {
  readonly child: ChildProcess
  readonly waiting: Map<
    number,
    { readonly resolve: (answer: FileAnswer) => void; readonly reject: (error: Error) => void }
  >
}

export class FileHands {
  readonly #confinement: Confinement
  readonly #mostProcesses: number
  readonly #hands = new Map<string, Promise<Hand>>()
  /** Number of acts under way or beginning, by the folder of the site's files. */
  readonly #busy = new Map<string, number>()
  #count = 0
  #closed = false

  /** `mostProcesses`: a smaller number, for tests. */
  constructor(confinement: Confinement, mostProcesses = usualProcesses) {
    this.#confinement = confinement
    this.#mostProcesses = mostProcesses
  }

  /**
   * @param root the folder of the site's files
   * @param user their owner; null: the portal's own user
   */
  async act(root: string, user: number | null, order: FileOrder): Promise<FileAnswer> {
    if (this.#closed) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
    this.#busy.set(root, (this.#busy.get(root) ?? 0) + 1)
    try {
      return await this.#ask(await this.#handOf(root, user), order)
    } finally {
      const left = (this.#busy.get(root) ?? 1) - 1
      if (left > 0) this.#busy.set(root, left)
      else this.#busy.delete(root)
    }
  }

  async #ask(hand: Hand, order: FileOrder): Promise<FileAnswer> {
    const id = ++this.#count
    const { promise, resolve, reject } = Promise.withResolvers<FileAnswer>()
    hand.waiting.set(id, { resolve, reject })
    hand.child.send({ id, order }, (error) => error && reject(error))
    const timer = setTimeout(() => {
      reject(new Error(`no answer in ${actMs / 1_000} s`))
      hand.child.kill('SIGKILL')
    }, actMs)
    try {
      return await promise
    } catch (error) {
      throw new DriverFailure('unavailable', `files of the site: ${(error as Error).message}`, {
        cause: error,
      })
    } finally {
      clearTimeout(timer)
      hand.waiting.delete(id)
    }
  }

  #handOf(root: string, user: number | null): Promise<Hand> {
    const found = this.#hands.get(root)
    if (found) {
      // The map is in the order of last use.
      this.#hands.delete(root)
      this.#hands.set(root, found)
      return found
    }
    if (this.#hands.size >= this.#mostProcesses && !this.#endIdle())
      throw new DriverFailure('unavailable', 'too many owners act on files at the moment')
    const hand: Promise<Hand> = this.#begin(root, user, () => forget())
    // A newer process may have begun for the site.
    const forget = (): void => {
      if (this.#hands.get(root) === hand) this.#hands.delete(root)
    }
    this.#hands.set(root, hand)
    hand.catch(forget)
    return hand
  }

  /**
   * Ends the process that has been idle longest. Each stays for a while, so one owner of many
   * servers would otherwise block the node's other owners.
   */
  #endIdle(): boolean {
    for (const [root, hand] of this.#hands) {
      if (this.#busy.has(root)) continue
      this.#hands.delete(root)
      hand.then(
        ({ child }) => child.kill('SIGKILL'),
        () => undefined,
      )
      return true
    }
    return false
  }

  async #begin(root: string, user: number | null, forget: () => void): Promise<Hand> {
    const { file, args } = await this.#confinement.command(
      program,
      [root],
      { reads: [program], writes: [root, '/proc/self/fd'] },
      user,
      {
        addons: false,
        flags: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${heapMb}`],
      },
    )
    // The portal's environment is not passed on: it holds keys.
    const child = spawn(file, args, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { PATH: childPath },
      cwd,
    })
    if (child.pid !== undefined) offerToOomKiller(child.pid)
    const waiting: Hand['waiting'] = new Map()
    const end = (why: string): void => {
      forget()
      for (const { reject } of waiting.values()) reject(new Error(why))
    }
    child.once('error', (error) => end(error.message))
    child.once('close', (code, signal) => end(`its process ended: ${String(signal ?? code)}`))
    child.on('message', (said: { id?: unknown; answer?: unknown; error?: unknown }) => {
      const one = typeof said?.id === 'number' ? waiting.get(said.id) : undefined
      if (!one) return
      const read = answerShape.safeParse(said.answer)
      if (read.success) one.resolve(read.data)
      else one.reject(new Error(faultIn(said.error)))
    })
    return { child, waiting }
  }

  async close(): Promise<void> {
    this.#closed = true
    const hands = await Promise.allSettled(this.#hands.values())
    for (const hand of hands) if (hand.status === 'fulfilled') hand.value.child.kill('SIGKILL')
  }
}
