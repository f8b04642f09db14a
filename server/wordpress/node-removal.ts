/** A node is forgotten: what keeps it, and what goes with it. */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'
import { startNow } from '../platform/job-inspection.ts'
import { isAwaySql } from './nodes.ts'
import { alignJobs } from './product.ts'
import { firstNode } from './store.ts'

/**
 * Servers that keep a node. An order that failed never runs, and one that is not paid runs nowhere
 * yet, unless it has its place there already. What is deleted on a machine that is away is removed
 * by nobody, and comes up nowhere else.
 */
async function sitesThatKeep(tx: Tx, id: string, isAway: boolean): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from site s where s.deleted_at is null and case s.status
      when 'failed' then false
      when 'pending_payment' then exists (
        select from site_placement p where p.site_id = s.id and p.node_id = ${id})
      else coalesce(s.node_id, ${firstNode}::text) = ${id}
        and not (${isAway} and s.status = 'deleting') end`.execute(tx)
  return rows[0]?.n ?? 0
}

/**
 * Forgets a node that holds no site any more; answers how many it still has otherwise, with the
 * originals of servers that were moved away and can be moved back.
 */
export async function removeNode(tx: Tx, id: string): Promise<number | 'unknown'> {
  const row = await tx
    .selectFrom('node')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!row) return 'unknown'
  const { rows } = await sql<{ away: boolean }>`
    select ${isAwaySql} as away from node where id = ${id}`.execute(tx)
  const isAway = rows[0]?.away ?? false
  const sites = await sitesThatKeep(tx, id, isAway)
  const { kept } = await tx
    .selectFrom('site_move')
    .select((eb) => eb.fn.countAll<bigint>().as('kept'))
    .where((eb) => eb.or([eb('leftover_node', '=', id), eb('to_node', '=', id)]))
    // What a lost node has of servers that came up elsewhere goes with it.
    .where(sql<boolean>`not (${isAway} and backup_id is not null and state = 'moved')`)
    .where((eb) =>
      eb.or([
        eb('leftover_node', 'is not', null),
        eb('state', 'in', ['copying', 'switching', 'undoing']),
      ]),
    )
    .executeTakeFirstOrThrow()
  const { mirrors } = await tx
    .selectFrom('site_mirror')
    .select((eb) => eb.fn.countAll<bigint>().as('mirrors'))
    .where('node_id', '=', id)
    .executeTakeFirstOrThrow()
  // Those of a node that is away are not removed by anybody.
  const left = sites + Number(kept) + (isAway ? 0 : Number(mirrors))
  if (left > 0) return left
  await tx
    .updateTable('site_move')
    .set({ leftover_node: null })
    .where('leftover_node', '=', id)
    .execute()
  await tx.deleteFrom('site_placement').where('node_id', '=', id).execute()
  const gone = await tx
    .updateTable('site')
    .set({ node_id: null })
    .where('node_id', '=', id)
    .returning(['status', 'subscription_id', 'deleted_at'])
    .execute()
  // Their deletion waited for the machine.
  for (const { status, subscription_id: value, deleted_at: at } of gone)
    if (status === 'deleting' && at === null && value !== null)
      await startNow(tx, alignJobs.remove, { key: 'subscriptionId', value })
  await tx.deleteFrom('node').where('id', '=', id).execute()
  return 0
}
