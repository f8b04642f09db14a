/** Supervises a child process: restarts it when it exits unasked. */
import { fork, type ChildProcess } from 'node:child_process'
import { seconds } from './clock.ts'
import type { Log } from './log.ts'

export interface SupervisedChild {
  /**
   * Resolves when the child is ready for the first time. Rejects with the exit code when the child
   * exits before: a failed first start is not retried.
   */
  readonly ready: Promise<void>
  /** Stops the child by SIGTERM; it is restarted at once, with the current environment. */
  restart(): void
  /** SIGTERM, SIGKILL after `limitMs`; resolves when the child has exited. No restart. */
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

const shortestPauseMs = 100
const longestPauseMs = seconds(10)
/** A child that has lived this long is restarted without a pause. */
const steadyMs = seconds(60)

export interface ChildOptions {
  /** What the log calls it. */
  readonly name: string
  /** The module that it runs. */
  readonly file: string
  /** Has each new child, and calls `isReady` once that one is up. */
  readonly onStart: (child: ChildProcess, isReady: () => void) => void
  readonly log: Pick<Log, 'error' | 'info'>
  /** Asked before each start. */
  readonly env?: () => NodeJS.ProcessEnv
}

export function superviseChild(options: ChildOptions): SupervisedChild {
  const { name, file, onStart, log, env = () => process.env } = options
  const first = Promise.withResolvers<void>()
  let child: ChildProcess | undefined
  let wasReady = false
  let stopping = false
  let pauseMs = shortestPauseMs
  let timer: NodeJS.Timeout | undefined

  const start = (): void => {
    const began = performance.now()
    const started = fork(file, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: env(),
    })
    child = started
    started.once('exit', (code, signal) => {
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
    onStart(started, () => {
      wasReady = true
      first.resolve()
    })
  }
  start()
  // A parent that is forced to exit leaves no child.
  process.on('exit', () => child?.kill('SIGKILL'))

  return {
    ready: first.promise,
    restart: () => void child?.kill('SIGTERM'),
    async stop(limitMs) {
      stopping = true
      clearTimeout(timer)
      const last = child
      if (!last) return
      const gone = new Promise((resolve) => last.once('exit', resolve))
      last.kill('SIGTERM')
      const late = setTimeout(() => last.kill('SIGKILL'), limitMs)
      await gone
      clearTimeout(late)
    },
  }
}
