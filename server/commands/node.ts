import type { Config } from '../config.ts'
import { nodeKey } from '../own-node.ts'
import { connect, type Database } from '../platform/db.ts'
import { openSecrets, readRootSecret } from '../platform/secrets.ts'
import { freeOn, isLost, listNodes, putNode, removeNode, setNodeState } from '../wordpress/index.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- node [list]\n' +
  'npm run portal -- node add <name> <host:port> [--regions 1,4] [--sites <ip:port>]\n' +
  'npm run portal -- node key <name>\n' +
  'npm run portal -- node drain | activate | remove <name>\n' +
  'Each with --json.'
const nameShape = /^[a-z0-9][a-z0-9-]{0,39}$/
const addressShape = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+):[1-9]\d{0,4}$/i

const noSecret = 'There is no PORTAL_SECRET: start the portal first.'

/** Undefined before the portal has a secret. */
async function keyOf(config: Config, db: Database, name: string): Promise<string | undefined> {
  const root = readRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
  if (root === undefined) return undefined
  return nodeKey(await openSecrets(db, root, config.PORTAL_SECRET_PREVIOUS), name)
}

/** What follows an option; undefined where it is not there. */
function optionOf(options: string[], name: string): string | undefined {
  const at = options.indexOf(name)
  return at === -1 ? undefined : options.splice(at, 2)[1]
}

/**
 * `node`: the machines that run customers' sites. `add` writes one down and says how it is started;
 * a draining node gets no new sites; one that runs none can be removed.
 */
export async function nodeCommand(
  config: Config,
  databaseUrl: string,
  given: readonly string[],
  out: Output,
): Promise<number> {
  const options = [...given]
  const regions = optionOf(options, '--regions')
  const sites = optionOf(options, '--sites')
  const [act = 'list', name = '', address = '', ...more] = options
  const refuse = (text: string, code = 64): number => {
    out.refuse(text)
    return code
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (act === 'list' && name === '') {
      const nodes = await listNodes(db)
      for (const node of nodes)
        out.line(
          `${node.id}  ${isLost(node) ? 'lost' : node.state}  ${node.sites} sites  ` +
            `room for ${freeOn(node)} containers  ` +
            `data centres ${node.regions?.join(',') ?? 'all'}  ${node.address ?? 'this machine'}`,
        )
      out.fields({ nodes: nodes.map((node) => ({ ...node, lost: isLost(node) })) })
      return nodes.some(isLost) ? 1 : 0
    }
    if (!nameShape.test(name)) return refuse(usage)
    if (act === 'add') {
      const ids = regions?.split(',').map(Number)
      if (
        !addressShape.test(address) ||
        more.length > 0 ||
        (sites !== undefined && !addressShape.test(sites)) ||
        ids?.some((id) => !Number.isInteger(id) || id < 1)
      )
        return refuse(usage)
      const key = await keyOf(config, db, name)
      if (key === undefined) return refuse(noSecret, 1)
      await putNode(db, {
        id: name,
        address,
        sitesAddress: sites ?? null,
        regions: ids ?? null,
      })
      out.line(`Node ${name} is written down. On its machine, with this release and Node.js:`)
      out.line('')
      out.line(
        `  ROLES=node NODE_NAME=${name} NODE_LISTEN=${address} NODE_KEY=${key} \\\n` +
          `    SITES_DOMAIN=${config.SITES_DOMAIN ?? 'localhost'} HOST=0.0.0.0 npm start`,
      )
      out.line('')
      out.line('Only the machines of the portal may reach that port. docs/operate.md says more.')
      out.fields({ node: name, address, key })
      return 0
    }
    if (address !== '') return refuse(usage)
    if (act === 'key') {
      const key = await keyOf(config, db, name)
      if (key === undefined) return refuse(noSecret, 1)
      out.line(key)
      out.fields({ node: name, key })
      return 0
    }
    if (act === 'drain' || act === 'activate') {
      const state = act === 'drain' ? 'draining' : 'active'
      if (!(await setNodeState(db, name, state))) return refuse(`There is no node ${name}.`, 1)
      out.line(
        act === 'drain'
          ? `Node ${name} gets no new sites.`
          : `Node ${name} gets new sites again, where there is room.`,
      )
      out.fields({ node: name, state })
      return 0
    }
    if (act !== 'remove') return refuse(usage)
    const left = await removeNode(db, name)
    if (left === 'unknown') return refuse(`There is no node ${name}.`, 1)
    if (left > 0) return refuse(`Node ${name} still runs ${left} sites.`, 1)
    out.line(`Node ${name} is forgotten.`)
    out.fields({ node: name, removed: true })
    return 0
  } finally {
    await close()
  }
}
