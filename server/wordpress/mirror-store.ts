/**
 * SQL of mirrors (decision 133): which servers have one, where it may lie, which one is due next,
 * and from which of them a server can be brought up.
 */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { DB } from '../platform/db-types.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { nodeStates } from './nodes.ts'
import { place, type NodeState } from './placement.ts'
import { firstNode, type SiteRow } from './store.ts'

export type MirrorRow = Selectable<DB['site_mirror']>

/** After so long an absence of its node a mirror is given up: another node gets one. */
const awayMinutes = 60
/** Most mirrors begun at a time, and most servers examined for it. */
const begunAtOnce = 20
const lookedAtOnce = 500
/**
 * A running server's mirror that is due later than this is made due at once, minutes: it may still
 * have the hourly pace of a suspended server.
 */
const longestPaceMinutes = 5
/** A mirror is free again when its process has given no sign of life for so long, seconds. */
export const holdSeconds = 90

/** Ids of plans whose servers have a mirror. */
type Plans = readonly number[]

/** Whether the server `s` should have a mirror. */
const hasOne = (plans: Plans) => sql<boolean>`(s.deleted_at is null
  and s.status in ('running', 'suspended') and s.plan_id = any(${plans}::int[]))`

/** Whether the row of `node` was heard of, or promised time, within the last `since` minutes. */
const isHeardOf = (of: 'n' | 'f', since: number) => sql<boolean>`
  coalesce(greatest(${sql.ref(`${of}.last_seen`)}, ${sql.ref(`${of}.lease_at`)})
    > clock_timestamp() - make_interval(mins => ${since}), false)`

/**
 * Marks mirrors for removal that their server should no longer have: it was moved or deleted, has
 * another plan, or the mirror's node is being emptied. A mirror that takes over stays.
 * @param dropsLost also marks those on nodes that were away for an hour while their servers' nodes
 *   were not: this process has watched the nodes for long enough to know
 */
export async function endMirrors(db: Queryable, plans: Plans, dropsLost: boolean): Promise<void> {
  await sql`
    update site_mirror m set state = 'ending', holder = null, next_at = clock_timestamp()
    where m.state = 'following' and (not exists (
      select from site s, node n
      where s.id = m.site_id and ${hasOne(plans)}
        and coalesce(s.node_id, ${firstNode}::text) = m.from_node
        and n.id = m.node_id and n.empties_since is null)
      or (${dropsLost} and exists (select from node n, node f
        where n.id = m.node_id and not ${isHeardOf('n', awayMinutes)}
          and f.id = m.from_node and ${isHeardOf('f', 1)})))`.execute(db)
  // Mirrors whose rescue was given up follow again.
  await sql`
    update site_mirror m set state = 'following', laid = null
    where m.state = 'taking_over' and not exists (select from site_move v
      where v.backup_id = m.id and v.state = 'switching')`.execute(db)
  await sql`
    update site_mirror m set next_at = clock_timestamp() from site s
    where s.id = m.site_id and s.status = 'running' and m.state = 'following'
      and m.holder is null
      and m.next_at > clock_timestamp() + make_interval(mins => ${longestPaceMinutes})`.execute(db)
}

/** Whether the mirror may be the newest copy of its server, because the server's node is away. */
export async function isLastCopy(db: Queryable, { site_id, from_node }: MirrorRow) {
  const { rows } = await sql`
    select from site s join node f on f.id = ${from_node}
    where s.id = ${site_id} and s.deleted_at is null
      and coalesce(s.node_id, ${firstNode}::text) = f.id and not ${isHeardOf('f', 1)}`.execute(db)
  return rows.length > 0
}

/** The nodes as this server finds them: room reserved for its own mirror counts as free. */
export async function withoutMirrorOf(
  db: Queryable,
  site: Pick<SiteRow, 'id' | 'containers'>,
  nodes: readonly NodeState[],
): Promise<NodeState[]> {
  const mirror = await db
    .selectFrom('site_mirror')
    .select('node_id')
    .where('site_id', '=', site.id)
    .where('state', '=', 'following')
    .executeTakeFirst()
  return nodes.map((node) =>
    node.id === mirror?.node_id
      ? { ...node, reserved: Math.max(0, node.reserved - site.containers) }
      : node,
  )
}

