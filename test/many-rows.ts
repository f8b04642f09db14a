/** Customers who have more of something than a page shows. */
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

/** Servers `<prefix>-1` and so on, the newest last; they failed, so nothing looks after them. */
export async function manyServers(
  db: Database,
  customerId: string,
  prefix: string,
  count: number,
): Promise<void> {
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    select gen_random_uuid(), ${customerId}, ${prefix}::text || '-' || n, 'failed', 1, 'BASIC-1',
      1, 512, 10240, 10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', now()
    from generate_series(1, ${count}::int) n`.execute(db)
}

/** Domains `<prefix>-1.vn` and so on, which wait for their activation. */
export async function manyDomains(
  db: Database,
  customerId: string,
  prefix: string,
  count: number,
): Promise<void> {
  await sql`
    insert into dns_zone (id, customer_id, name, shown_name, name_servers, serial, created_at,
      next_check_at, touched_at)
    select gen_random_uuid(), ${customerId}, ${prefix}::text || '-' || n || '.vn',
      ${prefix}::text || '-' || n || '.vn', '{ns1.a.example,ns2.a.example}', 1, now(),
      now() + interval '1 day', now()
    from generate_series(1, ${count}::int) n`.execute(db)
}

/** Paid invoices `<prefix>-1` and so on, the newest last. */
export async function manyInvoices(
  db: Database,
  customerId: string,
  prefix: string,
  count: number,
): Promise<void> {
  await sql`
    insert into invoice (id, number, customer_id, region_code, product, currency, total,
      amount_paid, status, buyer, seller, created_at, issued_at, paid_at, kind, tax_name,
      tax_rate)
    select gen_random_uuid(), ${prefix}::text || '-' || n, ${customerId}, 'VN', 'wordpress', 'VND',
      1000, 1000, 'paid', '{}', '{}', now(), now(), now(), 'renewal', 'VAT', 800
    from generate_series(1, ${count}::int) n`.execute(db)
}
