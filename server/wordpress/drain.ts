/**
 * Empties a node: its servers move to other nodes of their data centres, a few at a time, as far as
 * there is room. What cannot move is listed with the reason, and tried again every two minutes by
 * any process that works on jobs.
 */
import { sql } from 'kysely'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { beginMove, hindranceOf, newestMove, sentenceOf } from './move-store.ts'
import { nodeStates } from './nodes.ts'
import { firstNode, type SiteRow } from './store.ts'

/** Continues every node that is being emptied. No payload. */
export const emptyJob = 'empty-nodes'

/**
 * Moves from one node at a time: each copies a site, and visitors of both nodes share processors.
 */
const movesAtOnce = 2
/** How long a server that could not be moved rests before the next try. */
const restMs = minutes(10)

export interface DrainDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  /** Asks the nodes for the room that they have. */
  readonly look: () => Promise<void>
}

const sitesOn = (db: Queryable, node: string): Promise<SiteRow[]> =>
  db
    .selectFrom('site')
    .selectAll()
    .where(sql`coalesce(node_id, ${firstNode}::text)`, '=', node)
    .where('deleted_at', 'is', null)
    .where('status', 'in', ['running', 'suspended', 'provisioning', 'deleting'])
    .orderBy('seq')
    .execute()

/** Begins or stops emptying a node. False: there is no such node. */
export async function setEmptying(db: Queryable, node: string, empties: boolean): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('node')
    .set({
      state: empties ? 'draining' : 'active',
      empties_since: empties ? sql<Date>`coalesce(empties_since, clock_timestamp())` : null,
    })
    .where('id', '=', node)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Stops emptying a node: it gets no new servers, and keeps its present ones. */
export async function keepServers(db: Queryable, node: string): Promise<void> {
  await db
    .updateTable('node')
    .set({ state: 'draining', empties_since: null })
    .where('id', '=', node)
    .execute()
}

/** Whether the node is being emptied. */
export async function isEmptied(db: Queryable, node: string): Promise<boolean> {
  const emptied = await db
    .selectFrom('node')
    .select('id')
    .where('id', '=', node)
    .where('empties_since', 'is not', null)
    .executeTakeFirst()
  return emptied !== undefined
}

export function defineDraining({ db, clock, log, jobs, look }: DrainDeps): () => Promise<void> {
  async function rests(siteId: string): Promise<boolean> {
    const last = await newestMove(db, siteId)
    return last?.state === 'failed' && later(last.created_at, restMs) > clock.now()
  }

  async function emptyOne(node: string): Promise<void> {
    const { n } = await db
      .selectFrom('site_move')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('from_node', '=', node)
      .where('state', 'in', ['copying', 'switching'])
      .executeTakeFirstOrThrow()
    let underWay = Number(n)
    for (const site of await sitesOn(db, node)) {
      if (underWay >= movesAtOnce) return
      if (await rests(site.id)) continue
      try {
        const begun = await transaction(db, (tx) =>
          beginMove(tx, { jobs, clock }, { siteId: site.id, to: null, cause: 'drain' }),
        )
        underWay++
        log.info({ site: site.name, from: begun.from, to: begun.to }, 'a node is drained')
      } catch (error) {
        // `remainingOn` reports the reason.
        if (!(error instanceof Refusal)) throw error
      }
    }
  }

  async function empty(): Promise<void> {
    const nodes = await db
      .selectFrom('node')
      .select('id')
      .where('empties_since', 'is not', null)
      .orderBy('id')
      .execute()
    if (nodes.length === 0) return
    await look()
    for (const { id } of nodes) await emptyOne(id)
  }

  jobs.define({ name: emptyJob, cron: '*/2 * * * *', retries: 0, limitSeconds: 600, run: empty })
  return empty
}

/** A server that is still on a node. */
export interface Remaining {
  readonly siteId: string
  readonly name: string
  /** The node that it is moving to; null: it does not move. */
  readonly movesTo: string | null
  /** Why it does not move now; null where it does, or soon will. */
  readonly why: string | null
}

/** The servers that are still on a node, and why. */
export async function remainingOn(db: Queryable, node: string): Promise<Remaining[]> {
  const nodes = await nodeStates(db)
  const all: Remaining[] = []
  for (const site of await sitesOn(db, node)) {
    const last = await newestMove(db, site.id)
    const shown = { siteId: site.id, name: site.name }
    if (last && ['copying', 'switching'].includes(last.state)) {
      all.push({ ...shown, movesTo: last.to_node, why: null })
      continue
    }
    const hindrance = await hindranceOf(db, nodes, site)
    const failed = last?.state === 'failed' ? `The last try failed: ${last.reason}.` : null
    all.push({ ...shown, movesTo: null, why: hindrance ? sentenceOf(hindrance).en : failed })
  }
  return all
}

/** Originals and copies of moved servers that are still kept on a node. */
export async function keptOn(db: Queryable, node: string): Promise<number> {
  const { n } = await db
    .selectFrom('site_move')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('leftover_node', '=', node)
    .executeTakeFirstOrThrow()
  return Number(n)
}
