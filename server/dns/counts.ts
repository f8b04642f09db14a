/** The number of domains by state, for an operator. */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

export const domainStates = ['active', 'moved', 'waiting', 'foreign'] as const
export type DomainState = (typeof domainStates)[number]

/**
 * `active`: the parent zone names this account's name servers. `moved`: it did, and now names
 * others. `foreign`: it names name servers of ours that belong to another account. `waiting`: all
 * others.
 */
export async function countDomains(db: Queryable): Promise<Map<DomainState, number>> {
  const { rows } = await sql<{ state: DomainState; n: bigint }>`
    select case
        when active_at is not null and moved_at is null then 'active'
        when active_at is not null then 'moved'
        when foreign_delegation then 'foreign'
        else 'waiting' end as state,
      count(*) as n
    from dns_zone where deleted_at is null group by 1`.execute(db)
  return new Map(rows.map(({ state, n }) => [state, Number(n)]))
}
