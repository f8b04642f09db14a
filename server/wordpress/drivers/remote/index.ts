// A driver in another process, over a line of JSON-RPC: that process runs the sites where their
// visitors are served, and keeps running when the portal is restarted.
import type { Duplex } from 'node:stream'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { DriverFailure } from '../../../platform/errors.ts'
import { frontPageStatus } from '../../../platform/front-page.ts'
import { callsOver, isUnknownCall } from '../../../platform/rpc.ts'
import { nodeFiles, sendAll } from './files.ts'
import type { DatabaseAnswer, DatabaseOp, DatabaseOrders, WordpressDriver } from '../../driver.ts'
import { newLines, prefix, received, sent, type Acts } from './protocol.ts'

export { serveFiles, serveStream } from './files.ts'
export { serveRuntime } from './serve.ts'

const unbounded = { maxRamMb: null, maxCpu: null } as const
const gone = 'the process that runs the sites is not there'

/** Turns an unknown call into a clear refusal: release 2 and older cannot move sites. */
async function orTooOld<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!isUnknownCall(error)) throw error
    throw new DriverFailure('rejected', 'the node is of a release that moves no sites')
  }
}

/**
 * The driver at the other end of the line, which must be listening. Calls that are under way when
 * the line ends, and later ones, fail with DriverFailure unavailable.
 *
 * @param sharesDisk false: it runs on another machine, and archives are sent to and fro
 * @param openStream opens a stream to that machine for archives; null: they go over the line
 */
export async function connectRuntime(
  line: MessageConnection,
  {
    sharesDisk = true,
    openStream = null,
  }: { readonly sharesDisk?: boolean; readonly openStream?: (() => Promise<Duplex>) | null } = {},
): Promise<WordpressDriver> {
  const watchers = new Map<string, Set<() => void>>()
  line.onNotification(newLines, ({ id }: { id: string }) => {
    for (const onNew of watchers.get(id) ?? []) onNew()
  })

  const ask = callsOver<{ [A in keyof Acts]: Acts[A] }>(line, prefix, gone)
  const files = sharesDisk ? null : nodeFiles(line, gone, openStream)
  const { name, capabilities } = await ask('describe')

  return {
    name,
    // Release 2 reports no bounds, and has none.
    capabilities: { ...unbounded, ...capabilities },
    room: () => ask('room'),
    install: (spec, admin) => ask('install', spec, admin),
    start: (spec) => ask('start', spec),
    stop: (id) => ask('stop', id),
    remove: (id) => ask('remove', id),
    state: (id) => ask('state', id),
    adminLink: (id, user) => ask('adminLink', id, user),
    replaceAddresses: (id, change, after) => ask('replaceAddresses', id, change, after),
    software: (id) => ask('software', id),
    // A node of release 2 or older holds no writes; it cannot update sites either.
    holdWrites: (id, ms) =>
      ask('holdWrites', id, ms).catch((error: unknown) => {
        if (isUnknownCall(error)) return false
        throw error
      }),
    applyPackage: (spec, updateId, wanted, file) =>
      files
        ? files.send(file, (there) => ask('applyPackage', spec, updateId, wanted, there))
        : ask('applyPackage', spec, updateId, wanted, file),
    upgradeDatabase: (id) => ask('upgradeDatabase', id),
    settleUpdate: (id, updateId) => ask('settleUpdate', id, updateId),
    page: (id, question) => ask('page', id, question),
    backup: (id, file) =>
      files
        ? files.fetch(file, (there) => ask('backup', id, there), { isKept: true })
        : ask('backup', id, file),
    copyOut: (id, of, file) =>
      orTooOld(
        files
          ? files.fetch(file, (there) => ask('copyOut', id, of, there), { isKept: false })
          : ask('copyOut', id, of, file),
      ),
    copyIn: (spec, of, file, log) =>
      orTooOld(
        files
          ? files.send(file, (there) => ask('copyIn', spec, of, there, sent(log)))
          : ask('copyIn', spec, of, file, sent(log)),
      ),
    // A node of an earlier release uses the file only, and ignores the site.
    prove: (file, of) =>
      files ? files.send(file, (there) => ask('prove', there, of)) : ask('prove', file, of),
    restore: (spec, copy, restoreId) =>
      files
        ? files.send(copy.file, (there) =>
            ask('restore', spec, { ...copy, file: there }, restoreId),
          )
        : ask('restore', spec, copy, restoreId),
    files: (id, order) =>
      ask('files', id, order).catch((error: unknown) => {
        if (!isUnknownCall(error)) throw error
        throw new DriverFailure('unavailable', 'the node is of a release without a file manager')
      }),
    layOutImport: (spec, all) =>
      files
        ? sendAll(files, all, (there) => ask('layOutImport', spec, there))
        : ask('layOutImport', spec, all),
    stepImport: (spec, hosts) => ask('stepImport', spec, hosts),
    importPage: (spec, target) => ask('importPage', spec, target),
    switchImport: (spec, importId) => ask('switchImport', spec, importId),
    dropImport: (id) => ask('dropImport', id),
    console: (id, order) =>
      ask('console', id, order).catch((error: unknown) => {
        if (!isUnknownCall(error)) throw error
        throw new DriverFailure('unavailable', 'the node is of a release without a console')
      }),
    database: async <Op extends DatabaseOp>(id: string, op: Op, order: DatabaseOrders[Op]) => {
      try {
        return (await ask('database', id, op, order)) as DatabaseAnswer<Op>
      } catch (error) {
        if (!isUnknownCall(error)) throw error
        throw new DriverFailure('unavailable', 'the node is of a release without a browser')
      }
    },
    addresses: (id) => ask('addresses', id),
    // Release 2 has no such call: its parent process may still run while this code takes over.
    frontPage: (id, host) =>
      ask('frontPage', id, host).catch(async (error: unknown) => {
        if (!isUnknownCall(error)) throw error
        const [address] = await ask('addresses', id)
        return await frontPageStatus(address, host)
      }),
    answering: () => ask('answering'),
    // Release 2 has no letters: its parent process may still run while this code takes over.
    sitesWithMail: () =>
      ask('sitesWithMail').catch((error: unknown) => {
        if (!isUnknownCall(error)) throw error
        return []
      }),
    takeMail: async (id, limit) =>
      (await ask('takeMail', id, limit)).map((letter) => ({
        ...letter,
        at: new Date(letter.at),
        raw: Buffer.from(letter.raw, 'base64'),
      })),
    mailTaken: (id, keys) => ask('mailTaken', id, keys),
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
        // If there is no line, the watcher notices when it asks.
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
