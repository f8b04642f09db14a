/**
 * A driver's interface over a line of JSON-RPC 2.0 between two processes of ours: one method per
 * function, its arguments in `args`. A DriverFailure arrives at the caller as such.
 */
import { ErrorCodes, ResponseError, type MessageConnection } from 'vscode-jsonrpc/node'
import { DriverFailure, type DriverFailureKind } from './errors.ts'

/** Functions by name, with arguments and results that JSON can hold. */
export type Functions = { [name: string]: (...args: never[]) => unknown }

/**
 * The code of an error that is a DriverFailure; its kind is in the error's data. Below the range
 * that JSON-RPC reserves.
 */
const driverFailureCode = -31_000

const lineEnded: ReadonlySet<number> = new Set([
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
])

const methodOf = (prefix: string, name: string): string => `${prefix}/${name}`

/**
 * Calls the functions at the other end of the line, which must be listening. A function as `line`
 * gives the current line. A call under way when the line ends, and every later call, fails with
 * DriverFailure unavailable and the text `gone`.
 */
export function callsOver<F extends Functions>(
  line: MessageConnection | (() => MessageConnection | undefined),
  prefix: string,
  gone: string,
): <N extends keyof F & string>(name: N, ...args: Parameters<F[N]>) => Promise<ReturnType<F[N]>> {
  return async (name, ...args) => {
    const present = typeof line === 'function' ? line() : line
    if (!present) throw new DriverFailure('unavailable', gone)
    try {
      return await present.sendRequest(methodOf(prefix, name), { args })
    } catch (error) {
      if (error instanceof ResponseError && error.code === driverFailureCode)
        throw new DriverFailure((error.data as { kind: DriverFailureKind }).kind, error.message, {
          cause: error,
        })
      // A bug at the other end stays one here.
      if (error instanceof ResponseError && !lineEnded.has(error.code)) throw error
      throw new DriverFailure('unavailable', gone, { cause: error })
    }
  }
}

/** Whether the other end does not know the call, because it is of another release. */
export const isUnknownCall = (error: unknown): boolean =>
  error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound

/** Serves the functions to the other end of the line. */
export function serveOver<F extends Functions>(
  line: MessageConnection,
  prefix: string,
  functions: {
    readonly [N in keyof F]: (
      ...args: Parameters<F[N]>
    ) => ReturnType<F[N]> | Promise<ReturnType<F[N]>>
  },
): void {
  for (const [name, run] of Object.entries(functions))
    line.onRequest(methodOf(prefix, name), async ({ args }: { args: unknown[] }) => {
      try {
        return (await (run as (...given: unknown[]) => unknown)(...args)) ?? null
      } catch (error) {
        if (error instanceof DriverFailure)
          throw new ResponseError(driverFailureCode, error.message, { kind: error.kind })
        throw error
      }
    })
}

/** Forwards calls to another line. `to` gives the current line, or undefined if there is none. */
export function passOn(
  line: MessageConnection,
  prefix: string,
  names: readonly string[],
  to: () => MessageConnection | undefined,
): void {
  for (const name of names) {
    const method = methodOf(prefix, name)
    line.onRequest(method, (params: object) => {
      const target = to()
      if (!target) throw new ResponseError(ErrorCodes.ConnectionInactive, 'not there')
      return target.sendRequest<unknown>(method, params)
    })
  }
}