/** The node that takes a mirror; null: none can now. Its room is reduced for the next one. */
function placeFor(nodes: NodeState[], site: SiteRow, taken: ReadonlySet<string>): string | null {
  const home = nodes.find(({ id }) => id === (site.node_id ?? firstNode))
  const others = nodes.filter(
    ({ id, database, sitesAddress }) =>
      id !== home?.id &&
      !taken.has(id) &&
      database === home?.database &&
      // Visitors who come by another edge would not reach a node without an address.
      (sitesAddress ?? null) !== null,
  )
  const found = place(others, {
    regionId: site.region_id,
    containers: site.containers,
    ramMb: site.ram_mb,
    cpu: site.cpu,
  })
  if ('none' in found) return null
  const at = nodes.findIndex(({ id }) => id === found.node)
  const chosen = nodes[at]
  if (chosen) nodes[at] = { ...chosen, reserved: chosen.reserved + site.containers }
  return found.node
}

/** Whether there is a second node, without which there is no place for a mirror. */
export async function hasSecondNode(db: Queryable): Promise<boolean> {
  const nodes = await db.selectFrom('node').select('id').limit(2).execute()
  return nodes.length > 1
}

/** Creates missing mirrors, as far as there is room. */
export async function beginMirrors(tx: Tx, clock: Clock, plans: Plans): Promise<void> {
  if (plans.length === 0) return
  const { rows: sites } = await sql<SiteRow>`
    select s.* from site s where ${hasOne(plans)}
      and not exists (select from site_mirror m where m.site_id = s.id and m.state <> 'ending')
      and not exists (select from site_move m where m.site_id = s.id
        and m.state in ('copying', 'switching', 'undoing'))
    order by s.seq limit ${lookedAtOnce}`.execute(tx)
  if (sites.length === 0) return
  // The lock keeps orders and moves from taking the same place.
  await sql`select from node order by id for no key update`.execute(tx)
  const nodes = await nodeStates(tx)
  let begun = 0
  for (const site of sites) {
    if (begun >= begunAtOnce) return
    // Content of this server on such a node is kept for somebody, or about to be removed.
    const { rows } = await sql<{ node: string }>`
      select leftover_node as node from site_move
      where site_id = ${site.id} and leftover_node is not null
      union select node_id from site_mirror where site_id = ${site.id}`.execute(tx)
    const node = placeFor(nodes, site, new Set(rows.map((row) => row.node)))
    if (node === null) continue
    begun++
    await tx
      .insertInto('site_mirror')
      .values({
        id: randomUUID(),
        site_id: site.id,
        from_node: site.node_id ?? firstNode,
        node_id: node,
        state: 'following',
        next_at: sql<Date>`clock_timestamp()`,
        created_at: clock.now(),
      })
      .execute()
  }
}

/**
 * Claims the mirror that has been due longest; undefined: none is due.
 * @param whole also one that is to be copied whole, which may take an hour
 */
export async function takeDue(
  db: Queryable,
  holder: string,
  whole: boolean,
): Promise<MirrorRow | undefined> {
  const { rows } = await sql<MirrorRow>`
    update site_mirror set holder = ${holder}, tries = tries + 1,
      next_at = clock_timestamp() + ${holdSeconds} * interval '1 second'
    where id = (select id from site_mirror
      where next_at <= clock_timestamp() and state <> 'taking_over'
        and (${whole} or laid is not null or state = 'ending')
      order by next_at limit 1 for update skip locked)
    returning *`.execute(db)
  return rows[0]
}

/** Makes failed mirrors due now, because a node is there again. */
export async function retryFailed(db: Queryable): Promise<void> {
  await sql`
    update site_mirror set next_at = clock_timestamp()
    where state = 'following' and holder is null and attempts > 0`.execute(db)
}

