/**
 * The customers' lists, first and deep pages, for a customer with very many items; the monitor's
 * metrics; and an hour's maintenance.
 */
import { sql, type RawBuilder } from 'kysely'
import pg from 'pg'
import { createAccounts, type AuthNeeds } from '../server/auth/index.ts'
import { listSignIns } from '../server/auth/sign-ins.ts'
import { tidyAuth } from '../server/auth/tidy.ts'
import type { Billing } from '../server/billing/index.ts'
import { invoicePage } from '../server/billing/store.ts'
import { changePage } from '../server/dns/changes.ts'
import { countDomains } from '../server/dns/counts.ts'
import { zonePage } from '../server/dns/search.ts'
import { createMessages } from '../server/messages/index.ts'
import { moneyInSuspense, recentPayments, undecidedRefunds } from '../server/payments/counts.ts'
import { dropForgedWebhooks } from '../server/payments/webhooks.ts'
import { hours, type Clock } from '../server/platform/clock.ts'
import type { PageRequest } from '../server/platform/cursor.ts'
import type { Database } from '../server/platform/db.ts'
import { forgetOldAnswers, type IdempotencyStore } from '../server/platform/idempotency.ts'
import {
  forgetCompletedJobs,
  givenUpByQueue,
  givenUpJobs,
  oldestDueSeconds,
  queueCounts,
  queueStates,
} from '../server/platform/job-inspection.ts'
import type { Jobs } from '../server/platform/jobs.ts'
import { createLimits } from '../server/platform/limits.ts'
import type { Log } from '../server/platform/log.ts'
import { createSecrets } from '../server/platform/secrets.ts'
import { dropOldNotifications, listNotifications } from '../server/realtime/notifications.ts'
import { revokeSessions } from '../server/realtime/session-revocations.ts'
import { entryPage } from '../server/wallet/index.ts'
import { backupPage } from '../server/wordpress/backup-store.ts'
import { countBackups, countSites } from '../server/wordpress/counts.ts'
import { dropOldHostChanges } from '../server/wordpress/directory.ts'
import { downSites } from '../server/wordpress/health.ts'
import { sitePage } from '../server/wordpress/search.ts'
import { id, idOf, kinds, type Size } from './scale-data.ts'
import type { Table } from './scale-measure.ts'

/** Number of items of each kind that the largest customer has. */
const many = 100_000
/** Rows of a page. */
const limit = 50
/** How long a monitor waits for a metric (server/platform/metrics.ts), ms. */
const gauge = { periodMs: 2_000 }
const page = { periodMs: 200 }
const hourly = { periodMs: hours(1) }

/** Gives the first customer `many` invoices, notifications, domains, sign-ins and servers. */
async function fillLargest(adminUrl: string, { customers, servers }: Size): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const first = id(kinds.customer, '1')
  const own = `from generate_series(1, ${many}) n`
  try {
    await admin.query('set session_replication_role = replica; set synchronous_commit = off')
    for (const statement of [
      `insert into invoice (id, number, customer_id, subscription_id, region_code, product,
         currency, total, amount_paid, status, buyer, seller, created_at, issued_at, paid_at, kind,
         tax_name, tax_rate)
       select gen_random_uuid(), 'XN-' || n, ${first}, null, 'VN', 'wordpress', 'VND', 1, 1,
         'paid', '{}', '{}', now(), now(), now(), 'renewal', 'VAT', 800 ${own}`,
      `insert into notification (seq, customer_id, event, payload, created_at)
       select ${customers} * 5 + n, ${first}, 'invoice.paid', '{}', now() ${own}`,
      `insert into dns_zone (id, customer_id, name, shown_name, name_servers, serial, created_at,
         active_at, first_active_at, next_check_at, touched_at)
       select gen_random_uuid(), ${first}, 'x' || n || '.vn', 'x' || n || '.vn', '{a,b}', 1, now(),
         now(), now(), now() + interval '1 day', now() - interval '1 day' ${own}`,
      `insert into dns_change (zone_id, customer_id, serial, action, before, after, at)
       select ${id(kinds.zone, '1')}, ${first}, ${customers} * 5 + n, 'edit', '[]', '[]', now()
       ${own}`,
      `insert into sign_in (customer_id, at, ip, outcome, user_agent)
       select ${first}, now(), '::1', 'succeeded', 'x' ${own}`,
      `insert into site_backup (id, site_id, kind, state, created_at, archive_bytes, figures,
         proven_at)
       select gen_random_uuid(), ${id(kinds.site, '1')}, 'nightly', 'proven', now(), 1, '{}', now()
       ${own}`,
      `update site set customer_id = ${first} where seq <= ${Math.ceil(servers / 2)}`,
      'vacuum analyze',
    ])
      await admin.query(statement)
  } finally {
    await admin.end()
  }
}

