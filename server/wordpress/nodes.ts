/**
 * The nodes: machines that run customers' sites. One row each (migration 0059). What a node reports
 * of itself is stored every few seconds with the database's clock, so that a wrong clock of a
 * machine does no harm. `placement.ts` chooses among the nodes.
 */
import { sql, type Selectable } from 'kysely'
import type { DB } from '../platform/db-types.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { WordpressCapabilities } from './driver.ts'
import { lostAfterSeconds, place, type NodeState, type NoPlace } from './placement.ts'
import { firstNode, siteById } from './store.ts'

export type NodeRow = Pick<
  Selectable<DB['node']>,
  'id' | 'address' | 'sites_address' | 'regions' | 'state'
>

/** What an operator enters for a node, or a portal for its own machine. */
export interface NodeEntry {
  readonly id: string
  /** host:port at which the node is asked; null: only processes of its own machine reach it. */
  readonly address: string | null
  /** ip:port of its edge, for the edges of other nodes. */
  readonly sitesAddress: string | null
  /** Null: every data centre of the catalogue. */
  readonly regions: readonly number[] | null
}

/**
 * Adds a node, or changes its columns; its state and undefined columns stay. For a new node,
 * undefined means no address, no address for edges, and every data centre.
 */
export async function putNode(
  db: Queryable,
  node: { readonly [K in keyof NodeEntry]: NodeEntry[K] | (K extends 'id' ? never : undefined) },
): Promise<void> {
  // Undefined columns are left out of the statement.
  const columns = {
    address: node.address,
    sites_address: node.sitesAddress,
    regions: node.regions ? [...node.regions] : node.regions,
  }
  await db
    .insertInto('node')
    .values({ id: node.id, ...columns })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute()
}

export const allNodes = (db: Queryable): Promise<NodeRow[]> =>
  db
    .selectFrom('node')
    .select(['id', 'address', 'sites_address', 'regions', 'state'])
    .orderBy('id')
    .execute()

/**
 * Stores what a node answered to a question of `agoMs` ago: what was settled there since then is
 * not in the answer. Of two processes that store an answer the later one counts.
 */
export async function noteSeen(
  db: Queryable,
  id: string,
  told: {
    readonly room: number
    readonly capabilities: WordpressCapabilities
    readonly agoMs: number
  },
): Promise<void> {
  const { maxContainers, minRamMb, maxRamMb, maxCpu, database } = told.capabilities
  await sql`
    with seen as (
      update node set room = ${told.room},
        last_seen = clock_timestamp() - ${told.agoMs} * interval '1 millisecond',
        max_containers = ${maxContainers}, min_ram_mb = ${minRamMb}, max_ram_mb = ${maxRamMb},
        max_cpu = ${maxCpu}, database = ${database}
      where id = ${id} returning id, last_seen)
    delete from site_placement p using seen n where p.node_id = n.id
      and (p.released_at < n.last_seen - interval '1 minute' or not exists (
        select from site s where s.id = p.site_id and s.deleted_at is null
          and s.status in ('pending_payment', 'provisioning', 'running')))`.execute(db)
}

/**
 * Whether a row of `node` is away: for a minute the node neither answered nor was promised time.
 */
export const isAwaySql = sql<boolean>`coalesce(greatest(last_seen, lease_at) <
  clock_timestamp() - ${lostAfterSeconds} * interval '1 second', true)`

/** Nodes that answered before and are silent now. */
export async function countSilentNodes(db: Queryable): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from node where last_seen is not null and ${isAwaySql}`.execute(db)
  return rows[0]?.n ?? 0
}

/** The nodes as placement.ts compares them. */
export async function nodeStates(db: Queryable): Promise<NodeState[]> {
  const { rows } = await sql<{
    id: string
    regions: number[] | null
    state: NodeState['state']
    seen: number | null
    room: number
    reserved: number
    max_containers: number
    min_ram_mb: number
    max_ram_mb: number | null
    max_cpu: number | null
    database: string | null
    sites_address: string | null
  }>`
    select n.id, n.regions, n.state, n.room, n.database, n.sites_address,
      n.max_containers, n.min_ram_mb, n.max_ram_mb, n.max_cpu,
      extract(epoch from clock_timestamp() - n.last_seen)::float8 as seen,
      (select coalesce(sum(s.containers), 0)::int
        from site_placement p join site s on s.id = p.site_id
        where p.node_id = n.id and case
          when p.released_at is null then s.status in ('pending_payment', 'provisioning')
          else p.released_at > n.last_seen end)
      + (select coalesce(sum(s.containers), 0)::int
        from site_move m join site s on s.id = m.site_id
        where m.to_node = n.id and m.state in ('copying', 'switching'))
      -- Where a server is to come up when its machine is lost nobody else takes the place.
      + (select coalesce(sum(s.containers), 0)::int
        from site_mirror i join site s on s.id = i.site_id
        where i.node_id = n.id and i.state = 'following') as reserved
    from node n order by n.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    regions: row.regions,
    state: row.state,
    seenSecondsAgo: row.seen,
    room: row.room,
    reserved: row.reserved,
    maxContainers: row.max_containers,
    minRamMb: row.min_ram_mb,
    maxRamMb: row.max_ram_mb,
    maxCpu: row.max_cpu,
    database: row.database,
    sitesAddress: row.sites_address,
  }))
}

