/**
 * A provider's database of a given size, written by set-based statements: customers with wallets
 * and subscriptions, servers, host names, domains, invoices, payments and ledger entries in
 * proportion.
 */
import pg from 'pg'
import { bulkEntries } from './bulk.ts'

export interface Size {
  readonly customers: number
  /** One per ten customers. */
  readonly servers: number
  /** Ten per customer. */
  readonly entries: number
}
export const sizeOf = (customers: number): Size => ({
  customers,
  servers: Math.ceil(customers / 10),
  entries: customers * 10,
})

/** The id of the n-th row of a kind, counted from 1. */
export const idOf = (kind: number, n: number): string =>
  `0000000${kind}-0000-4000-9000-${String(n).padStart(12, '0')}`
export const id = (kind: number, n = 'n'): string =>
  `('0000000${kind}-0000-4000-9000-' || lpad((${n})::text, 12, '0'))::uuid`
/** Kinds of ids. */
export const kinds = { customer: 1, subscription: 2, site: 3, invoice: 4, payment: 5, zone: 6 }

/**
 * Writes all of it at the time `now`. `adminUrl`: a superuser, because triggers are disabled
 * meanwhile.
 */
export async function fill(
  adminUrl: string,
  { customers, servers, entries }: Size,
  now: Date,
): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const at = `'${now.toISOString()}'::timestamptz`
  const of = (n: string): string => id(kinds.customer, `1 + (${n} - 1) % ${customers}`)
  const many = `from generate_series(1, ${customers}) n`
  try {
    await admin.query(
      `set session_replication_role = replica; set synchronous_commit = off;
        set work_mem = '128MB'`,
    )
    for (const statement of [
      `insert into customer (id, email, phone, name, password_hash, region_code, created_at, active)
       select ${id(kinds.customer)}, 'c' || n || '@example.vn', '+841' || n, 'c', 'x', 'VN',
         ${at}, true ${many}`,
      `insert into ledger_account (code, customer_id, currency, may_be_negative, balance)
       select 'wallet:' || ${id(kinds.customer)}, ${id(kinds.customer)}, 'VND', false, 218000
       ${many}`,
      // Spread over a month, so that each is at most one period old.
      `insert into subscription (id, customer_id, region_code, product, price, terms, description,
         currency, status, anchor_at, months, period_start, period_end, next_at, created_at)
       select ${id(kinds.subscription)}, ${id(kinds.customer)}, 'VN', 'wordpress', 218000, null,
         '{"en": "WordPress", "vi": "WordPress"}', 'VND', 'active', at, 1, at,
         at + interval '1 month', at + interval '1 month', at
       from (select n, ${at} - interval '1 minute' - n * interval '28 days' / ${customers} as at
         ${many}) of_month`,
      `insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
         mariadb_disk_mb, containers, region_id, region_name, language, price, currency,
         admin_user, created_at, subscription_id, health_checked_at, disk_watched_at)
       select ${id(kinds.site)}, ${id(kinds.customer)}, 'site-' || n, 'running', 1, 'BASIC-1', 1,
         512, 10240, 10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', ${at},
         ${id(kinds.subscription)}, ${at}, ${at}
       from generate_series(1, ${servers}) n`,
      `insert into host (name, site_id, kind) select name, id, 'own' from site`,
      `insert into site_domain (site_id, customer_id, name, verified, proof, created_at, checked_at,
         next_check_at)
       select id, customer_id, 'www.' || name || '.vn', true, 'cname', ${at}, ${at},
         ${at} + seq * interval '20 hours' / ${servers} from site`,
      `insert into host (name, site_id, kind) select name, site_id, 'custom' from site_domain`,
      `insert into site_backup (id, site_id, kind, state, created_at, archive_bytes, figures,
         proven_at)
       select gen_random_uuid(), ${id(kinds.site, `1 + (n - 1) % ${servers}`)}, 'nightly', 'proven',
         ${at}, 1, '{}', ${at} from generate_series(1, ${servers} * 7) n`,
      `insert into invoice (id, number, customer_id, subscription_id, region_code, product,
         currency, total, amount_paid, status, buyer, seller, created_at, issued_at, paid_at, kind,
         tax_name, tax_rate)
       select ${id(kinds.invoice)}, 'VN-2026-' || n, ${of('n')}, null, 'VN',
         'wordpress', 'VND', 218000, 218000, 'paid', '{}', '{}', ${at}, ${at}, ${at}, 'renewal',
         'VAT', 800
       from generate_series(1, ${customers} * 5) n`,
      `insert into payment (id, code, reference, customer_id, driver, channel, amount, currency,
         status, ip, language, provider_ref, provider_transaction_id, created_at, expires_at,
         received)
       select ${id(kinds.payment)}, 'P' || n, 'P' || n, ${of('n')}, 'vnpay', 'card', 218000, 'VND',
         'succeeded', '::1', 'vi', 'ref' || n, 'tx' || n, at, at, 218000
       from (select n, ${at} - n * interval '400 days' / (${customers} * 5) as at
         from generate_series(1, ${customers} * 5) n) paid`,
      `insert into payment_notice (driver, event_id, raw, outcome, received_at)
       select 'vnpay', 'e' || n, '{}', 'recorded', ${at}
       from generate_series(1, ${customers} * 5) n`,
      `insert into notification (seq, customer_id, event, payload, created_at)
       select n, ${of('n')}, 'invoice.paid', '{}', ${at}
       from generate_series(1, ${customers} * 5) n`,
      `insert into dns_zone (id, customer_id, name, shown_name, name_servers, serial, created_at,
         active_at, first_active_at, next_check_at, touched_at)
       select ${id(kinds.zone)}, ${id(kinds.customer)}, 'd' || n || '.vn', 'd' || n || '.vn',
         '{ns1.example.net,ns2.example.net}', 1, ${at}, ${at}, ${at},
         ${at} + n * interval '1 day' / ${customers}, ${at} - interval '1 day' ${many}`,
      `insert into dns_record (id, zone_id, name, type, content, ttl_seconds, proxied, version)
       select gen_random_uuid(), ${id(kinds.zone, `1 + (n - 1) % ${customers}`)}, 'h' || n, 'A',
         '203.0.113.1', 300, false, 1 from generate_series(1, ${customers} * 3) n`,
    ])
      await admin.query(statement)
    const wallets = Array.from(
      { length: Math.min(customers, 2000) },
      (_, n) => `wallet:${idOf(kinds.customer, n + 1)}`,
    )
    await bulkEntries(adminUrl, wallets, entries)
    await admin.query('vacuum analyze')
    await admin.query('checkpoint')
  } finally {
    await admin.end()
  }
}
