/**
 * Inserts entries by the million into a scratch ledger, bypassing its rules, only for benchmarks of
 * size. Their hashes are random, so no check of the ledger holds afterwards.
 */
import pg from 'pg'

const atOnce = 250_000

/**
 * `entries` in total: half in the wallets, in turn, each with its counterpart in the gateway's
 * account. `adminUrl`: a superuser, because triggers are disabled.
 */
export async function bulkEntries(
  adminUrl: string,
  wallets: readonly string[],
  entries: number,
): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  try {
    await admin.query(
      `set session_replication_role = replica; set synchronous_commit = off;
        set maintenance_work_mem = '256MB'`,
    )
    const transfers = Math.floor(entries / 2)
    const { rows } = await admin.query<{ base: string }>(
      'select coalesce(max(id), 0) as base from ledger_transfer',
    )
    const base = Number(rows[0]?.base)
    for (let from = 1; from <= transfers; from += atOnce) {
      const span = [base, from, Math.min(from + atOnce - 1, transfers)]
      await admin.query(
        `insert into ledger_transfer (id, key, kind, details, fingerprint,
         created_at) overriding system value
         select $1::bigint + n, 'bulk:' || $1 || ':' || n, 'topup', jsonb_build_object('provider',
         'VNPay', 'code', upper(md5($1 || ':' || n))), '\\x00',
           now() - interval '400 days' + n * interval '1 millisecond'
         from generate_series($2::bigint, $3::bigint) n`,
        span,
      )
      await admin.query(
        `insert into ledger_entry (transfer_id, account_id, amount, ending_balance, version, hash)
         select $1::bigint + n, w.id, 1000, w.balance + 1000 * ((n - 1) / $5 + 1),
         w.version + (n - 1) / $5 + 1, sha256(n::text::bytea)
         from generate_series($2::bigint, $3::bigint) n
         join unnest($4::text[]) with ordinality as name (code, place) on place = (n - 1) % $5 + 1
         join ledger_account w on w.code = name.code
         union all
         select $1::bigint + n, g.id, -1000, g.balance - 1000 * n, g.version + n,
         sha256(n::text::bytea)
         from generate_series($2::bigint, $3::bigint) n
         join ledger_account g on g.code = 'gateway:vnpay:VND'`,
        [...span, wallets, wallets.length],
      )
    }
    await admin.query(
      `select setval(pg_get_serial_sequence('ledger_transfer', 'id'), (select max(id)
        from ledger_transfer))`,
    )
    await admin.query(
      `update ledger_account a set balance = e.ending_balance, version = e.version,
       head_hash = e.hash, last_at = t.created_at
       from (select distinct on (account_id) * from ledger_entry
       order by account_id, version desc) e join ledger_transfer t on t.id = e.transfer_id
       where e.account_id = a.id`,
    )
    // The vacuum after a million inserts runs now, and not during the measurement.
    for (const table of ['ledger_account', 'ledger_transfer', 'ledger_entry'])
      await admin.query(`vacuum analyze ${table}`)
    await admin.query('checkpoint')
  } finally {
    await admin.end()
  }
}
