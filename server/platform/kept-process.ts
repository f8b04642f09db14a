/** A child process that is started again when it ends without being asked to. */
import { fork, type ChildProcess } from 'node:child_process'
import { seconds } from './clock.ts'
import type { Log } from './log.ts'

export interface KeptProcess {
  /**
   * Resolves when it first says it is ready. Rejects with its exit code when it ends before: a
   * start that fails is not tried again.
   */
  readonly ready: Promise<void>
  /** Ends it well; it is started again at once, in the environment of then. */
  renew(): void
  /** SIGTERM, SIGKILL after `limitMs`; resolves when it is gone. It is not started again. */
  stop(limitMs: number): Promise<void>
}

/** The first start of a kept process failed. */
export class StartFailure extends Error {
  readonly exitCode: number
  constructor(exitCode: number) {
    super(`ended with code ${exitCode} before it was ready`)
    this.exitCode = exitCode
  }
}

const shortestPauseMs = 100
const longestPauseMs = seconds(10)
/** Who has lived this long is started again without a pause. */
const steadyMs = seconds(60)

/**
 * `onStart` has each new child, and calls `isReady` once that one is up; `env` is asked before each
 * start.
 */
export function keepProcess(
  file: string,
  onStart: (child: ChildProcess, isReady: () => void) => void,
  log: Pick<Log, 'error' | 'info'>,
  env: () => NodeJS.ProcessEnv = () => process.env,
): KeptProcess {
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
      // Asked to end by an operator's SIGTERM, it has ended well.
      if (code === 0) log.info(detail, 'the portal is started again')
      else log.error(detail, 'the portal ended and is started again')
      timer = setTimeout(start, pauseMs)
    })
    onStart(started, () => {
      wasReady = true
      first.resolve()
    })
  }
  start()
  // A parent that is forced to end leaves nobody behind.
  process.on('exit', () => child?.kill('SIGKILL'))

  return {
    ready: first.promise,
    renew: () => void child?.kill('SIGTERM'),
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
