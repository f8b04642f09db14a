/** SQL of failover by rule (decision 135): which nodes are asked, and which servers may come up. */
import { sql } from 'kysely'
import { minutes, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { beginRescue, busyWith, candidatesOn, isUnderWay } from './lost-store.ts'
import { lockSite } from './store.ts'

/** A node of another machine. */
export interface AskedNode {
  readonly id: string
  /** Whether servers of the node could come up from their mirrors. */
  readonly hasMirrored: boolean
}

export async function nodesToAsk(db: Queryable): Promise<AskedNode[]> {
  const { rows } = await sql<AskedNode>`
    select n.id, exists (select from site_mirror m where m.from_node = n.id
      and m.state = 'following' and m.content_at is not null)
      -- A drained one is being repaired, and whoever drained it knows.
      and n.state = 'active' as "hasMirrored"
    from node n where n.address is not null and n.lease_at is not null`.execute(db)
  return rows
}

/** The part of the outbox that is needed: it tells the operator's webhooks. */
export interface FailoverOutbox {
  tellOperator(
    tx: Tx,
    of: {
      event: 'node.lost' | 'wordpress.rescue_failed'
      customerId: string | null
      payload: Readonly<Record<string, unknown>>
    },
  ): Promise<unknown>
}

/** A mirror that lacks more than this is brought up only by people, who know what is lost. */
const oldestMs = minutes(5)

/**
 * Mirrors of those servers of the node for which it takes no write any more: it has confirmed that
 * it keeps to the stored time, and no portal that knows of no mirrors has promised it more since.
 */
async function fencedMirrors(tx: Tx, node: string, marginMs: number): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select m.id from site_mirror m join node n on n.id = m.from_node
    where n.id = ${node} and n.mirrors_told_at = n.lease_at and m.state = 'following'
      and n.state = 'active'
      and m.writes_until < clock_timestamp()
        - ${marginMs}::float8 * interval '1 millisecond'`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Begins to bring up the servers of a silent node whose mirrors lie on reachable nodes; jobs
 * continue. Answers the servers' names; none where the node may still take writes for all of them.
 * If several processes find the node silent, one of them begins.
 */
export async function beginFailover(
  tx: Tx,
  deps: {
    readonly jobs: Pick<Jobs, 'add'>
    readonly clock: Clock
    readonly outbox: FailoverOutbox
    /** Waited beyond the lease: clocks differ, and requests under way end. Ms. */
    readonly marginMs: number
  },
  node: string,
  reachable: readonly string[],
): Promise<string[]> {
  const candidates = await candidatesOn(tx, node)
  if (!candidates.some(({ mirror }) => mirror)) return []
  for (const { id, mirror } of candidates) if (mirror) await lockSite(tx, id)
  // The lock keeps other portals from promising the node more time, and orders from taking the same
  // place.
  await sql`select from node order by id for no key update`.execute(tx)
  const fenced = await fencedMirrors(tx, node, deps.marginMs)
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(tx)
  const fencedAt = rows[0]?.at ?? deps.clock.now()
  const begun: string[] = []
  const all = await candidatesOn(tx, node)
  for (const site of all) {
    const { mirror } = site
    if (!mirror || !fenced.has(mirror.id) || !reachable.includes(mirror.node)) continue
    if (isUnderWay(site) || (await busyWith(tx, site))) continue
    const behindMs = deps.clock.now().getTime() - mirror.contentAt.getTime()
    if (site.status === 'running' && behindMs > oldestMs) continue
    await beginRescue(tx, deps, { site, from: node, to: mirror.node, fencedAt })
    begun.push(site.name)
  }
  if (begun.length > 0)
    await deps.outbox.tellOperator(tx, {
      event: 'node.lost',
      customerId: null,
      payload: { node: { id: node, comes_up: begun.length, stays: all.length - begun.length } },
    })
  return begun
}
