/** A node that is lost. What was written since the backups is lost with it: two members say so. */
import { beginRescues, refuseUnlessLost } from '../wordpress/index.ts'
import { saidMsAgo, type RegistryOf } from './acts.ts'

export const nodeActs: RegistryOf<'node'> = {
  'node.lost': {
    async needsSecond(tx, _needs, { node, server = null, poweredOff }) {
      await refuseUnlessLost(tx, { node, server, isOff: poweredOff === 'yes' })
      return true
    },
    async run(tx, { clock, jobs, outbox }, actor, { node, server = null, poweredOff }) {
      const of = { node, server, isOff: poweredOff === 'yes', saidMsAgo: saidMsAgo(clock, actor) }
      const { servers, stays } = await beginRescues(tx, { clock, jobs }, of)
      await outbox.tellOperator(tx, {
        event: 'node.lost',
        customerId: null,
        payload: { node: { id: node, comes_up: servers.length, stays: stays.length } },
      })
      return {
        subject: { kind: 'node', id: node },
        before: { node, servers: servers.length + stays.length },
        after: { node, comesUp: servers, stays },
      }
    },
  },
}
