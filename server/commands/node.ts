import type { NodeLoss } from '../../contract/operator-nodes.ts'
import { inUse, loadCatalog } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { nodeKey } from '../own-node.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, transaction, type Database } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { Refusal } from '../platform/errors.ts'
import { later, readOffset, systemClock } from '../platform/clock.ts'
import { openSecrets, readRootSecret, type Secrets } from '../platform/secrets.ts'
import {
  emptyJob,
  freeOn,
  isLost,
  keptOn,
  listNodes,
  lossOf,
  makeJoinKey,
  putNode,
  remainingOn,
  removeNode,
  setEmptying,
  setNodeState,
} from '../wordpress/index.ts'
import { ageOf, nodeLostCommand } from './node-lost.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- node [list]\n' +
  'npm run portal -- node add <name> <host:port> [--regions 1,4 | all] [--sites <ip:port>]\n' +
  'npm run portal -- node key <name>\n' +
  'npm run portal -- node drain <name> [--wait] [--stay]\n' +
  'npm run portal -- node lost <name> --reason <text> [--powered-off] [--dry-run]\n' +
  'npm run portal -- node undrain | activate | remove <name>\n' +
  'Each with --json.'
const nameShape = /^[a-z0-9][a-z0-9-]{0,39}$/
const addressShape = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+):[1-9]\d{0,4}$/i

const noSecret = 'There is no PORTAL_SECRET: start the portal first.'

/** Undefined before the portal has a secret. */
async function secretsOf(config: Config, db: Database): Promise<Secrets | undefined> {
  const root = readRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
  return root === undefined ? undefined : await openSecrets(db, root, config.PORTAL_SECRET_PREVIOUS)
}

/** What the machine lets in, in the words of nftables. */
function firewallLines(config: Config, address: string): string[] {
  const { port } = new URL(`tcp://${address}`)
  const visitors = [config.SITES_PORT, config.SITES_TLS_PORT].filter((one) => one !== undefined)
  return [
    `Let visitors and the other nodes reach its sites, and the portal alone its line:`,
    '',
    `  nft add rule inet filter input tcp dport { ${visitors.join(', ')} } accept`,
    `  nft add rule inet filter input ip saddr <machines of the portal> tcp dport ${port} accept`,
    `  nft add rule inet filter input tcp dport ${port} drop`,
    '',
    'docs/operate.md says more.',
  ]
}

/** What follows an option, '' where nothing does; undefined where it is not there. */
function optionOf(options: string[], name: string): string | undefined {
  const at = options.indexOf(name)
  return at === -1 ? undefined : (options.splice(at, 2)[1] ?? '')
}

/** Data centres by their ids; null: all of them. Undefined for what is no such list. */
function regionsIn(text: string): number[] | null | undefined {
  if (text === 'all') return null
  return /^[1-9]\d{0,8}(?:,[1-9]\d{0,8})*$/.test(text) ? text.split(',').map(Number) : undefined
}

/** A sentence about ids that the catalogue in use does not have; undefined where it has all. */
async function unknownRegions(
  db: Database,
  config: Config,
  ids: readonly number[],
): Promise<string | undefined> {
  const known = await dataCentresInUse(db, config)
  const unknown = ids.filter((id) => !known.some((one) => one.id === id))
  if (unknown.length === 0) return undefined
  return (
    `The catalogue has no data centre ${unknown.join(', ')}: it has ` +
    `${known.map(({ id, name }) => `${id} (${name})`).join(', ')}.`
  )
}

/** Of the version in use; of this machine's file before a portal has made it one. */
async function dataCentresInUse(
  db: Database,
  config: Config,
): Promise<readonly { readonly id: number | null; readonly name: string }[]> {
  try {
    return (await inUse(db)).selling.dataCentres
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return loadCatalog(config.CATALOG).dataCentres
  }
}

/** Whether the word was there; it is taken away. */
function flagOf(options: string[], name: string): boolean {
  const at = options.indexOf(name)
  if (at !== -1) options.splice(at, 1)
  return at !== -1
}

const lookMs = 1_000

/** Wakes the portal that runs, which looks at nodes that are drained every minute otherwise. */
async function wakeDraining(config: Config, databaseUrl: string, db: Database): Promise<void> {
  const jobs = createJobs(databaseUrl, createLog(config.LOG_LEVEL), 'send')
  await jobs.start()
  try {
    await transaction(db, (tx) => jobs.add(tx, emptyJob, {}))
  } finally {
    await jobs.stop()
  }
}

/** What is still on a node; answers 1 where something stays that cannot move. */
async function tellRemaining(db: Database, name: string, waits: boolean, out: Output) {
  for (;;) {
    const remaining = await remainingOn(db, name)
    const stuck = remaining.filter(({ movesTo, why }) => movesTo === null && why !== null)
    if (waits && remaining.length > stuck.length) {
      await pause(lookMs)
      continue
    }
    for (const { name: server, movesTo, why } of remaining)
      out.line(
        movesTo === null
          ? `${server}  stays for now: ${why ?? 'its turn comes.'}`
          : `${server}  is being moved to ${movesTo}`,
      )
    const kept = await keptOn(db, name)
    if (remaining.length === 0) out.line(`Node ${name} runs no server any more.`)
    if (kept > 0)
      out.line(`It still keeps ${kept} originals or copies, which are removed within an hour.`)
    out.fields({ remaining, kept })
    return stuck.length > 0 ? 1 : 0
  }
}

