/**
 * How much room data centres have, and when they are sold out at the pace of the last 30 days. Data
 * centres served by the same nodes share one room: what one sells is missing in the others.
 */
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type { capacity } from '../../contract/operator-work.ts'
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { keptAfterLoss } from './lost-store.ts'
import { listNodes } from './nodes.ts'
import { freeOn, isLost, type NodeState } from './placement.ts'

const paceDays = 30
/** A date further ahead than three years is not worth showing. */
const mostDays = 3 * 365

interface Region {
  readonly id: number
  readonly name: string
}
type Capacity = z.output<typeof capacity.result>

const takesNew = (node: NodeState): boolean => node.state === 'active' && !isLost(node)
const serving = (nodes: readonly NodeState[], { id }: Region): NodeState[] =>
  nodes.filter((node) => node.regions === null || node.regions.includes(id))

/** Nodes, and the data centres that are connected by sharing them. */
interface Pool {
  readonly regions: readonly Region[]
  readonly nodes: readonly NodeState[]
}
/** Puts each data centre in one pool; one that no node serves is a pool by itself. */
export function poolsOf(nodes: readonly NodeState[], regions: readonly Region[]): Pool[] {
  let pools: Pool[] = []
  for (const region of regions) {
    const own = serving(nodes, region)
    const touches = ({ nodes: of }: Pool) => of.some((node) => own.includes(node))
    const joined = pools.filter(touches)
    pools = [
      ...pools.filter((pool) => !touches(pool)),
      {
        regions: [...joined.flatMap((pool) => pool.regions), region],
        nodes: [...new Set([...joined.flatMap((pool) => pool.nodes), ...own])],
      },
    ]
  }
  return pools
}

/**
 * The day on which `free` containers are sold at `ordered` in 30 days; null: not within three
 * years. The day is UTC, YYYY-MM-DD.
 */
export function soldOutOn(free: number, ordered: number, now: Date): string | null {
  if (free <= 0) return now.toISOString().slice(0, 10)
  const left = ordered <= 0 ? Number.POSITIVE_INFINITY : Math.floor((free * paceDays) / ordered)
  return left > mostDays ? null : later(now, days(left)).toISOString().slice(0, 10)
}

/**
 * Containers by data centre, of servers that were ordered since `since`, are paid and still exist.
 * Servers have rising numbers: the first one since then is found by halving, so that no index is
 * needed and no older server is read.
 */
async function orderedSince(db: Queryable, since: Date): Promise<ReadonlyMap<number, number>> {
  const { rows: ends } = await sql<{ first: bigint | null; last: bigint | null }>`
    select (select seq from site order by seq limit 1) as first,
      (select seq from site order by seq desc limit 1) as last`.execute(db)
  let [low, high] = [ends[0]?.first ?? 1n, (ends[0]?.last ?? 0n) + 1n]
  while (low < high) {
    const middle = (low + high) / 2n
    const { rows } = await sql<{ seq: bigint; created_at: Date }>`
      select seq, created_at from site where seq >= ${middle} order by seq limit 1`.execute(db)
    const [found] = rows
    if (!found || found.created_at >= since) high = middle
    else low = found.seq + 1n
  }
  const { rows } = await sql<{ region_id: number; n: number }>`
    select region_id, sum(containers)::int as n from site
    where seq >= ${low} and deleted_at is null and status not in ('pending_payment', 'failed')
    group by region_id`.execute(db)
  return new Map(rows.map(({ region_id: id, n }) => [id, n]))
}

/** Number of servers with a monthly subscription, by plan. */
export async function serversByPlan(db: Queryable): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ plan_id: number; n: number }>`
    select s.plan_id, count(*)::int as n from site s
      join subscription u on u.id = s.subscription_id
    where u.status in ('active', 'past_due', 'suspended')
    group by s.plan_id`.execute(db)
  return new Map(rows.map(({ plan_id: id, n }) => [id, n]))
}

export async function capacityOf(
  db: Queryable,
  regions: readonly Region[],
  now: Date,
): Promise<Capacity> {
  const nodes = await listNodes(db)
  const kept = await keptAfterLoss(db)
  const ordered = await orderedSince(db, later(now, -days(paceDays)))
  const nameOf = (id: number): string => regions.find((one) => one.id === id)?.name ?? `${id}`
  const pools = poolsOf(nodes.filter(takesNew), regions)
  return {
    nodes: nodes.map((node) => ({
      id: node.id,
      state: isLost(node) ? 'lost' : node.state,
      regions: node.regions?.map(nameOf) ?? null,
      seenSecondsAgo: node.seenSecondsAgo,
      servers: node.sites,
      kept: kept.get(node.id) ?? 0,
      room: node.room,
      reserved: node.reserved,
      free: freeOn(node),
    })),
    dataCentres: regions.map((region) => {
      const pool = pools.find((one) => one.regions.includes(region))
      const paceOfPool = (pool?.regions ?? []).reduce(
        (sum, { id }) => sum + (ordered.get(id) ?? 0),
        0,
      )
      const room = (of: readonly NodeState[]) => of.reduce((sum, node) => sum + freeOn(node), 0)
      return {
        name: region.name,
        free: room(serving(pool?.nodes ?? [], region)),
        ordered: ordered.get(region.id) ?? 0,
        soldOutOn: soldOutOn(room(pool?.nodes ?? []), paceOfPool, now),
        sharedWith: (pool?.regions ?? []).flatMap(({ name }) => (name === region.name ? [] : name)),
      }
    }),
  }
}
