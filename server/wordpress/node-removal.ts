/** Removes a node from the portal: what prevents it, and what is removed with it. */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'
import { startNow } from '../platform/job-inspection.ts'
import { isAwaySql } from './nodes.ts'
import { alignJobs } from './product.ts'
import { firstNode } from './store.ts'

/**
 * Counts servers that prevent a node's removal. A failed order never runs, and an unpaid one runs
 * nowhere yet, unless it has its place there already. A deleted server on a machine that is away
 * does not count: nobody can remove it, and it comes up nowhere else.
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
 * Removes a node that holds no site any more. Otherwise answers how many it still has, including
 * originals of moved servers that can be moved back.
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
    // A lost node's old content of servers that came up elsewhere is given up with the node.
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
  // Mirrors on a node that is away cannot be removed.
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
  // The deletion of these servers waited for the machine.
  for (const { status, subscription_id: value, deleted_at: at } of gone)
    if (status === 'deleting' && at === null && value !== null)
      await startNow(tx, alignJobs.remove, { key: 'subscriptionId', value })
  await tx.deleteFrom('node').where('id', '=', id).execute()
  return 0
}
