/** Customers who have more than one page of the desk shows. */
import { sql } from 'kysely'
import type { Database } from '../server/platform/db.ts'

/** Expired top-ups that are newer than this one; some have the same time. */
export async function newerTopUps(db: Database, code: string, count: number): Promise<void> {
  await sql`
    insert into payment overriding user value
    select (jsonb_populate_record(p, jsonb_build_object(
      'id', gen_random_uuid(), 'code', p.code || n, 'reference', p.code || n, 'status', 'expired',
      'received', 0, 'provider_ref', null, 'provider_transaction_id', null,
      'created_at', date_trunc('second', p.created_at) + (n / 4 + 1) * interval '1 second'
    ))).*
    from payment p, generate_series(1, ${count}::int) n where p.code = ${code}`.execute(db)
}

/** Tickets of a customer, of every priority; some wait since the same time. */
export async function manyTickets(
  db: Database,
  customerId: string,
  state: 'open' | 'closed',
  count: number,
): Promise<void> {
  await sql`
    insert into ticket (id, customer_id, subject, state, priority, opened_at, waiting_since,
      closed_at)
    select gen_random_uuid(), ${customerId}, 'Ticket ' || n, ${state}::text, n % 4,
      date_trunc('second', now()), date_trunc('second', now()) - n / 6 * interval '1 minute',
      case when ${state}::text = 'closed'
        then date_trunc('second', now()) - n / 6 * interval '1 minute' end
    from generate_series(1, ${count}::int) n`.execute(db)
}
