import type { MessageConnection } from 'vscode-jsonrpc/node'
import { serveOver } from '../../../platform/rpc.ts'
import type { SiteRuntime } from '../../driver.ts'
import { newLines, prefix, received, sent, type Acts } from './protocol.ts'

/**
 * Serves the runtime's methods to the process at the other end. When the connection ends, acts in
 * progress are completed.
 */
export function serveRuntime(line: MessageConnection, runtime: SiteRuntime): void {
  const watched = new Map<string, () => void>()
  /** Sites whose new lines were notified to the other end and not read yet. */
  const notified = new Set<string>()

  serveOver<{ [A in keyof Acts]: Acts[A] }>(line, prefix, {
    room: () => runtime.room(),
    install: (spec, admin) => runtime.install(spec, admin),
    start: (spec) => runtime.start(spec),
    stop: (id) => runtime.stop(id),
    remove: (id) => runtime.remove(id),
    state: (id) => runtime.state(id),
    adminLink: (id, user) => runtime.adminLink(id, user),
    replaceAddresses: (id, change, after) => runtime.replaceAddresses(id, change, after),
    software: (id) => runtime.software(id),
    holdWrites: (id, ms) => runtime.holdWrites(id, ms),
    applyPackage: (spec, updateId, wanted, file) =>
      runtime.applyPackage(spec, updateId, wanted, file),
    upgradeDatabase: (id) => runtime.upgradeDatabase(id),
    settleUpdate: (id, updateId) => runtime.settleUpdate(id, updateId),
    page: (id, question) => runtime.page(id, question),
    backup: (id, file) => runtime.backup(id, file),
    copyOut: (id, of, file) => runtime.copyOut(id, of, file),
    copyIn: (spec, of, file, log) => runtime.copyIn(spec, of, file, received(log)),
    prove: (file, of) => runtime.prove(file, of ?? undefined),
    restore: (spec, copy, restoreId) => runtime.restore(spec, copy, restoreId),
    files: (id, order) => runtime.files(id, order),
    layOutImport: (spec, files) => runtime.layOutImport(spec, files),
    stepImport: (spec, hosts) => runtime.stepImport(spec, hosts),
    importPage: (spec, target) => runtime.importPage(spec, target),
    switchImport: (spec, importId) => runtime.switchImport(spec, importId),
    dropImport: (id) => runtime.dropImport(id),
    console: (id, order) => runtime.console(id, order),
    database: (id, op, order) => runtime.database(id, op, order),
    addresses: (id) => runtime.addresses(id),
    frontPage: (id, host) => runtime.frontPage(id, host),
    answering: () => runtime.answering(),
    sitesWithMail: () => runtime.sitesWithMail(),
    takeMail: async (id, limit) =>
      (await runtime.takeMail(id, limit)).map((letter) => ({
        ...letter,
        at: letter.at.toISOString(),
        raw: letter.raw.toString('base64'),
      })),
    mailTaken: (id, keys) => runtime.mailTaken(id, keys),
    list: () => runtime.list(),
    unremoved: () => runtime.unremoved(),
    health: async () => (await runtime.health()) ?? null,
    describe: () => ({ name: runtime.name, capabilities: runtime.capabilities }),
    async 'log.tail'(id, limit) {
      notified.delete(id)
      return sent(await runtime.log(id).tail(limit))
    },
    async 'log.after'(id, seq, limit) {
      notified.delete(id)
      return sent(await runtime.log(id).after(seq, limit))
    },
    'log.watch'(id) {
      if (watched.has(id)) return
      const unwatch = runtime.log(id).watch(() => {
        // A busy site writes thousands of lines a second: one notification until a reader asks.
        if (notified.has(id)) return
        notified.add(id)
        void line.sendNotification(newLines, { id }).catch(() => unwatch())
      })
      watched.set(id, unwatch)
    },
    'log.unwatch'(id) {
      watched.get(id)?.()
      watched.delete(id)
      notified.delete(id)
    },
  })
  const forget = (): void => {
    for (const unwatch of watched.values()) unwatch()
    watched.clear()
  }
  line.onClose(forget)
  line.onDispose(forget)
}
