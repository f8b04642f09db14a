// A process that runs PHP, from its container's view: started, given one request at a time, ended.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { setPriority } from 'node:os'
import readline from 'node:readline'
import { FrameReader } from './frames.js'

/** Linux counts CPU time in hundredths of a second; ms. */
const tickMs = 10
/** Kinds of log lines that a process may write to its site's log; it runs customers' code. */
const logged = new Set(['php', 'disk-full', 'net-denied'])

const count = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined

/** The tags of a `wrote` frame; null, which means everything, where they are invalid. */
const tagsOf = (value) =>
  Array.isArray(value?.tags) && value.tags.every((tag) => typeof tag === 'string')
    ? value.tags
    : null

export class PhpProcess {
  /** Resolves when it accepts requests. Rejects when it ends before. */
  ready
  /** Resolves when it has ended, with the reason in words. */
  ended
  /** PHP's open connections to the site's own address. */
  ownCalls = 0
  /** Bytes on the site's disks by its count; null until it has reported them. */
  told = null
  #child
  #answers
  #rss = 0
  #rejected = false
  #why = null
  /** The request in progress: `{answer, onWrite, resolve, timer, leftMs, since}`. */
  #running = null
  /** Frames that wait until an earlier one has been handled. */
  #queue = []
  #isWaiting = false
  #installed = null

  /**
   * @param {{command: {file: string, args: string[]}, order: object, log: (line: object) => void}}
   * parts `order`: the first line that it reads (README)
   */
  constructor({ command, order, log }) {
    const child = spawn(command.file, command.args, {
      // What PHP writes there is only text for the container's log.
      stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', TZ: 'UTC' },
    })
    this.#child = child
    const [, , , control, answers] = child.stdio
    this.#answers = answers
    control.on('error', () => {})
    answers.on('error', () => {})
    control.write(`${JSON.stringify(order)}\n`)
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve((this.#why ??= error.message)))
      child.once('close', (code, signal) =>
        resolve((this.#why ??= signal ? `signal ${signal}` : `code ${code}`)),
      )
    })
    this.ready = new Promise((resolve, reject) => {
      readline.createInterface({ input: control }).on('line', (line) => {
        let said
        try {
          said = JSON.parse(line)
        } catch {
          return
        }
        this.#hear(said, log, resolve)
      })
      void this.ended.then((why) => {
        this.#finish({ how: 'ended', why })
        const error = Object.assign(new Error(why), { rejected: this.#rejected })
        this.#installed?.reject(error)
        reject(error)
      })
    })
    this.ready.catch(() => {})
    const frames = new FrameReader({
      head: (value) => this.#then(() => this.#running?.answer.head(value)),
      // Writes are reported before more of the answer is shown to anybody.
      wrote: (value) => this.#then(() => this.#running?.onWrite(tagsOf(value))),
      data: (piece) => this.#then(() => this.#running?.answer.data(piece)),
      end: (value) =>
        this.#then(() => {
          this.#rss = count(value?.rss) ?? this.#rss
          this.#finish({
            how: 'done',
            exitCode: count(value?.exitCode) ?? 255,
            trailers: value?.trailers ?? null,
          })
        }),
    })
    answers.on('data', (chunk) => {
      try {
        frames.push(chunk)
      } catch (error) {
        this.kill(`it answered what is no answer: ${error.message}`)
      }
    })
  }

