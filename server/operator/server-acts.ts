/** Servers that are moved between nodes, or cancelled. */
import { formatMoney } from '../../contract/money.ts'
import type { Tx } from '../platform/db.ts'
import { beginMove, beginUndo, cancellable, undoableMove } from '../wordpress/index.ts'
import { saidMsAgo, type ActNeeds, type RegistryOf } from './acts.ts'
import { serverCancelled } from './letters.ts'
import { isAbove, movedAlone } from './second-member.ts'

/** The subscription to cancel, and the amount that cancelling gives back now, minor units. */
async function cancelling(tx: Tx, { subscriptions }: ActNeeds, server: string) {
  const found = await cancellable(tx, server)
  return { ...found, unused: await subscriptions.unusedNow(tx, found.subscriptionId) }
}

export const serverActs: RegistryOf<'server'> = {
  'server.cancel': {
    customer: async (tx, { server }) => (await cancellable(tx, server)).customerId,
    // It gives money back as a refund does: many small ones count as one large one.
    async needsSecond(tx, needs, { server }) {
      const { customerId, currency, unused } = await cancelling(tx, needs, server)
      const before = await movedAlone(tx, needs, 'server.cancel', customerId)
      return isAbove(needs, currency, before + unused)
    },
    async run(tx, { subscriptions, customerMail, mail }, _actor, { server, told }) {
      const { customerId, name, before, subscriptionId, currency } = await cancellable(tx, server)
      const amount = Number(await subscriptions.cancelNow(tx, subscriptionId))
      const { email, language } = await customerMail(tx, customerId)
      const back = amount > 0 ? formatMoney(amount, currency, language) : null
      const { subject, text } = serverCancelled[language](name, told, back)
      await mail(tx, email, subject, text)
      return {
        subject: { kind: 'server', id: server },
        customerId,
        before: { name, state: before },
        after: { name, state: 'deleting', told, amount, currency },
      }
    },
  },
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
          // Writes since the switch are lost.
          lostMinutes: Math.ceil(lostMs / 60_000),
        },
      }
    },
  },
}