/** Extends this process's claim. False: another process has the mirror. */
export async function holdOn(db: Queryable, { id, holder }: MirrorRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update site_mirror set next_at = clock_timestamp() + ${holdSeconds} * interval '1 second'
    where id = ${id} and holder = ${holder} and state = 'following'`.execute(db)
  return numAffectedRows === 1n
}

/**
 * Stores the result and ends this process's claim; the mirror is due again after so many seconds.
 */
export async function letGo(
  db: Queryable,
  { id, holder }: MirrorRow,
  afterSeconds: number,
  values: Partial<Pick<MirrorRow, 'laid' | 'content_at' | 'attempts' | 'reason'>>,
): Promise<void> {
  await db
    .updateTable('site_mirror')
    .set({
      ...values,
      holder: null,
      next_at: sql<Date>`clock_timestamp() + ${afterSeconds} * interval '1 second'`,
    })
    .where('id', '=', id)
    .where('holder', '=', holder)
    .where('state', '=', 'following')
    .execute()
}

/**
 * Whether the content on the mirror's node is only the mirror, and not needed by a server or a
 * move.
 */
export async function isOnlyMirror(db: Queryable, { id, site_id, node_id }: MirrorRow) {
  const { rows } = await sql`
    select from site where id = ${site_id} and deleted_at is null
      and coalesce(node_id, ${firstNode}::text) = ${node_id}
    union all
    select from site_move where site_id = ${site_id} and (leftover_node = ${node_id}
      or (to_node = ${node_id} and state in ('copying', 'switching', 'undoing')))
    union all
    select from site_mirror where site_id = ${site_id} and node_id = ${node_id} and id <> ${id}
    limit 1`.execute(db)
  return rows.length === 0
}

export const forgetMirror = async (db: Queryable, id: string): Promise<void> => {
  await db.deleteFrom('site_mirror').where('id', '=', id).execute()
}

/** Resets the server's mirror on this node, whose place other content takes. */
export async function giveWay(tx: Tx, siteId: string, node: string): Promise<void> {
  await tx
    .updateTable('site_mirror')
    .set({ laid: null, content_at: null, writes_until: null })
    .where('site_id', '=', siteId)
    .where('node_id', '=', node)
    .where('state', '=', 'following')
    .execute()
}

/** Counts of running servers. */
export interface MirrorCounts {
  /** Servers that have a mirror, complete or not. */
  readonly mirrored: number
  /** Mirrored servers whose mirror lacks more than five minutes. */
  readonly behind: number
  /** Servers whose plan includes a mirror, but no node has room for it or can be reached. */
  readonly missing: number
}
export async function countMirrors(
  db: Queryable,
  clock: Clock,
  plans: Plans,
): Promise<MirrorCounts> {
  const { rows } = await sql<MirrorCounts>`
    select count(m.id)::int as mirrored,
      (count(m.id) filter (where coalesce(m.content_at, m.created_at)
        < ${clock.now()}::timestamptz - interval '5 minutes'))::int as behind,
      (count(*) filter (where m.id is null))::int as missing
    from site s left join site_mirror m on m.site_id = s.id and m.state = 'following'
    where s.status = 'running' and ${hasOne(plans)}`.execute(db)
  return rows[0] ?? { mirrored: 0, behind: 0, missing: 0 }
}

/** A mirror that a server can be brought up from. */
export interface UsableMirror {
  readonly id: string
  readonly node: string
  readonly contentAt: Date
}
/**
 * Usable mirrors by the ids of this node's servers: complete ones, on nodes heard of within a
 * minute.
 */
export async function usableMirrors(
  db: Queryable,
  node: string,
): Promise<ReadonlyMap<string, UsableMirror>> {
  const states = await nodeStates(db)
  const there = states.filter(
    ({ seenSecondsAgo, sitesAddress }) =>
      seenSecondsAgo !== null && seenSecondsAgo <= 60 && (sitesAddress ?? null) !== null,
  )
  const { rows } = await sql<{ site: string; id: string; node: string; at: Date }>`
    select site_id::text as site, id::text, node_id as node, content_at as at from site_mirror
    where from_node = ${node} and state = 'following' and content_at is not null
      and node_id = any(${there.map(({ id }) => id)})`.execute(db)
  return new Map(rows.map((row) => [row.site, { id: row.id, node: row.node, contentAt: row.at }]))
}

/**
 * Stops the mirror from following, because the server is brought up from it; failover.ts does so
 * once.
 */
export async function takeOver(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('site_mirror')
    .set({ state: 'taking_over', holder: null, writes_until: null })
    .where('id', '=', id)
    .execute()
}

/**
 * Makes the mirror follow again, because the server was not brought up from it. It may have run, so
 * it is copied whole once the server's node is back; until then it is left as it is. `isRefused`:
 * it does not start, and is not tried again.
 */
export async function giveBack(tx: Tx, id: string, isRefused: boolean): Promise<void> {
  await tx
    .updateTable('site_mirror')
    .set({
      state: 'following',
      laid: null,
      next_at: sql<Date>`clock_timestamp()`,
      ...(isRefused && { content_at: null }),
    })
    .where('id', '=', id)
    .where('state', '=', 'taking_over')
    .execute()
}
