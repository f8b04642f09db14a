/**
 * The WordPress driver that the modules use: each call goes to the node that runs the site. The
 * node of this machine is always there; those of other machines come and go.
 */
import type { Database } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { EdgeControl } from './directory.ts'
import type { SiteLog, WordpressCapabilities, WordpressDriver } from './driver.ts'
import { forgetMirrored, noteEnd, noteMirrored, promiseLease, type Leases } from './lease-store.ts'
import { isSwitching } from './move-store.ts'
import {
  allNodes,
  isNowhere,
  nodeOf,
  nodeStates,
  noteSeen,
  putNode,
  type NodeEntry,
} from './nodes.ts'
import { firstNode } from './store.ts'
import { NowhereToProve } from './whole-backup.ts'
import { within } from './within.ts'

/** The calls to one node, over its connection. */
export interface NodeControl {
  readonly driver: WordpressDriver
  readonly edge: EdgeControl
}

/** A connection to a node of another machine, which opens again whenever it breaks. */
export interface NodeConnection {
  /** Undefined while there is no connection. */
  control(): NodeControl | undefined
  /** Ends the present connection, which is stuck. */
  reopen(): void
  close(): void
}

export interface Nodes {
  readonly driver: WordpressDriver
  /** The edge of the node that runs the site. Throws DriverFailure where it cannot be asked. */
  edgeOf(siteId: string): Promise<EdgeControl>
  /** The calls to a node, whatever runs there. Throws DriverFailure where it cannot be asked. */
  at(node: string): NodeControl
  /** Restarts all watches of logs, because a server is on another node now. */
  rerouted(): void
  /** Data centres of the nodes that can be reached now; null: every one. */
  regions(): number[] | null
  /** The nodes that can be reached now. */
  reachable(): readonly (NodeControl & { readonly node: string })[]
  /** Resolves when this machine's node is stored. From then on it looks every few seconds. */
  start(): Promise<void>
  /**
   * Renews a node's lease and tells it which sites it answers for. Throws DriverFailure where it
   * cannot be asked.
   */
  tell(node: string): Promise<void>
  /** When a node answered last, by the clock of this process (performance.now); null: never. */
  heardAt(node: string): number | null
  /** Replaces the connection to a node of another machine by a new one. */
  reopen(node: string): void
  /** Looks now: connects to new nodes, and stores what all nodes report. */
  look(): Promise<void>
  stop(): void
}

interface NodesParts {
  readonly db: Database
  readonly log: Log
  /** The node of this machine, if it runs sites. */
  readonly own: { readonly entry: NodeEntry; readonly control: NodeControl } | null
  /** Connects to a node of another machine; `onOpen` is called whenever the connection opens. */
  readonly connect: (node: string, address: string, onOpen: () => void) => NodeConnection
  readonly leases: Leases
  /** Whether this process stores what nodes report: true where it runs jobs. */
  readonly notes: boolean
  /** Called when a node can be reached again. */
  readonly onReachable: () => void
}

/** Short enough that several looks may fail before a node counts as lost (placement.ts). */
const lookMs = 15_000
/** A node that takes longer to answer is asked again at the next look. */
const answerMs = 10_000

/** For a node that keeps to no lease. */
const withoutLease: Leases = { wholeMs: null, mirroredMs: null }

const nothingKnown: WordpressCapabilities = {
  maxContainers: 1,
  minRamMb: 512,
  maxRamMb: null,
  maxCpu: null,
  database: 'sqlite',
}
/** The largest bound; null where one of them is unbounded. */
const largest = (bounds: readonly (number | null)[]): number | null =>
  bounds.includes(null) ? null : Math.max(...bounds.map(Number))

