import { setTimeout as pause } from 'node:timers/promises'
import { readHostAndPort } from '../../contract/host-and-port.ts'
import { nodeName } from '../../contract/operator-node-acts.ts'
import type { NodeLoss } from '../../contract/operator-nodes.ts'
import type { Config } from '../config.ts'
import { connect, type Database } from '../platform/db.ts'
import { readRootSecret } from '../platform/secrets.ts'
import {
  freeOn,
  isEmptied,
  isLost,
  keptOn,
  listNodes,
  lossOf,
  remainingOn,
} from '../wordpress/index.ts'
import { actFor, reasonOf, type CommandOutcome } from './act.ts'
import { ageOf, nodeLostCommand } from './node-lost.ts'
import type { Output } from './output.ts'

const usage =
  'npm run portal -- node [list]\n' +
  'npm run portal -- node add <name> <host:port> [--regions 1,4 | all] [--sites <ip:port>]\n' +
  'npm run portal -- node key <name>\n' +
  'npm run portal -- node drain <name> [--wait] [--stay]\n' +
  'npm run portal -- node lost <name> --reason <text> [--powered-off] [--dry-run]\n' +
  'npm run portal -- node undrain | activate | remove <name>\n' +
  'Each with --json, and those that change something with --reason <text> for the trail.'

const noSecret = 'There is no PORTAL_SECRET: start the portal first.'
const hasSecret = (config: Config): boolean =>
  readRootSecret(config.DATA_DIR, config.PORTAL_SECRET) !== undefined

/** The machine's firewall rules, in the syntax of nftables. */
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

/** The value of an option, '' if it has none; undefined: the option is missing. Removes both. */
function optionOf(options: string[], name: string): string | undefined {
  const at = options.indexOf(name)
  return at === -1 ? undefined : (options.splice(at, 2)[1] ?? '')
}

/** Data centres by their ids; null: all of them. Undefined: the text is no such list. */
function regionsIn(text: string): number[] | null | undefined {
  if (text === 'all') return null
  return /^[1-9]\d{0,8}(?:,[1-9]\d{0,8})*$/.test(text) ? text.split(',').map(Number) : undefined
}

/** Whether the flag is present; removes it. */
function flagOf(options: string[], name: string): boolean {
  const at = options.indexOf(name)
  if (at !== -1) options.splice(at, 1)
  return at !== -1
}

const lookMs = 1_000

/**
 * Prints what is still on a node; answers 1 if something remains that cannot, or should not, move.
 */