/**
 * `node`: the machines that run customers' sites. `add` writes one down and says how it is started;
 * a drained node gets no new servers, and those that it has move to others (with `--stay` they
 * stay); one that has none can be removed.
 */
export async function nodeCommand(
  config: Config,
  databaseUrl: string,
  given: readonly string[],
  out: Output,
): Promise<number> {
  if (given[0] === 'lost') return await nodeLostCommand(config, databaseUrl, given.slice(1), out)
  const options = [...given]
  const regions = optionOf(options, '--regions')
  const sites = optionOf(options, '--sites')
  const [waits, stays] = [flagOf(options, '--wait'), flagOf(options, '--stay')]
  const [act = 'list', name = '', address = '', ...more] = options
  const refuse = (text: string, code = 64): number => {
    out.refuse(text)
    return code
  }
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    if (act === 'list' && name === '') {
      const nodes = await listNodes(db)
      const lost = new Map<string, NodeLoss>()
      for (const node of nodes) {
        out.line(
          `${node.id}  ${isLost(node) ? 'lost' : node.state}  ${node.sites} sites  ` +
            `room for ${freeOn(node)} containers  ` +
            `data centres ${node.regions?.join(',') ?? 'all'}  ${node.address ?? 'this machine'}`,
        )
        if (!isLost(node)) continue
        const loss = await lossOf(db, node.id)
        lost.set(node.id, loss)
        const { heardAt, servers } = loss
        out.line(`  not heard of since ${heardAt ?? 'ever'} (${ageOf(heardAt, Date.now())})`)
        for (const { name } of servers) out.line(`  ${name}`)
      }
      out.fields({
        nodes: nodes.map((node) => ({
          ...node,
          lost: isLost(node),
          heardAt: lost.get(node.id)?.heardAt ?? null,
          servers: lost.get(node.id)?.servers.map(({ id, name }) => ({ id, name })) ?? null,
        })),
      })
      return nodes.some(isLost) ? 1 : 0
    }
    if (!nameShape.test(name)) return refuse(usage)
    if (act === 'add') {
      const ids = regions === undefined ? undefined : regionsIn(regions)
      if (
        !addressShape.test(address) ||
        more.length > 0 ||
        (sites !== undefined && !addressShape.test(sites)) ||
        (regions !== undefined && ids === undefined)
      )
        return refuse(usage)
      const unknown = ids ? await unknownRegions(db, config, ids) : undefined
      if (unknown !== undefined) return refuse(unknown, 1)
      const secrets = await secretsOf(config, db)
      if (!secrets) return refuse(noSecret, 1)
      // What is not given stays: the same command is asked again for another key.
      await putNode(db, { id: name, address, sitesAddress: sites, regions: ids })
      const node = (await listNodes(db)).find(({ id }) => id === name)
      // The sandbox's clock may have been moved.
      const offsetMs = config.sandbox ? await readOffset(db) : 0
      const clock = { now: () => later(systemClock.now(), offsetMs) }
      const joinKey = await makeJoinKey(db, { secrets, clock }, name)
      const command = `npm run portal -- join ${config.portalUrl} ${name}`
      out.line(
        `Node ${name} is written down: data centres ${node?.regions?.join(',') ?? 'all'}, ` +
          `${node?.sites_address ?? 'no address'} for the edges of other nodes.`,
      )
      out.line('On its machine, in the folder of this release:')
      out.line('')
      out.line(`  ${command}`)
      out.line('')
      out.line('It asks for this key, which works once, and for an hour:')
      out.line('')
      out.line(`  ${joinKey}`)
      out.line('')
      for (const line of firewallLines(config, address)) out.line(line)
      out.fields({
        node: name,
        address,
        regions: node?.regions ?? null,
        sites: node?.sites_address ?? null,
        command,
        joinKey,
        key: nodeKey(secrets, name),
      })
      return 0
    }
    if (address !== '') return refuse(usage)
    if (act === 'key') {
      const secrets = await secretsOf(config, db)
      if (!secrets) return refuse(noSecret, 1)
      const key = nodeKey(secrets, name)
      out.line(key)
      out.fields({ node: name, key })
      return 0
    }
    if (act === 'drain' && stays) {
      if (!(await setNodeState(db, name, 'draining'))) return refuse(`There is no node ${name}.`, 1)
      out.line(`Node ${name} gets no new sites.`)
      out.fields({ node: name, state: 'draining' })
      return 0
    }
    if (act === 'drain') {
      if (!(await setEmptying(db, name, true))) return refuse(`There is no node ${name}.`, 1)
      await wakeDraining(config, databaseUrl, db)
      out.line(`Node ${name} gets no new sites, and its servers move to other nodes.`)
      out.fields({ node: name, state: 'draining' })
      return await tellRemaining(db, name, waits, out)
    }
    if (act === 'activate' || act === 'undrain') {
      if (!(await setEmptying(db, name, false))) return refuse(`There is no node ${name}.`, 1)
      out.line(`Node ${name} gets new sites again, where there is room.`)
      out.fields({ node: name, state: 'active' })
      return 0
    }
    if (act !== 'remove') return refuse(usage)
    const left = await removeNode(db, name)
    if (left === 'unknown') return refuse(`There is no node ${name}.`, 1)
    if (left > 0)
      return refuse(`Node ${name} still has ${left} sites, or keeps them after a move.`, 1)
    out.line(`Node ${name} is forgotten.`)
    out.fields({ node: name, removed: true })
    return 0
  } finally {
    await close()
  }
}