export function createNodes(parts: NodesParts): Nodes {
  const { db, log, own } = parts
  const ownId = own?.entry.id
  const others = new Map<
    string,
    { readonly address: string; readonly connection: NodeConnection }
  >()
  const heardAt = new Map<string, number>()
  let regionsOf = new Map<string, readonly number[] | null>()
  /** Called when a node can be reached again: watches of its logs begin anew. */
  const resumed = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let stopped = false

  const controlOf = (node: string): NodeControl | undefined =>
    node === ownId ? own?.control : others.get(node)?.connection.control()

  function reachable(): (NodeControl & { node: string })[] {
    return [...(ownId === undefined ? [] : [ownId]), ...others.keys()].flatMap((node) => {
      const control = controlOf(node)
      return control ? [{ node, ...control }] : []
    })
  }

  /** The node of the site. Throws DriverFailure unavailable when it cannot be asked. */
  async function nodeControl(siteId: string): Promise<NodeControl> {
    // A portal with one node, the usual case, needs no query.
    const alone = others.size === 0 && own
    const node = alone ? ownId : ((await nodeOf(db, siteId)) ?? firstNode)
    const control = node === undefined ? undefined : controlOf(node)
    if (!control) throw new DriverFailure('unavailable', `the node ${node} cannot be reached`)
    return control
  }
  const of = async (siteId: string): Promise<WordpressDriver> => (await nodeControl(siteId)).driver
  /**
   * For acts that end or remove a site; undefined, so that no node is asked, for a site that is
   * nowhere.
   */
  async function toEnd(siteId: string): Promise<WordpressDriver | undefined> {
    if ((others.size > 0 || !own) && (await isNowhere(db, siteId))) return undefined
    return await of(siteId)
  }
  /**
   * For acts that change content without passing the edge: refused while the server is switched to
   * another node.
   */
  async function toChange(siteId: string): Promise<WordpressDriver> {
    if ((others.size > 0 || !own) && (await isSwitching(db, siteId)))
      throw new DriverFailure('unavailable', 'the server is being moved to another node')
    return await of(siteId)
  }

  const logOf = (id: string): SiteLog => ({
    tail: async (limit) => await (await of(id)).log(id).tail(limit),
    after: async (seq, limit) => await (await of(id)).log(id).after(seq, limit),
    watch(onNew) {
      let unwatch: (() => void) | undefined
      let ended = false
      const begin = (): void => {
        of(id).then(
          (driver) => {
            if (ended) return
            unwatch?.()
            unwatch = driver.log(id).watch(onNew)
          },
          // The watcher is told when the node can be reached again.
          () => undefined,
        )
      }
      const again = (): void => {
        begin()
        onNew()
      }
      begin()
      resumed.add(again)
      return () => {
        ended = true
        resumed.delete(again)
        unwatch?.()
      }
    },
  })

  const everywhere = async <T>(ask: (driver: WordpressDriver) => Promise<T>): Promise<T[]> =>
    await Promise.all(reachable().map(({ driver }) => ask(driver)))
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

  const driver: WordpressDriver = {
    name: 'routed',
    get capabilities() {
      const all = reachable().map((node) => node.driver.capabilities)
      const [first] = all
      if (!first) return nothingKnown
      return {
        maxContainers: Math.max(...all.map(({ maxContainers }) => maxContainers)),
        minRamMb: Math.min(...all.map(({ minRamMb }) => minRamMb)),
        maxRamMb: largest(all.map(({ maxRamMb }) => maxRamMb)),
        maxCpu: largest(all.map(({ maxCpu }) => maxCpu)),
        database: first.database,
      }
    },
    room: async () => sum(await everywhere((one) => one.room())),
    install: async (spec, admin) => await (await of(spec.id)).install(spec, admin),
    start: async (spec) => await (await of(spec.id)).start(spec),
    stop: async (id) => await (await toEnd(id))?.stop(id),
    remove: async (id) => await (await toEnd(id))?.remove(id),
    state: async (id) => await (await of(id)).state(id),
    replaceAddresses: async (id, change, after) =>
      await (await toChange(id)).replaceAddresses(id, change, after),
    adminLink: async (id, user) => await (await of(id)).adminLink(id, user),
    software: async (id) => await (await of(id)).software(id),
    holdWrites: async (id, ms) => await (await of(id)).holdWrites(id, ms),
    applyPackage: async (spec, updateId, wanted, file) =>
      await (await of(spec.id)).applyPackage(spec, updateId, wanted, file),
    upgradeDatabase: async (id) => await (await of(id)).upgradeDatabase(id),
    settleUpdate: async (id, updateId) => await (await of(id)).settleUpdate(id, updateId),
    page: async (id, question) => await (await of(id)).page(id, question),
    backup: async (id, file) => await (await of(id)).backup(id, file),
    copyOut: async (id, round, file) => await (await of(id)).copyOut(id, round, file),
    copyIn: async (spec, round, file, log) =>
      await (await of(spec.id)).copyIn(spec, round, file, log),
    async prove(file, site, database) {
      const home = site === undefined ? undefined : await nodeOf(db, site)
      const all = reachable()
      const known = (await nodeStates(db)).find(({ id }) => id === home)
      const wanted = database ?? known?.database ?? null
      const fitting = all.filter(
        (one) => wanted === null || one.driver.capabilities.database === wanted,
      )
      // A backup made just now belongs to the site's node, even if the node has not reported its
      // database.
      const atHome = (database === undefined ? all : fitting).find(({ node }) => node === home)
      const chosen = atHome ?? fitting[0]
      if (!chosen) throw new NowhereToProve('no node with its database can be reached')
      return await chosen.driver.prove(file, site)
    },
    restore: async (spec, copy, id) => await (await of(spec.id)).restore(spec, copy, id),
    files: async (id, order) => await (await toChange(id)).files(id, order),
    layOutImport: async (spec, files) => await (await of(spec.id)).layOutImport(spec, files),
    stepImport: async (spec, hosts) => await (await of(spec.id)).stepImport(spec, hosts),
    importPage: async (spec, target) => await (await of(spec.id)).importPage(spec, target),
    switchImport: async (spec, id) => await (await of(spec.id)).switchImport(spec, id),
    dropImport: async (id) => await (await of(id)).dropImport(id),
    console: async (id, order) => await (await toChange(id)).console(id, order),
    database: async (id, op, order) => await (await toChange(id)).database(id, op, order),
    addresses: async (id) => await (await of(id)).addresses(id),
    frontPage: async (id, host) => await (await of(id)).frontPage(id, host),
    answering: async () => Object.assign({}, ...(await everywhere((one) => one.answering()))),
    sitesWithMail: async () => (await everywhere((one) => one.sitesWithMail())).flat(),
    takeMail: async (id, limit) => await (await of(id)).takeMail(id, limit),
    mailTaken: async (id, keys) => await (await of(id)).mailTaken(id, keys),
    list: async () => (await everywhere((one) => one.list())).flat(),
    unremoved: async () => sum(await everywhere((one) => one.unremoved())),
    // A lost node of another machine raises an alert; the portal itself stays ready.
    async health() {
      if (own) return await own.control.driver.health()
      return reachable().length > 0 ? undefined : 'no node can be reached'
    },
    log: logOf,
  }

  async function onOpen(node: string): Promise<void> {
    if (stopped) return
    for (const again of resumed) again()
    // A restarted node has no lease: it gets one before anything starts there.
    const control = controlOf(node)
    if (control) await renew({ node, ...control })
    if (stopped) return
    parts.onReachable()
    // What the node reports is stored at once: until then it counts as lost.
    lookAgain().catch((error: unknown) => log.warn({ err: error }, 'looking at the nodes'))
  }
  async function lookAgain(): Promise<void> {
    await looking
    await look()
  }

  /** Keeps connections to the present nodes, and to no others. */
  async function connectAll(): Promise<void> {
    const wanted = new Map<string, string>()
    const rows = await allNodes(db)
    regionsOf = new Map(rows.map(({ id, regions }) => [id, regions]))
    for (const row of rows)
      if (row.id !== ownId && row.address !== null) wanted.set(row.id, row.address)
    for (const [id, { address, connection }] of others)
      if (wanted.get(id) !== address) {
        connection.close()
        others.delete(id)
      }
    if (stopped) return
    for (const [id, address] of wanted)
      if (!others.has(id))
        try {
          const connection = parts.connect(id, address, () => void onOpen(id))
          others.set(id, { address, connection })
        } catch (error) {
          // An address that nobody can read must not cost the other nodes their leases.
          log.warn({ err: error, node: id }, 'no line to a node: change it with `node add`')
        }
  }

  async function note({ node, driver: one }: { node: string; driver: WordpressDriver }) {
    try {
      const began = performance.now()
      const room = await within(answerMs, 'it does not answer in time', one.room())
      const agoMs = performance.now() - began
      await noteSeen(db, node, { room, capabilities: one.capabilities, agoMs })
    } catch (error) {
      if (!stopped) log.warn({ err: error, node }, 'a node was not heard of')
    }
  }

  /**
   * Lets the node take writes for a while longer. The time counts from the mark, which is earlier
   * than the promise.
   */
  async function promise({ node, edge }: NodeControl & { node: string }) {
    const late = 'it does not answer in time'
    const mark = await within(answerMs, late, edge.markLease())
    heardAt.set(node, performance.now())
    const told = await promiseLease(db, node, mark, mark === null ? withoutLease : parts.leases)
    const { leaseMs, withheld, order, readOnly, mirrored } = told
    const renewed = edge.renewLease(mark, leaseMs, withheld, { order, readOnly, mirrored })
    const keepsMirrored = await within(answerMs, late, renewed)
    if (leaseMs !== null && told.hadNoEnd) await noteEnd(db, node, { order, leaseMs })
    if (keepsMirrored === true) await noteMirrored(db, node, { order, mirrored })
    else await forgetMirrored(db, node)
  }
  async function renew(node: NodeControl & { node: string }): Promise<void> {
    try {
      await promise(node)
    } catch (error) {
      const detail = { err: error, node: node.node }
      if (!stopped) log.warn(detail, 'the lease of a node was not renewed')
    }
  }
  function at(node: string): NodeControl {
    const control = controlOf(node)
    if (!control) throw new DriverFailure('unavailable', `the node ${node} cannot be reached`)
    return control
  }

  async function lookOnce(): Promise<void> {
    await connectAll()
    await Promise.all([...reachable().map(renew), ...(parts.notes ? reachable().map(note) : [])])
  }
  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }

  function regions(): number[] | null {
    const all = reachable().map(({ node }) => regionsOf.get(node) ?? null)
    const named = all.flatMap((some) => some ?? [])
    return all.includes(null) ? null : [...new Set(named)].toSorted((a, b) => a - b)
  }

  return {
    driver,
    edgeOf: async (siteId) => (await nodeControl(siteId)).edge,
    regions,
    reachable,
    at,
    tell: (node) => promise({ node, ...at(node) }),
    heardAt: (node) => heardAt.get(node) ?? null,
    reopen: (node) => others.get(node)?.connection.reopen(),
    rerouted() {
      for (const again of resumed) again()
    },
    look,
    async start() {
      if (own) await putNode(db, own.entry)
      await look()
      timer = setInterval(() => {
        look().catch((error: unknown) => log.warn({ err: error }, 'looking at the nodes'))
      }, lookMs)
      timer.unref()
    },
    stop() {
      stopped = true
      clearInterval(timer)
      for (const { connection } of others.values()) connection.close()
      others.clear()
    },
  }
}