/** A list: its table, the column by which it is paged, and a filter. */
interface Listed {
  readonly table:
    | 'invoice'
    | 'site'
    | 'ledger_entry'
    | 'notification'
    | 'dns_zone'
    | 'dns_change'
    | 'sign_in'
    | 'site_backup'
  readonly by: 'seq' | 'id' | 'version'
  readonly where: RawBuilder<unknown>
}

/** The beginning of the page after nine tenths of a list. */
async function deepIn(db: Database, { table, by, where }: Listed): Promise<bigint | null> {
  const { rows } = await sql<{ at: bigint }>`
    select ${sql.ref(by)} as at from ${sql.table(table)} where ${where} order by 1 desc
    offset (select count(*) * 9 / 10 from ${sql.table(table)} where ${where}) limit 1`.execute(db)
  return rows[0]?.at ?? null
}

export async function measureLists(deps: {
  db: Database
  url: string
  adminUrl: string
  clock: Clock
  jobs: Jobs
  log: Log
  bills: Billing
  size: Size
  table: Table
}): Promise<void> {
  const { db, clock, jobs, log, bills, table, size } = deps
  const { measure } = table
  await fillLargest(deps.adminUrl, size)
  const customerId = idOf(kinds.customer, 1)
  const of = { customerId, search: '', only: null }
  const addressing = { scheme: 'http', host: 'localhost', portSuffix: '' } as const
  /** The first page of a list, and the one after nine tenths of it. */
  async function pagesOf(
    name: string,
    listed: Listed,
    read: (at: PageRequest) => Promise<unknown>,
    periodMs = page.periodMs,
  ): Promise<void> {
    const before = await deepIn(db, listed)
    const shown = { periodMs, rows: limit }
    await measure(`${name}, first page`, {
      ...shown,
      round: () => read({ limit, before: null }),
    })
    await measure(`${name}, deep`, { ...shown, round: () => read({ limit, before }) })
  }
  const ofCustomer = sql`customer_id = ${customerId}`
  const zoneId = idOf(kinds.zone, 1)
  const siteId = idOf(kinds.site, 1)

  table.section(`Lists of a customer with ${many} of everything`)
  await pagesOf('invoices', { table: 'invoice', by: 'seq', where: ofCustomer }, (at) =>
    invoicePage(db, { ...of, ...at }),
  )
  await pagesOf('servers', { table: 'site', by: 'seq', where: ofCustomer }, (at) =>
    sitePage(db, { ...of, ...at, addressing }),
  )
  // By any part of a name or domain: every one of the customer is compared.
  await pagesOf(
    'a search in the servers',
    { table: 'site', by: 'seq', where: ofCustomer },
    (at) => sitePage(db, { ...of, ...at, addressing, search: 'nothing of that' }),
    1_000,
  )
  const entries: Listed = {
    table: 'ledger_entry',
    by: 'version',
    where: sql`account_id = (select id from ledger_account where customer_id = ${customerId})`,
  }
  const whole = { direction: undefined, period: { from: null, to: null }, language: 'vi' } as const
  await pagesOf('entries of the wallet', entries, (at) => entryPage(db, { ...of, ...at, ...whole }))
  await pagesOf('a search in the wallet that finds nothing', entries, (at) =>
    entryPage(db, { ...of, ...at, ...whole, search: 'nothing of that' }),
  )
  await pagesOf('notifications', { table: 'notification', by: 'seq', where: ofCustomer }, (at) =>
    listNotifications(db, {
      ...of,
      ...at,
      after: null,
      language: 'vi',
      complete: (payload) => payload,
      titles: new Proxy({} as never, { get: () => () => '' }),
    }),
  )
  const domains: Listed = { table: 'dns_zone', by: 'seq', where: ofCustomer }
  await pagesOf('domains', domains, (at) => zonePage(db, { ...of, ...at }))
  // By any part of a name: every name of the customer is compared.
  await pagesOf(
    'a search in the domains',
    domains,
    (at) => zonePage(db, { ...of, ...at, search: 'x9999' }),
    1_000,
  )
  await pagesOf(
    'changes of a domain',
    { table: 'dns_change', by: 'id', where: sql`zone_id = ${zoneId}` },
    (at) => changePage(db, { zoneId, ...at }),
  )
  await pagesOf('sign-ins', { table: 'sign_in', by: 'id', where: ofCustomer }, (at) =>
    listSignIns(db, customerId, at),
  )
  await pagesOf(
    'backups of a server',
    { table: 'site_backup', by: 'seq', where: sql`site_id = ${siteId}` },
    (at) => backupPage(db, { siteId, ...at }),
  )

  table.section('What an operator asks for')
  const some = { periodMs: 1_000 }
  await measure('servers that are down', { ...some, rows: 0, round: () => downSites(db) })
  await measure('jobs that gave up', {
    ...some,
    rows: limit,
    reads: ['job_common'],
    round: () => givenUpJobs(db, { limit }),
  })
  await measure('queues', {
    ...some,
    rows: 3,
    reads: ['job_common'],
    round: () => queueStates(db),
  })

  table.section('Gauges, each time they are read')
  const secrets = createSecrets('a secret for benches, forty characters long')
  const messages = createMessages({
    db,
    jobs,
    clock,
    log,
    secrets,
    sms: { send: async () => undefined } as never,
    mailer: { send: async () => undefined } as never,
    portalUrl: 'http://127.0.0.1',
    supportMail: null,
  })
  const gauges: Record<string, () => Promise<unknown>> = {
    'overdue subscriptions': () => bills.waiting(),
    'servers by state': () => countSites(db),
    'messages that wait': () => messages.waiting(),
    'jobs by queue': () => queueCounts(db),
    'oldest job that is due': () => oldestDueSeconds(db),
    'payments of the last hour': () => recentPayments(db, clock, ['vnpay', 'stripe']),
    'money in suspense': () => moneyInSuspense(db),
    'refunds that are not decided': () => undecidedRefunds(db),
  }
  for (const [name, round] of Object.entries(gauges))
    await measure(name, { ...gauge, rows: 1, round })
  // At most once a minute, for all callers together.
  await measure('jobs that gave up (once a minute)', {
    ...gauge,
    rows: 1,
    reads: ['job_common'],
    round: () => givenUpByQueue(db),
  })
  await measure('backups (once a minute)', {
    ...gauge,
    rows: size.servers,
    reads: ['site'],
    round: () => countBackups(db),
  })
  await measure('domains by state (once a minute)', {
    ...gauge,
    rows: size.customers,
    reads: ['dns_zone'],
    round: () => countDomains(db),
  })

  table.section('Upkeep of an hour')
  const limits = createLimits(deps.url)
  const accounts = createAccounts({
    db,
    clock,
    limits,
    log,
    secrets,
    portalUrl: 'http://localhost:8080',
    registrationsPerHour: 30,
    smsADay: 5000,
  } as unknown as AuthNeeds)
  const kept = { db, clock, secrets } as unknown as IdempotencyStore
  const steps: Record<string, () => Promise<unknown>> = {
    answers: () => forgetOldAnswers(kept),
    ...tidyAuth(db, clock, accounts, revokeSessions),
    messages: () => messages.dropOld(),
    forgedWebhooks: () => dropForgedWebhooks(db, clock),
    notifications: () => dropOldNotifications(db, clock),
    hostChanges: () => dropOldHostChanges(db),
  }
  for (const [name, round] of Object.entries(steps))
    await measure(`tidy: ${name}`, { ...hourly, rows: 0, round })
  await measure('tidy: jobs', {
    ...hourly,
    rows: 20_000,
    reads: ['job_common'],
    round: () => forgetCompletedJobs(db),
  })
  // It has no index on purpose (limits.ts).
  await measure('tidy: limits', {
    ...hourly,
    rows: 0,
    reads: ['rate_limit'],
    round: () => limits.forgetExpired(),
  })
  await limits.close()
}
