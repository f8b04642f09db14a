// A driver in another process, over JSON-RPC: the sites run in the process that serves their
// visitors, and keep running while the portal restarts.
import { ErrorCodes, ResponseError, type MessageConnection } from 'vscode-jsonrpc/node'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import type { LogLine, WordpressDriver } from '../../driver.ts'
import { driverFailureCode, methodOf, newLines, type Acts, type SentLine } from './protocol.ts'

export { serveRuntime } from './serve.ts'

const lineEnded: ReadonlySet<number> = new Set([
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
])

const received = (lines: readonly SentLine[]): LogLine[] =>
  lines.map((line) => ({ ...line, at: new Date(line.at) }))

/**
 * The driver at the other end of the line, which must be listening. What is under way when the line
 * ends, and what is asked afterwards, is a DriverFailure unavailable.
 */
export async function connectRuntime(line: MessageConnection): Promise<WordpressDriver> {
  const watchers = new Map<string, Set<() => void>>()
  line.onNotification(newLines, ({ id }: { id: string }) => {
    for (const onNew of watchers.get(id) ?? []) onNew()
  })

  const ask = async <A extends keyof Acts>(
    act: A,
    ...args: Parameters<Acts[A]>
  ): Promise<ReturnType<Acts[A]>> => {
    try {
      return await line.sendRequest<ReturnType<Acts[A]>>(methodOf(act), { args })
    } catch (error) {
      if (error instanceof ResponseError && error.code === driverFailureCode)
        throw new DriverFailure((error.data as { kind: DriverFailureKind }).kind, error.message, {
          cause: error,
        })
      // A bug at the other end stays one here.
      if (error instanceof ResponseError && !lineEnded.has(error.code)) throw error
      throw new DriverFailure('unavailable', 'the process that runs the sites is not there', {
        cause: error,
      })
    }
  }
  const { name, capabilities } = await ask('describe')

  return {
    name,
    capabilities,
    room: () => ask('room'),
    install: (spec, admin) => ask('install', spec, admin),
    start: (spec) => ask('start', spec),
    stop: (id) => ask('stop', id),
    remove: (id) => ask('remove', id),
    state: (id) => ask('state', id),
    adminLink: (id, user) => ask('adminLink', id, user),
    backup: (id, file) => ask('backup', id, file),
    prove: (file) => ask('prove', file),
    restore: (spec, copy, restoreId) => ask('restore', spec, copy, restoreId),
    addresses: (id) => ask('addresses', id),
    list: () => ask('list'),
    unremoved: () => ask('unremoved'),
    health: async () => (await ask('health')) ?? undefined,
    log: (id) => ({
      tail: async (limit) => received(await ask('log.tail', id, limit)),
      after: async (seq, limit) => received(await ask('log.after', id, seq, limit)),
      watch(onNew) {
        const all = watchers.get(id) ?? new Set()
        watchers.set(id, all)
        all.add(onNew)
        // Who watches without a line will find out when it asks.
        if (all.size === 1) void ask('log.watch', id).catch(() => {})
        return () => {
          if (!all.delete(onNew) || all.size > 0) return
          watchers.delete(id)
          void ask('log.unwatch', id).catch(() => {})
        }
      },
    }),
  }
}