  #hear(said, log, ready) {
    if (typeof said !== 'object' || said === null) return
    this.#rss = count(said.rss) ?? this.#rss
    const [ssd, database] = [count(said.ssd), count(said.database)]
    if (ssd !== undefined && database !== undefined) this.told = { ssd, database }
    if (said.ev === 'ready') ready()
    else if (said.ev === 'installed') this.#installed?.resolve({ already: said.already === true })
    else if (said.ev === 'own-calls') this.ownCalls = count(said.count) ?? 0
    else if (said.ev === 'fatal') {
      this.#rejected = said.rejected === true
      this.#why ??= String(said.m).slice(0, 4_000)
    } else if (said.ev === 'mail') log({ ev: 'mail' })
    else if (logged.has(said.s)) log(said)
  }

  /** Whether it may be given a request. */
  get idle() {
    return this.#running === null && this.#why === null
  }

  get pid() {
    return this.#child.pid
  }

  /**
   * CPU time so far, ms, and whether it wants a processor right now; null where the system does not
   * tell.
   */
  processor() {
    try {
      const fields = fs.readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
      const usedMs = (Number(fields[11]) + Number(fields[12])) * tickMs
      return { usedMs, wants: fields[0] === 'R' }
    } catch {
      return null
    }
  }

  /**
   * Memory, bytes, without the program's code, which all processes of this machine share: from the
   * system, or else the process's last report.
   */
  rss() {
    try {
      const status = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8')
      const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm)]
      if (kilobytes.length > 0)
        return kilobytes.reduce((sum, [, one]) => sum + Number(one), 0) * 1_024
    } catch {
      // The system has no such file, or the process has ended.
    }
    return this.#rss
  }

  /** Lowers the process's priority: 0 to 19. */
  yieldTo(nice) {
    try {
      setPriority(this.pid, nice)
    } catch {
      // The process has ended, or it is not permitted.
    }
  }

  #send(line) {
    this.#child.stdio[3].write(`${JSON.stringify(line)}\n`)
  }

  /** @returns {Promise<{already: boolean}>} */
  install(admin) {
    return new Promise((resolve, reject) => {
      this.#installed = { resolve, reject }
      this.#send({ op: 'install', admin })
    })
  }

  resize(limits) {
    this.#send({ op: 'limits', ...limits })
  }

  /**
   * Runs one request. `limitMs` counts while PHP works and not while the visitor is slow to read.
   * @param {{head: (value: object) => void, data: (piece: Buffer) => Promise<void> | undefined}}
   * answer a promise that `data` returns is awaited, and PHP waits as well
   * @param {{limitMs: number, onWrite: (tags: string[] | null) => Promise<void>}} more `onWrite`
   * gets what PHP wrote (null: everything) and is awaited
   * @returns {Promise<{how: 'done', exitCode: number, trailers: object | null} | {how: 'timeout'} |
   * {how: 'ended', why: string}>}
   */
  run(request, answer, { limitMs, onWrite }) {
    return new Promise((resolve) => {
      if (this.#why !== null) return resolve({ how: 'ended', why: this.#why })
      this.#running = { answer, onWrite, resolve, timer: undefined, leftMs: limitMs, since: 0 }
      this.#startClock()
      this.#send({ op: 'run', request })
    })
  }

  #startClock() {
    const running = this.#running
    running.since = performance.now()
    running.timer = setTimeout(() => {
      this.kill('a page took longer than it may')
      this.#finish({ how: 'timeout' })
    }, running.leftMs)
  }

  #stopClock() {
    const running = this.#running
    clearTimeout(running.timer)
    running.leftMs = Math.max(0, running.leftMs - (performance.now() - running.since))
  }

  /** Runs steps in the order in which PHP sent them, and waits for what each returns. */
  #then(act) {
    this.#queue.push(act)
    if (!this.#isWaiting) this.#drain()
  }

  #drain() {
    while (this.#queue.length > 0) {
      const running = this.#running
      const taken = this.#queue.shift()()
      if (!taken) continue
      this.#isWaiting = true
      if (running) this.#stopClock()
      this.#answers.pause()
      void taken.then(() => {
        this.#isWaiting = false
        this.#answers.resume()
        if (running && this.#running === running) this.#startClock()
        this.#drain()
      })
      return
    }
  }

  #finish(outcome) {
    const running = this.#running
    if (!running) return
    this.#running = null
    clearTimeout(running.timer)
    running.resolve(outcome)
  }

  kill(why) {
    this.#why ??= why
    this.#child.kill('SIGKILL')
  }
}
