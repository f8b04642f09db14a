/**
 * A provider's operational rows: sessions, sign-ins, messages, answers stored for Idempotency-Keys,
 * counters, changes of zones, and the job queue. An hour's share of each has expired.
 */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { id, kinds, type Size } from './scale-data.ts'

/** Completed jobs that are not deleted yet, and jobs that gave up. */
const jobs = { completed: 500_000, failed: 20_000 } as const

/** Writes all of it at the time `now`; `url` is the database's owner, `adminUrl` a superuser. */
export async function fillUpkeep(
  url: string,
  adminUrl: string,
  { customers, servers }: Size,
  now: Date,
): Promise<void> {
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false })
  boss.on('error', () => undefined)
  await boss.start()
  for (const name of ['tidy', 'send-message', 'provision-site']) await boss.createQueue(name)
  await boss.stop({ graceful: false })
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const at = `'${now.toISOString()}'::timestamptz`
  const of = (n: string): string => id(kinds.customer, `1 + (${n} - 1) % ${customers}`)
  const many = (each: number): string => `from generate_series(1, ${Math.ceil(customers * each)}) n`
  /**
   * Spread over the previous `days` and one hour more, so that the last hour's share is older than
   * the retention time.
   */
  const spread = (each: number, days: number): string =>
    `${at} - interval '${days} days' - interval '1 hour' + n * interval '${days} days' / ` +
    `${Math.ceil(customers * each)}`
  try {
    await admin.query('set session_replication_role = replica; set synchronous_commit = off')
    for (const statement of [
      `insert into session (token_hash, customer_id, created_at, expires_at, ends_at, last_used_at)
       select sha256(n::text::bytea), ${of('n')}, ${at}, at, at, ${at}
       from (select n, ${spread(1, 30)} + interval '30 days' as at ${many(1)}) s`,
      `insert into sign_in (customer_id, at, ip, outcome, user_agent)
       select ${of('n')}, ${spread(3, 90)}, '::1', 'succeeded', 'x' ${many(3)}`,
      `insert into known_origin (customer_id, origin, seen_at)
       select ${of('n')}, 'o' || n, ${spread(1, 180)} ${many(1)}`,
      `insert into message (id, channel, recipient, subject, sealed_text, created_at, sent_at)
       select gen_random_uuid(), 'mail', 'a@example.vn', 'x', null, at, at
       from (select n, ${spread(5, 90)} as at ${many(5)}) m`,
      `insert into idempotency (scope, key, fingerprint, status_code, body, created_at)
       select 'customer:' || n, 'k', '\\x00', 200, '\\x00', ${spread(0.5, 1)} ${many(0.5)}`,
      `insert into one_time_code (id, purpose, subject, customer_id, target, code_fingerprint,
         requester, sent_at, expires_at, trusted)
       select gen_random_uuid(), 'recover', 's' || n, null, null, '\\x00', '::1', at, at, true
       from (select n, ${spread(0.05, 2)} as at ${many(0.05)}) c`,
      `insert into rate_limit (key, points, expire)
       select 'k' || n, 1, extract(epoch from ${at})::bigint * 1000
         - case when n % 10 = 0 then 1000 else -3600000 end ${many(0.2)}`,
      `insert into dns_change (zone_id, customer_id, serial, action, before, after, at)
       select ${id(kinds.zone, `1 + (n - 1) % ${customers}`)}, ${of('n')}, n, 'edit', '[]', '[]',
         ${at} ${many(2)}`,
      `insert into payment_notice (driver, event_id, raw, outcome, received_at)
       select 'vnpay', 'f' || n, '{}', 'forged', ${spread(0.1, 30)} ${many(0.1)}`,
      `insert into site_restore (id, site_id, backup_id, asked_at, state, ended_at)
       select gen_random_uuid(), ${id(kinds.site, `1 + (n - 1) % ${servers}`)}, gen_random_uuid(),
         ${at}, 'restored', ${at} from generate_series(1, ${Math.ceil(servers / 2)}) n`,
      `insert into pgboss.job (name, data, state, completed_on, started_on, created_on)
       select (array['tidy', 'send-message', 'provision-site'])[1 + n % 3],
         jsonb_build_object('siteId', n), 'completed', at, at, at
       from (select n, now() - interval '25 hours' + n * interval '25 hours' / ${jobs.completed}
         as at from generate_series(1, ${jobs.completed}) n) j`,
      `insert into pgboss.job (name, data, state, completed_on, started_on, created_on)
       select 'send-message', '{}', 'failed', now(), now(), now()
       from generate_series(1, ${jobs.failed}) n`,
    ])
      await admin.query(statement)
    await admin.query('vacuum analyze')
    await admin.query('checkpoint')
  } finally {
    await admin.end()
  }
}
