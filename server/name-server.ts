/**
 * The name server: opened in this process (`openNameServer`), or supervised in its own process
 * (`superviseNameServer`), as main.ts does. There it answers while the portal restarts or the
 * database is away, and a flood of queries does not slow other parts down.
 */
import path from 'node:path'
import { ErrorCodes, ResponseError, type MessageConnection } from 'vscode-jsonrpc/node'
import type { Config } from './config.ts'
import { createEmbedded, passOnToNameServer, serveNameServer } from './dns/drivers/name-server.ts'
import type { Log } from './platform/log.ts'
import { StartFailure, superviseChild } from './platform/supervisor.ts'
import {
  measureProcess,
  passOnToNameServerFigures,
  serveNameServerFigures,
} from './process-figures.ts'
import { programOf } from './programs.ts'
import { lineTo } from './sites-line.ts'

/** The settings of a name server's process: the parent's first request. */
export interface NameServerSettings {
  readonly host: string
  readonly port: number
  readonly transferTo: readonly string[]
  /** The folder of its zones. */
  readonly folder: string
  readonly logLevel: Config['LOG_LEVEL']
}
/** Answered with nothing once the ports are open, or with why they are not. */
export const openRequest = 'name-server/open'

export type NameServerConfig = Pick<
  Config,
  'HOST' | 'DNS_PORT' | 'DNS_AXFR_ALLOW' | 'DATA_DIR' | 'LOG_LEVEL'
>

export const nameServerSettings = (config: NameServerConfig): NameServerSettings => ({
  host: config.HOST,
  port: config.DNS_PORT,
  transferTo: config.DNS_AXFR_ALLOW,
  folder: path.join(config.DATA_DIR, 'dns'),
  logLevel: config.LOG_LEVEL,
})

export interface NameServer {
  /** Serves the calls of the line; the caller then sets the line to listening. */
  serve(line: MessageConnection): void
  close(): Promise<void>
}

/** Resolves when it answers. Rejects with the system's error for its ports (EADDRINUSE). */
export async function openNameServer(
  settings: NameServerSettings,
  log: Pick<Log, 'error'>,
): Promise<NameServer> {
  const driver = createEmbedded({
    ...settings,
    onFault: (error) => log.error({ err: error }, 'the name server'),
  })
  await driver.start()
  const measured = measureProcess()
  return {
    serve(line) {
      serveNameServer(line, driver)
      serveNameServerFigures(line, () => ({ ...measured(), dns: driver.counts() }))
    },
    close: () => driver.close(),
  }
}

export interface SupervisedNameServer {
  /** Resolves when it answers for the first time. Rejects as `openNameServer` does. */
  readonly ready: Promise<void>
  /** To its process as it is now; undefined while there is none. */
  line(): MessageConnection | undefined
  /** Starts it again with these settings. */
  restart(settings: NameServerSettings): void
  /** Resolves when its process is gone. */
  stop(): Promise<void>
}

/** Longest time that its process may take to end, ms. */
const stopLimitMs = 5_000

/** An error of the system, as it crosses the line. */
type SystemError = Pick<NodeJS.ErrnoException, 'code' | 'syscall'> & {
  readonly port?: number
  readonly address?: string
}
export const systemErrorOver = (error: unknown): ResponseError<SystemError> => {
  const { message, code, syscall, port, address } = error as Error & SystemError
  return new ResponseError<SystemError>(ErrorCodes.InternalError, message, {
    ...(code !== undefined && { code }),
    ...(syscall !== undefined && { syscall }),
    ...(port !== undefined && { port }),
    ...(address !== undefined && { address }),
  })
}

/** Forwards the portal's calls to the present name server, if there is one. */
export const passCallsOn = (
  line: MessageConnection,
  nameServer: () => SupervisedNameServer | undefined,
): void => {
  const to = () => nameServer()?.line()
  passOnToNameServer(line, to)
  passOnToNameServerFigures(line, to)
}

export function superviseNameServer(
  given: NameServerSettings,
  log: Pick<Log, 'error' | 'info'>,
): SupervisedNameServer {
  let settings = given
  let present: MessageConnection | undefined
  let fault: unknown
  const child = superviseChild({
    name: 'the name server',
    file: () => programOf('name-server-process'),
    log,
    onStart(started, isReady) {
      const line = lineTo(started)
      line.listen()
      line.sendRequest(openRequest, settings).then(
        () => {
          present = line
          line.onDispose(() => {
            if (present === line) present = undefined
          })
          isReady()
        },
        (error: unknown) => {
          fault =
            error instanceof ResponseError
              ? Object.assign(new Error(error.message), error.data as SystemError)
              : error
          log.error({ err: fault }, 'the name server does not open')
          started.kill('SIGTERM')
        },
      )
    },
  })
  return {
    ready: child.ready.catch((error: unknown) => {
      throw error instanceof StartFailure && fault !== undefined ? fault : error
    }),
    line: () => present,
    restart(fresh) {
      settings = fresh
      child.restart()
    },
    stop: () => child.stop(stopLimitMs),
  }
}
