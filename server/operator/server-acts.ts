/** Servers that are moved between nodes. */
import { beginMove, beginUndo } from '../wordpress/index.ts'
import type { RegistryOf } from './acts.ts'

export const serverActs: RegistryOf<'server'> = {
  'server.move': {
    async run(tx, { clock, jobs }, _actor, { server, node = null }) {
      const begun = await beginMove(tx, { clock, jobs }, { siteId: server, to: node, cause: 'act' })
      return {
        subject: { kind: 'server', id: server },
        customerId: begun.customerId,
        before: { name: begun.name, node: begun.from },
        after: { name: begun.name, node: begun.to, move: begun.id },
      }
    },
  },
  'server.undo_move': {
    async run(tx, { clock, jobs }, _actor, { server }) {
      const begun = await beginUndo(tx, { clock, jobs }, server)
      const lostMs = clock.now().getTime() - begun.switchedAt.getTime()
      return {
        subject: { kind: 'server', id: server },
        customerId: begun.customerId,
        before: { name: begun.name, node: begun.from },
        after: {
          name: begun.name,
          node: begun.to,
          move: begun.id,
          // What was written since the switch.
          lostMinutes: Math.ceil(lostMs / 60_000),
        },
      }
    },
  },
}
