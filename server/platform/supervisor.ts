/**
 * Supervises a child process: restarts it after an unexpected exit, and replaces it without a gap
 * in service. The parent owns the ports that its children listen on (node:cluster), so that two
 * children can share a port during a replacement.
 */
import { fork, type ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { seconds } from './clock.ts'
import type { Log } from './log.ts'

export interface SupervisedChild {
  /**
   * Resolves when the child is ready for the first time. Rejects with the exit code when the child
   * exits before: a failed first start is not retried.
   */
  readonly ready: Promise<void>
  /** Stops the child by SIGTERM; it starts again at once, with the current environment. */
  restart(): void
  /**
   * Starts another child beside the present one. Once it is ready, the present one is retired and
   * ended. If the new one ends before or is not ready in time, nothing changes and the answer is
   * false. A second call meanwhile waits for the first and then begins anew.
   */
  replace(): Promise<boolean>
  /**
   * Sends SIGTERM, and SIGKILL after `limitMs`. Resolves when every child has exited; none is
   * restarted.
   */
  stop(limitMs: number): Promise<void>
}

/** The first start of a supervised child failed. */
export class StartFailure extends Error {
  readonly exitCode: number
  constructor(exitCode: number) {
    super(`ended with code ${exitCode} before it was ready`)
    this.exitCode = exitCode
  }
}

export interface ChildOptions {
  /** The child's name in the log. */
  readonly name: string
  /** The module that it runs; asked before each start. */
  readonly file: () => string
  /** Receives each new child, and calls `isReady` once the child is up. */
  readonly onStart: (child: ChildProcess, isReady: () => void) => void
  readonly log: Pick<Log, 'error' | 'info'>
  /** Called before each start. */
  readonly env?: () => NodeJS.ProcessEnv
  /** Children listen on the parent's ports. A process may have at most one such kind of child. */
  readonly sharesPorts?: boolean
  /** Lets a replaced child finish its work in progress before it gets SIGTERM. */
  readonly retire?: (child: ChildProcess) => Promise<void>
}

const shortestPauseMs = 100
const longestPauseMs = seconds(10)
/** A child that has lived this long is restarted without a pause. */
const steadyMs = seconds(60)
/** How long a replacement may take until it is ready. */
const replacementMs = seconds(60)
/** How long a retired child may take to end. */
const retiredMs = seconds(20)
const execArgv = ['--disable-warning=ExperimentalWarning']

function spawn(file: string, env: NodeJS.ProcessEnv, sharesPorts: boolean): ChildProcess {
  if (!sharesPorts) return fork(file, { execArgv, env })
  // The kernel gives a connection to whichever child takes it first.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: file, execArgv })
  // `cluster.fork` adds to this process's environment: variables that are not in `env` must be
  // unset.
  const absent = Object.fromEntries(Object.keys(process.env).map((key) => [key, undefined]))
  return cluster.fork({ ...absent, ...env }).process
}

const exitOf = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => void child.once('exit', () => resolve()))

async function end(child: ChildProcess, limitMs: number): Promise<void> {
  const gone = exitOf(child)
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs)
  await gone
  clearTimeout(late)
}

export function superviseChild(options: ChildOptions): SupervisedChild {
  const { name, file, onStart, log, env = () => process.env, sharesPorts = false } = options
  const first = Promise.withResolvers<void>()
  /** The present one, those that are being retired, and one that is to replace it. */
  const all = new Set<ChildProcess>()
  let child: ChildProcess | undefined
  let wasReady = false
  let stopping = false
  let pauseMs = shortestPauseMs
  let timer: NodeJS.Timeout | undefined
  let replacing: Promise<boolean> = Promise.resolve(true)

  function open(): { started: ChildProcess; ready: Promise<void> } {
    const started = spawn(file(), env(), sharesPorts)
    all.add(started)
    started.once('exit', () => all.delete(started))
    return {
      started,
      ready: new Promise((resolve) => onStart(started, resolve)),
    }
  }

  function start(): void {
    const began = performance.now()
    const { started, ready } = open()
    watch(started, began)
    void ready.then(() => {
      wasReady = true
      first.resolve()
    })
  }

  /** Makes `started` the present child, which is restarted when it exits. */
  function watch(started: ChildProcess, began: number): void {
    child = started
    started.once('exit', (code, signal) => {
      if (child !== started) return
      child = undefined
      if (stopping) return
      if (!wasReady) {
        first.reject(new StartFailure(code ?? 1))
        return
      }
      pauseMs =
        performance.now() - began > steadyMs
          ? shortestPauseMs
          : Math.min(pauseMs * 2, longestPauseMs)
      const detail = { code, signal, againInMs: pauseMs }
      // An operator's SIGTERM to the child is a clean exit.
      if (code === 0) log.info(detail, `${name} is started again`)
      else log.error(detail, `${name} ended and is started again`)
      timer = setTimeout(start, pauseMs)
    })
  }

  async function replace(): Promise<boolean> {
    if (stopping) return false
    const began = performance.now()
    const { started, ready } = open()
    const late = Promise.withResolvers<false>()
    const patience = setTimeout(() => late.resolve(false), replacementMs)
    const isReady = await Promise.race([
      ready.then(() => true),
      exitOf(started).then(() => false),
      late.promise,
    ])
    clearTimeout(patience)
    if (!isReady || stopping) {
      if (!stopping) log.error(`the new process of ${name} is not ready: the present one goes on`)
      await end(started, retiredMs)
      return false
    }
    const former = child
    clearTimeout(timer)
    watch(started, began)
    if (former) void retire(former)
    return true
  }

  async function retire(former: ChildProcess): Promise<void> {
    await options.retire?.(former).catch(() => undefined)
    if (all.has(former)) await end(former, retiredMs)
  }

  start()
  // A parent that is forced to exit leaves no child.
  process.on('exit', () => {
    for (const one of all) one.kill('SIGKILL')
  })

  return {
    ready: first.promise,
    restart: () => void child?.kill('SIGTERM'),
    replace() {
      replacing = replacing.then(replace)
      return replacing
    },
    async stop(limitMs) {
      stopping = true
      clearTimeout(timer)
      await Promise.all([...all].map((one) => end(one, limitMs)))
    },
  }
}
