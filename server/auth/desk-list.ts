/** The list of customers at the operator's desk. */
import { sql } from 'kysely'
import type { DeskCustomer, DeskCustomerState } from '../../contract/operator-customers.ts'
import type { TimePosition } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'

type Listed = Omit<DeskCustomer, 'wallet' | 'servers'>

/** One page, newest first, by the index `customer_newest` (migration 0160). */
export async function listCustomers(
  db: Queryable,
  state: DeskCustomerState | undefined,
  { limit, before }: { readonly limit: number; readonly before: TimePosition | null },
): Promise<{ rows: Listed[]; next: TimePosition | null }> {
  const { rows } = await sql<{
    id: string
    name: string
    email: string
    region_code: string
    created_at: Date
    state: DeskCustomerState
  }>`
    select * from (
      select id, name, email, region_code, created_at,
        case when closed_at is not null then 'closed' when blocked_at is not null then 'blocked'
          when active then 'active' else 'not_activated' end as state
      from customer
      ${before === null ? sql`` : sql`where (created_at, id) < (${before.at}, ${before.id})`}
    ) as customer
    ${state === undefined ? sql`` : sql`where state = ${state}`}
    order by created_at desc, id desc limit ${limit + 1}`.execute(db)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown.map((row) => ({
      id: row.id,
      name: row.name,
      email: row.email,
      region: row.region_code,
      state: row.state,
      createdAt: row.created_at.toISOString(),
    })),
    next: rows.length > limit && last ? { at: last.created_at, id: last.id } : null,
  }
}
