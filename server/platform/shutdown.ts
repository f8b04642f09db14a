/**
 * Graceful shutdown. Ctrl-C in a terminal reaches the whole process group, and npm and the start
 * script forward the signal as well: one request to stop arrives two or three times. Libraries take
 * the second signal as "at once"; here signals within a moment count as one, and only a later one
 * forces.
 */
import { seconds } from './clock.ts'
import type { Log } from './log.ts'

const sameWishMs = seconds(2)

export interface Shutdown {
  /** Begins it now, as a signal would. */
  begin(): void
  /** Stops listening to signals, for a failed start that ends by itself. */
  disarm(): void
}

/**
 * `close` runs once, on a signal or an uncaught exception; the process ends when it is done, or
 * after `limitMs`. A child that its parent ends is not `ofTheTerminal`: Ctrl-C and SIGHUP reach it
 * too, but the parent acts on them. `reload`: the meaning of SIGHUP for a service (systemctl
 * reload, logrotate); on a terminal SIGHUP means the terminal's end. SIGUSR2 always reloads.
 */
export function closeOnSignals(
  close: (signal: NodeJS.Signals | undefined) => Promise<void>,
  limitMs: number,
  log: Log,
  {
    ofTheTerminal = true,
    reload,
  }: { readonly ofTheTerminal?: boolean; readonly reload?: () => void } = {},
): Shutdown {
  let began: number | undefined

  const end = async (signal: NodeJS.Signals | undefined, code: number): Promise<void> => {
    began = performance.now()
    const late = setTimeout(() => {
      log.error({ limitMs }, 'stopping took too long')
      process.exit(1)
    }, limitMs)
    try {
      await close(signal)
    } catch (error) {
      log.error({ err: error }, 'stopping')
      code = 1
    }
    clearTimeout(late)
    process.exit(code)
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!ofTheTerminal && signal !== 'SIGTERM') return
    if (reload && signal === 'SIGHUP' && !process.stdout.isTTY) {
      if (began === undefined) reload()
      return
    }
    if (began === undefined) void end(signal, 0)
    else if (performance.now() - began > sameWishMs) process.exit(1)
  }
  const onBug = (error: unknown): void => {
    log.fatal({ err: error }, 'uncaught exception')
    if (began === undefined) void end(undefined, 1)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  if (reload && process.platform !== 'win32')
    process.on('SIGUSR2', () => {
      if (began === undefined) reload()
    })
  process.on('uncaughtException', onBug)
  process.on('unhandledRejection', onBug)
  return {
    begin() {
      if (began === undefined) void end(undefined, 0)
    },
    disarm() {
      for (const signal of signals) process.off(signal, onSignal)
      process.off('uncaughtException', onBug)
      process.off('unhandledRejection', onBug)
    },
  }
}
