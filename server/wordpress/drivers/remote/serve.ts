import type { MessageConnection } from 'vscode-jsonrpc/node'
import { serveOver } from '../../../platform/rpc.ts'
import type { LogLine, SiteRuntime } from '../../driver.ts'
import { newLines, prefix, type Acts, type SentLine } from './protocol.ts'

const sent = (lines: readonly LogLine[]): SentLine[] =>
  lines.map((line) => ({ ...line, at: line.at.toISOString() }))

/**
 * Does for whoever is at the other end of the line what the runtime can do. Ends nothing when the
 * line ends: what was begun is carried through.
 */
export function serveRuntime(line: MessageConnection, runtime: SiteRuntime): void {
  const watched = new Map<string, () => void>()
  /** Sites of whose new lines the other end knows and has not asked for yet. */
  const told = new Set<string>()

  serveOver<{ [A in keyof Acts]: Acts[A] }>(line, prefix, {
    room: () => runtime.room(),
    install: (spec, admin) => runtime.install(spec, admin),
    start: (spec) => runtime.start(spec),
    stop: (id) => runtime.stop(id),
    remove: (id) => runtime.remove(id),
    state: (id) => runtime.state(id),
    adminLink: (id, user) => runtime.adminLink(id, user),
    backup: (id, file) => runtime.backup(id, file),
    prove: (file) => runtime.prove(file),
    restore: (spec, copy, restoreId) => runtime.restore(spec, copy, restoreId),
    addresses: (id) => runtime.addresses(id),
    list: () => runtime.list(),
    unremoved: () => runtime.unremoved(),
    health: async () => (await runtime.health()) ?? null,
    describe: () => ({ name: runtime.name, capabilities: runtime.capabilities }),
    async 'log.tail'(id, limit) {
      told.delete(id)
      return sent(await runtime.log(id).tail(limit))
    },
    async 'log.after'(id, seq, limit) {
      told.delete(id)
      return sent(await runtime.log(id).after(seq, limit))
    },
    'log.watch'(id) {
      if (watched.has(id)) return
      const unwatch = runtime.log(id).watch(() => {
        // A busy site writes thousands of lines a second: said once until somebody looks.
        if (told.has(id)) return
        told.add(id)
        void line.sendNotification(newLines, { id }).catch(() => unwatch())
      })
      watched.set(id, unwatch)
    },
    'log.unwatch'(id) {
      watched.get(id)?.()
      watched.delete(id)
      told.delete(id)
    },
  })
  const forget = (): void => {
    for (const unwatch of watched.values()) unwatch()
    watched.clear()
  }
  line.onClose(forget)
  line.onDispose(forget)
}
