/** Nodes: written down, emptied, forgotten (decision 141), and lost (decision 123). */
import { inUse } from '../catalog/index.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import {
  beginRescues,
  emptyJob,
  keepServers,
  nodeAsSaid,
  putNode,
  refuseUnlessLost,
  removeNode,
  setEmptying,
} from '../wordpress/index.ts'
import { saidMsAgo, type ActNeeds, type Actor, type RegistryOf } from './acts.ts'

const refusal = (code: 'not_found' | 'conflict' | 'invalid_input', field: string, said: Sentence) =>
  new Refusal(code, { fields: { [field]: said } })

/** The operator's settings of a node. Refuses with not_found an unknown one. */
async function known(tx: Tx, node: string) {
  const said = await nodeAsSaid(tx, node)
  if (!said)
    throw refusal('not_found', 'node', {
      en: `There is no node ${node}.`,
      vi: `Không có node ${node}.`,
    })
  return said
}

/** Keys are shown in the shell only, to whoever has access to the machine. */
function refuseAtDesk({ staffId }: Actor): void {
  if (staffId !== null) throw new Refusal('forbidden')
}

/** The data centres of the version in use; of this machine's file before there is a version. */
async function dataCentresInUse(
  db: Queryable,
  { catalog }: Pick<ActNeeds, 'catalog'>,
): Promise<readonly { readonly id: number | null; readonly name: string }[]> {
  try {
    return (await inUse(db)).selling.dataCentres
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return catalog.dataCentres
  }
}

/** Refuses ids that the catalogue in use does not have. */
async function refuseUnknown(
  db: Queryable,
  needs: Pick<ActNeeds, 'catalog'>,
  ids: readonly number[],
): Promise<void> {
  const dataCentres = await dataCentresInUse(db, needs)
  const unknown = ids.filter((id) => !dataCentres.some((one) => one.id === id)).join(', ')
  const has = dataCentres.map(({ id, name }) => `${id} (${name})`).join(', ')
  if (unknown !== '')
    throw refusal('invalid_input', 'regions', {
      en: `The catalogue has no data centre ${unknown}: it has ${has}.`,
      vi: `Danh mục không có trung tâm dữ liệu ${unknown}: chỉ có ${has}.`,
    })
}

const subject = (node: string) => ({ kind: 'node', id: node })

export const nodeActs: RegistryOf<'node'> = {
  'node.add': {
    async run(tx, needs, actor, { node, address, regions, sites }) {
      const { nodeKeys } = needs
      refuseAtDesk(actor)
      if (Array.isArray(regions)) await refuseUnknown(tx, needs, regions)
      const before = (await nodeAsSaid(tx, node)) ?? null
      const ids = regions === 'all' ? null : regions
      // Values that are not given stay: repeating the act makes another key.
      await putNode(tx, { id: node, address, sitesAddress: sites, regions: ids })
      return {
        subject: subject(node),
        before,
        after: { ...(await known(tx, node)), joinKey: 'made' },
        told: { joinKey: await nodeKeys.join(tx, node), key: nodeKeys.line(node) },
      }
    },
  },
  'node.key': {
    run(_tx, { nodeKeys }, actor, { node }) {
      refuseAtDesk(actor)
      const told = { key: nodeKeys.line(node) }
      // A name server has such a key too, and is no node.
      return Promise.resolve({ subject: subject(node), before: null, after: { node }, told })
    },
  },
  'node.drain': {
    async run(tx, { jobs }, _actor, { node, stay }) {
      const before = await known(tx, node)
      if (stay === 'yes') await keepServers(tx, node)
      else {
        await setEmptying(tx, node, true)
        // The portal that runs looks at once, and not at its next turn.
        await jobs.add(tx, emptyJob, {})
      }
      return { subject: subject(node), before, after: await known(tx, node) }
    },
  },
  'node.activate': {
    async run(tx, _needs, _actor, { node }) {
      const before = await known(tx, node)
      await setEmptying(tx, node, false)
      return { subject: subject(node), before, after: await known(tx, node) }
    },
  },
  'node.remove': {
    async run(tx, _needs, _actor, { node }) {
      const before = await known(tx, node)
      const left = await removeNode(tx, node)
      if (left !== 0)
        throw refusal('conflict', 'node', {
          en: `Node ${node} still has ${left} sites, or keeps them after a move.`,
          vi: `Node ${node} vẫn còn ${left} trang web, hoặc bản gốc giữ lại sau khi chuyển.`,
        })
      return { subject: subject(node), before, after: null }
    },
  },
  // Data written since the backups is lost with the node: two members must confirm.
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