/** The nodes as the operator's desk lists them. */
export async function listNodes(
  db: Queryable,
): Promise<(NodeState & Omit<NodeRow, keyof NodeState> & { readonly sites: number })[]> {
  const [states, rows, { rows: counts }] = [
    await nodeStates(db),
    await allNodes(db),
    await sql<{ id: string; n: number }>`
      select coalesce(node_id, ${firstNode}::text) as id, count(*)::int as n from site
      where deleted_at is null and status not in ('pending_payment', 'failed') group by 1`.execute(
      db,
    ),
  ]
  const sites = new Map(counts.map(({ id, n }) => [id, n]))
  return states.flatMap((state) => {
    const row = rows.find(({ id }) => id === state.id)
    return row ? [{ ...row, ...state, sites: sites.get(state.id) ?? 0 }] : []
  })
}

/** The operator's entries for a node; undefined: there is no such node. */
export async function nodeAsSaid(db: Queryable, id: string) {
  const row = await db.selectFrom('node').selectAll().where('id', '=', id).executeTakeFirst()
  return (
    row && {
      address: row.address,
      edge: row.sites_address,
      regions: row.regions ?? 'all',
      nodeState: row.state,
      empties: row.empties_since !== null,
    }
  )
}

export const setNodeState = async (
  db: Queryable,
  id: string,
  state: NodeState['state'],
): Promise<boolean> =>
  (await db.updateTable('node').set({ state }).where('id', '=', id).executeTakeFirst())
    .numUpdatedRows > 0n

/** The node that runs a site. */
export async function nodeStateOf(
  db: Queryable,
  site: { readonly node_id: string | null },
): Promise<NodeState> {
  const id = site.node_id ?? firstNode
  const state = (await nodeStates(db)).find((node) => node.id === id)
  if (!state) throw new Error(`there is no node ${id}`)
  return state
}

/** The node of a site; undefined: there is no such site. */
export async function nodeOf(db: Queryable, siteId: string): Promise<string | undefined> {
  const site = await db
    .selectFrom('site')
    .select('node_id')
    .where('id', '=', siteId)
    .executeTakeFirst()
  return site && (site.node_id ?? firstNode)
}

/**
 * Whether no machine has anything of the site: it was never set up (its order is not paid, say), or
 * its node was removed and there is no first one.
 */
export async function isNowhere(db: Queryable, siteId: string): Promise<boolean> {
  const { rows } = await sql<{ nowhere: boolean }>`
    select node_id is null and (run = 0
      or not exists (select from node where id = ${firstNode})) as nowhere
    from site where id = ${siteId}`.execute(db)
  return rows[0]?.nowhere ?? false
}

/**
 * Reserves a place for a server whose order is paid in this transaction; answers why there is none.
 * The nodes are locked, so that two simultaneous payments do not take the same place. The server's
 * row is not locked: other transactions lock a server first and then its payment (decision 18).
 */
export async function takePlace(tx: Tx, siteId: string, now: Date): Promise<NoPlace | undefined> {
  const site = await siteById(tx, siteId)
  if (site?.status !== 'pending_payment') return undefined
  await sql`select from node order by id for no key update`.execute(tx)
  const taken = await tx
    .selectFrom('site_placement')
    .select('node_id')
    .where('site_id', '=', siteId)
    .executeTakeFirst()
  if (taken) return undefined
  const placed = place(await nodeStates(tx), {
    regionId: site.region_id,
    containers: site.containers,
    ramMb: site.ram_mb,
    cpu: site.cpu,
  })
  if ('none' in placed) return placed.none
  await tx
    .insertInto('site_placement')
    .values({ site_id: siteId, node_id: placed.node, at: now })
    .execute()
  return undefined
}

/** The node reserved for a server; undefined: none. */
export const placeOf = async (db: Queryable, siteId: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('site_placement')
      .select('node_id')
      .where('site_id', '=', siteId)
      .executeTakeFirst()
  )?.node_id

/**
 * Ends the reservation because the server runs: the node counts its memory itself once it is asked
 * again.
 */
export async function settleOnNode(tx: Tx, siteId: string): Promise<void> {
  await tx
    .updateTable('site_placement')
    .set({ released_at: sql<Date>`clock_timestamp()` })
    .where('site_id', '=', siteId)
    .execute()
}

/** Deletes the reservation because the server will never run. */
export async function releasePlace(tx: Tx, siteId: string): Promise<void> {
  await tx.deleteFrom('site_placement').where('site_id', '=', siteId).execute()
}
