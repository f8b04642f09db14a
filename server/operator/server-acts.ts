/** Servers that are moved between nodes. */
import { beginMove, beginUndo, undoableMove } from '../wordpress/index.ts'
import { saidMsAgo, type RegistryOf } from './acts.ts'

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
    // Days of a server that came up from its backup: two members say that they are to be lost.
    async needsSecond(tx, { clock }, { server, poweredOff }) {
      const said = { isOff: poweredOff === 'yes', saidMsAgo: 0 }
      return (await undoableMove(tx, clock, server, said)).move.backup_id !== null
    },
    async run(tx, { clock, jobs }, actor, { server, poweredOff }) {
      const said = { isOff: poweredOff === 'yes', saidMsAgo: saidMsAgo(clock, actor) }
      const begun = await beginUndo(tx, { clock, jobs }, server, said)
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
