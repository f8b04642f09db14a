/**
 * A node that is emptied: its servers move to other nodes of their data centres, a few at a time,
 * as far as there is room. What cannot move is named, with the reason; it is tried again every
 * two minutes, by whichever process works.
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

/** Looks at every node that is emptied. No payload. */
export const emptyJob = 'empty-nodes'

/** Moves from one node at a time: each copies, and has visitors of two nodes share processors. */
const movesAtOnce = 2
/** A server that could not be moved is tried again after so long. */
const restMs = minutes(10)

export interface DrainDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Jobs
  /** Has the nodes say what room they have. */
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

/** A node whose servers are moved away, or not any more. False: there is no such node. */
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

/** A node that gets no new servers, and keeps those that it has. */
export async function keepServers(db: Queryable, node: string): Promise<void> {
  await db
    .updateTable('node')
    .set({ state: 'draining', empties_since: null })
    .where('id', '=', node)
    .execute()
}

/** Whether its servers are moved away. */
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
        // The report says why.
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
  /** Where it is being moved to; null: it is not. */
  readonly movesTo: string | null
  /** Why it does not move now; null where it does, or soon will. */
  readonly why: string | null
}

/** What is still on a node, and why. */
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
