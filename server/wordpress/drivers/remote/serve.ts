import type { MessageConnection } from 'vscode-jsonrpc/node'
import { serveOver } from '../../../platform/rpc.ts'
import type { LogLine, SiteRuntime } from '../../driver.ts'
import { newLines, prefix, type Acts, type SentLine } from './protocol.ts'

const sent = (lines: readonly LogLine[]): SentLine[] =>
  lines.map((line) => ({ ...line, at: line.at.toISOString() }))

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
    backup: (id, file) => runtime.backup(id, file),
    prove: (file) => runtime.prove(file),
    restore: (spec, copy, restoreId) => runtime.restore(spec, copy, restoreId),
    addresses: (id) => runtime.addresses(id),
    frontPage: (id, host) => runtime.frontPage(id, host),
    answering: () => runtime.answering(),
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
