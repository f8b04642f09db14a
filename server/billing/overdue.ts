/** Unpaid renewals, for an operator. Open invoices are few and have an index. */
import { sql } from 'kysely'
import { currency as currencySchema } from '../../contract/money.ts'
import type { OverdueInvoice } from '../../contract/operator-overview.ts'
import type { TimePosition } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { subjectOf, type Subject } from './product.ts'

const overdue = sql`
  from invoice i join subscription s on s.id = i.subscription_id and s.invoice_id = i.id
  where i.status = 'open' and s.status in ('past_due', 'suspended')`

/** The number of overdue renewals. */
export async function countOverdue(db: Queryable): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n ${overdue}`.execute(db)
  return rows[0]?.n ?? 0
}

/** The id of the server that a subject is. */
const serverOf = (subject: Subject | null): string | null =>
  subject?.kind === 'wp' ? subject.id : null

type Listed = Omit<OverdueInvoice, 'customer'> & { readonly customerId: string }

/** One page of overdue renewals, the longest overdue first. */
export async function overduePage(
  db: Queryable,
  { limit, after }: { readonly limit: number; readonly after: TimePosition | null },
): Promise<{ rows: Listed[]; next: TimePosition | null }> {
  const { rows } = await sql<{
    id: string
    number: string | null
    customer_id: string
    subject: unknown
    total: bigint
    currency: string
    due_at: Date
    suspended: boolean
  }>`
    select i.id, i.number, i.customer_id, coalesce(i.subject, s.subject) as subject, i.total,
      i.currency, s.period_end as due_at,
      s.status = 'suspended' as suspended
    ${overdue}
      ${after === null ? sql`` : sql`and (s.period_end, i.id) > (${after.at}, ${after.id})`}
    order by s.period_end, i.id limit ${limit + 1}`.execute(db)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: shown.map((row) => ({
      server: serverOf(subjectOf(row.subject)),
      id: row.id,
      number: row.number,
      customerId: row.customer_id,
      subject: subjectOf(row.subject)?.name ?? null,
      total: Number(row.total),
      currency: currencySchema.parse(row.currency),
      dueAt: row.due_at.toISOString(),
      suspended: row.suspended,
    })),
    next: rows.length > limit && last ? { at: last.due_at, id: last.id } : null,
  }
}