async function tellRemaining(db: Database, name: string, waits: boolean, out: Output) {
  for (;;) {
    const empties = await isEmptied(db, name)
    const remaining = await remainingOn(db, name)
    const stuck = remaining.filter(
      ({ movesTo, why }) => movesTo === null && (why !== null || !empties),
    )
    if (waits && remaining.length > stuck.length) {
      await pause(lookMs)
      continue
    }
    const soon = empties ? 'its turn comes.' : 'nothing moves it.'
    if (!empties && remaining.length > 0)
      out.line(`Node ${name} is not emptied any more: what is on it stays.`)
    for (const { name: server, movesTo, why } of remaining)
      out.line(
        movesTo === null
          ? `${server}  stays for now: ${why ?? soon}`
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

type Refuse = (text: string, code?: number) => number

async function list(db: Database, out: Output): Promise<number> {
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

/** Prints the steps for the operator on the node's machine. */
function tellAdded(
  config: Config,
  { node, address }: { readonly node: string; readonly address: string },
  { after, told }: CommandOutcome,
  out: Output,
): void {
  const regions = Array.isArray(after?.['regions']) ? (after['regions'] as number[]) : null
  const sites = (after?.['edge'] ?? null) as string | null
  const { joinKey, key } = told ?? {}
  const command = `npm run portal -- join ${config.portalUrl} ${node}`
  for (const line of [
    `Node ${node} is written down: data centres ${regions?.join(',') ?? 'all'}, ` +
      `${sites ?? 'no address'} for the edges of other nodes.`,
    'On its machine, in the folder of this release:',
    '',
    `  ${command}`,
    '',
    'It asks for this key, which works once, and for an hour:',
    '',
    `  ${joinKey}`,
    '',
    ...firewallLines(config, address),
  ])
    out.line(line)
  out.fields({ node, address, regions, sites, command, joinKey, key })
}

/** The default reason of each act, and the message after it. */
const simple = {
  drain: {
    reason: 'drained by command',
    said: (name: string, stays: boolean) =>
      stays
        ? `Node ${name} gets no new sites.`
        : `Node ${name} gets no new sites, and its servers move to other nodes.`,
    fields: { state: 'draining' },
  },
  activate: {
    reason: 'activated by command',
    said: (name: string) => `Node ${name} gets new sites again, where there is room.`,
    fields: { state: 'active' },
  },
  remove: {
    reason: 'removed by command',
    said: (name: string) => `Node ${name} is forgotten.`,
    fields: { removed: true },
  },
} as const

/**
 * `node`: the machines that run customers' sites. `add` registers one and prints how to start it. A
 * drained node gets no new servers, and its servers move to others (with `--stay` they stay). An
 * empty one can be removed. Each of these is an act, such as `node.add`.
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
  const why = optionOf(options, '--reason')
  const [waits, stays] = [flagOf(options, '--wait'), flagOf(options, '--stay')]
  const [act = 'list', node = '', address = '', ...more] = options
  const refuse: Refuse = (text, code = 64) => {
    out.refuse(text)
    return code
  }
  if (act === 'list' && node === '') return await withDatabase(databaseUrl, (db) => list(db, out))
  if (!nodeName.test(node)) return refuse(usage)
  const isKnown = (verb: string): verb is keyof typeof simple => Object.hasOwn(simple, verb)
  const verb = act === 'undrain' ? 'activate' : act
  if (verb === 'add') {
    const ids = regions === undefined ? undefined : regionsIn(regions)
    const reason = reasonOf(why, 'written down by command')
    if (
      !readHostAndPort(address) ||
      more.length > 0 ||
      (sites !== undefined && !readHostAndPort(sites)) ||
      (regions !== undefined && ids === undefined) ||
      reason === undefined
    )
      return refuse(usage)
    if (!hasSecret(config)) return refuse(noSecret, 1)
    const input = {
      node,
      address,
      ...(ids !== undefined && { regions: ids ?? 'all' }),
      ...(sites !== undefined && { sites }),
      reason,
    }
    return await actFor(config, databaseUrl, 'node.add', input, out, {
      done: (outcome) => tellAdded(config, input, outcome, out),
    })
  }
  if (address !== '' || (verb !== 'key' && !isKnown(verb))) return refuse(usage)
  const reason = reasonOf(why, verb === 'key' ? 'key shown by command' : simple[verb].reason)
  if (reason === undefined) return refuse(usage)
  if (!hasSecret(config)) return refuse(noSecret, 1)
  if (verb === 'key')
    return await actFor(config, databaseUrl, 'node.key', { node, reason }, out, {
      done({ told }) {
        out.line(told?.['key'] ?? '')
        out.fields({ node, key: told?.['key'] })
      },
    })
  const input = { node, ...(verb === 'drain' && stays && { stay: 'yes' }), reason }
  const code = await actFor(config, databaseUrl, `node.${verb}`, input, out, {
    done() {
      out.line(simple[verb].said(node, stays))
      out.fields({ node, ...simple[verb].fields })
    },
  })
  return code === 0 && verb === 'drain' && !stays
    ? await withDatabase(databaseUrl, (db) => tellRemaining(db, node, waits, out))
    : code
}

async function withDatabase(
  databaseUrl: string,
  act: (db: Database) => Promise<number>,
): Promise<number> {
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    return await act(db)
  } finally {
    await close()
  }
}
