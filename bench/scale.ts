/**
 * Every sweep on a large database (CUSTOMERS, 100,000 by default; one server per ten, ten ledger
 * entries each): the due rows of a round, the time of the whole round, whether it stays within its
 * period, and whether one of its statements reads a large table sequentially. Third parties answer
 * at once here, so that only our own time is measured. Also the time of lists, gauges and
 * maintenance (scale-lists.ts). With PLANS=1 it also prints how each statement reached its tables.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { createBilling, createInvoiceLinks } from '../server/billing/index.ts'
import { loadCatalog } from '../server/catalog/index.ts'
import type { DelegationCheck } from '../server/dns/delegation/index.ts'
import type { Publisher } from '../server/dns/publish.ts'
import { createVerifier } from '../server/dns/verify.ts'
import { days, hours, later, minutes, type Clock } from '../server/platform/clock.ts'
import type { JobDefinition, Jobs } from '../server/platform/jobs.ts'
import { createLog } from '../server/platform/log.ts'
import { createHostTable } from '../server/edge/index.ts'
import { createEventOutbox } from '../server/realtime/index.ts'
import { gatewayPostings } from '../server/wallet/index.ts'
import { createDirectory, type HostTableControl } from '../server/wordpress/directory.ts'
import { defineRecheck } from '../server/wordpress/domain-recheck.ts'
import type { WordpressDriver } from '../server/wordpress/driver.ts'
import { defineDiskWarnings } from '../server/wordpress/disk-warnings.ts'
import { defineHealth } from '../server/wordpress/health.ts'
import { defineNightlyBackups } from '../server/wordpress/nightly-backups.ts'
import { shownAndPriced } from '../server/wordpress/product.ts'
import { createReconciler } from '../server/wordpress/reconcile.ts'
import { defineResuming } from '../server/wordpress/resume.ts'
import { fill, idOf, kinds, sizeOf } from './scale-data.ts'
import { measureDesk } from './scale-desk.ts'
import { measureLists } from './scale-lists.ts'
import { openTable } from './scale-measure.ts'
import { recordQueries } from './scale-plans.ts'
import { fillUpkeep } from './scale-upkeep.ts'
import { scratchLedger, type ScratchLedger } from './scratch-ledger.ts'

recordQueries()
const size = sizeOf(Number(process.env['CUSTOMERS'] ?? 100_000))
const began = new Date('2026-11-01T00:00:00Z')
let now = began
const clock: Clock = { now: () => now }
const log = createLog('fatal')
const signal = new AbortController().signal
const defined = new Map<string, JobDefinition<object>>()
const jobs = {
  define: (job: JobDefinition<object>) => void defined.set(job.name, job),
  add: async () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  health: async () => undefined,
} as Jobs
const run = (name: string, until = signal): Promise<void> | undefined =>
  defined.get(name)?.run({}, { number: 1, last: true, signal: until })
const addressing = { scheme: 'http', host: 'sites.example', portSuffix: '' } as const

/** SCALE_DATA: a folder that keeps the data of the first run for later ones. */
const kept = process.env['SCALE_DATA']
const plain = { connections: 20, wallets: 0, fund: 0n }
async function filled(folder?: string): Promise<ScratchLedger> {
  const made = await scratchLedger({
    ...plain,
    ...(folder !== undefined && { folder, keep: true }),
  })
  const start = performance.now()
  await fill(made.adminUrl, size, began)
  await fillUpkeep(made.url, made.adminUrl, size, began)
  console.log(
    `      ${size.customers} customers, ${size.servers} servers, ${size.entries} entries, ` +
      `written in ${((performance.now() - start) / 1000).toFixed(0)} s`,
  )
  return made
}
if (kept !== undefined && !existsSync(path.join(kept, 'filled'))) {
  await (await filled(kept)).close()
  writeFileSync(path.join(kept, 'filled'), `${size.customers}\n`)
}
const scratch =
  kept === undefined ? await filled() : await scratchLedger({ ...plain, copyOf: kept })
const { db } = scratch

const printed = openTable(scratch.adminUrl)
const { measure, failed } = printed

try {
  const bills = createBilling({
    db,
    clock,
    jobs,
    ledger: scratch.ledger,
    catalog: loadCatalog(path.resolve(import.meta.dirname, '../catalog.yaml')),
    outbox: createEventOutbox(clock, () => undefined),
    mail: async () => undefined,
    customers: async (_, ids) =>
      new Map(
        ids.map((id) => [
          id,
          { id, name: 'c', email: 'c@example.vn', regionCode: 'VN', language: 'vi' },
        ]),
      ),
    portalUrl: 'http://127.0.0.1:8080',
    links: createInvoiceLinks('', 'bench'),
    log,
  })
  bills.offer({
    ...shownAndPriced,
    name: 'wordpress',
    jobs: { suspend: 'suspend', resume: 'resume', remove: 'remove' },
    offers: async () => new Map(),
  })
  const answering = Object.fromEntries(
    Array.from({ length: size.servers }, (_, n) => [idOf(kinds.site, n + 1), 1]),
  )
  const driver = {
    answering: async () => answering,
    addresses: async () => [],
    list: async () => Object.keys(answering),
    start: async () => undefined,
    state: async () => ({ diskUsedMb: 1, databaseUsedMb: 1 }),
  } as unknown as WordpressDriver
  const sites = { db, clock, log, jobs, driver, addressing, onChange: () => undefined }
  const reconciler = createReconciler({ ...sites, nodes: () => [{ node: 'main', driver }] })
  const health = defineHealth(sites)
  const resumeServers = defineResuming(sites)
  const watchDisks = defineDiskWarnings({
    ...sites,
    portalUrl: 'http://127.0.0.1:8080',
    outbox: { publishEvent: async () => undefined, publishEvents: async () => undefined },
    mail: async () => undefined,
    owner: async () => ({ email: 'c@example.vn', language: 'vi' as const }),
  })
  defineRecheck({
    db,
    clock,
    log,
    jobs,
    evidence: async (name) => ({
      name,
      verified: true,
      pointed: true,
      records: [],
      proof: 'cname',
      answered: true,
    }),
    isZoneOf: async () => false,
  })
  defineNightlyBackups({
    db,
    clock,
    log,
    jobs,
    begin: async () => '',
    removeAll: async () => undefined,
    deletedSince: () => clock.now(),
  })
  const table = createHostTable(() => [])
  const edge: HostTableControl = {
    version: async () => table.version(),
    apply: async (change) => table.apply(change),
  }
  const directory = createDirectory(
    db,
    () => [{ node: 'main', edge }],
    addressing,
    'a key',
    log,
    async () => undefined,
  )
  const verifier = createVerifier({
    db,
    clock,
    jobs,
    log,
    outbox: { publishEvent: async () => undefined, publishEvents: async () => undefined },
    publisher: {
      ensure: async () => undefined,
      reconsider: async () => undefined,
    } as unknown as Publisher,
    delegation: {
      check: async ({ expected }: { expected: readonly string[] }) => ({
        isValid: true,
        expected,
        found: [...expected],
        warnings: [],
      }),
    } as unknown as DelegationCheck,
    pool: ['ns1.example.net', 'ns2.example.net'],
  })

  const { customers, servers } = size
  const hour = { periodMs: hours(1) }
  const minute = { periodMs: minutes(1) }
  const watch = (signalled = signal) => bills.watchRunways(signalled)
  await measure('runway warnings, all at once', { ...hour, rows: customers, round: watch })
  await measure('runway warnings, none due', { ...hour, rows: 0, round: watch })
  await measure('announced prices', {
    ...hour,
    rows: customers,
    round: () => bills.announcePrices(signal),
  })
  await measure('reconcile-sites', {
    ...minute,
    rows: servers,
    reads: ['site'],
    round: () => reconciler.run(signal),
  })
  await measure('host names of the edge, first reading', {
    periodMs: 5000,
    rows: servers * 2,
    reads: ['host', 'site'],
    round: () => directory.start(),
  })
  directory.stop()
  await measure('host names of the edge, nothing changed', {
    periodMs: 5000,
    rows: 0,
    round: async () => {
      directory.refresh()
      await directory.idle()
    },
  })
  now = later(began, minutes(1))
  await measure('check-due-domains, a minute', {
    ...minute,
    rows: Math.floor(customers / 1440),
    round: () => verifier.checkDue(signal),
  })
  now = later(began, hours(1))
  await measure('recheck-domains, an hour', {
    ...hour,
    rows: Math.floor(servers / 20),
    round: async () => run('recheck-domains'),
  })
  // The state after ten minutes of health checks: a tenth is due.
  await sql`update site set health_checked_at = ${now}::timestamptz - interval '10 minutes'
    + interval '10 minutes' * seq / ${servers}, unanswered = case when seq % 1000 = 0 then 1 else 0
    end`.execute(db)
  now = later(now, minutes(1))
  await measure('front pages, a minute', {
    ...minute,
    rows: Math.ceil(servers / 10),
    round: () => health.checkDue(signal),
  })
  await measure('front pages, none due', {
    ...minute,
    rows: 0,
    round: () => health.checkDue(signal),
  })
  await sql`update site set disk_watched_at = ${now}::timestamptz - interval '20 minutes'
    + interval '20 minutes' * seq / ${servers}`.execute(db)
  now = later(now, minutes(10))
  await measure('disks, ten minutes', {
    periodMs: minutes(10),
    rows: Math.ceil(servers / 2),
    round: () => watchDisks(signal),
  })
  // pg-boss has no index of waiting or running jobs, so the table is read entirely.
  await measure('resume-servers', {
    periodMs: minutes(10),
    rows: 0,
    reads: ['job_common'],
    round: () => resumeServers(),
  })
  // Aborted once it has begun as many as there is room for; the rest of its minute would be
  // waiting.
  await measure('nightly backups, filled up once', {
    ...minute,
    rows: 60,
    round: async () =>
      run('nightly-backups', AbortSignal.abort())?.catch((error: unknown) => {
        if (!(error instanceof Error && error.name === 'AbortError')) throw error
      }),
  })
  await measure('renewals, a minute', {
    ...minute,
    rows: Math.ceil(customers / 43_200),
    round: () => bills.sweep(signal),
  })
  const span = { from: later(new Date(), -days(400)), to: later(new Date(), -days(400) + 60_000) }
  await measure('postings of a gateway, a minute of its time', {
    ...hour,
    rows: Math.min(60_000, size.entries / 2),
    round: () => gatewayPostings(db, 'vnpay', span),
  })
  await measureLists({
    db,
    url: scratch.url,
    adminUrl: scratch.adminUrl,
    clock,
    jobs,
    log,
    bills,
    size,
    table: printed,
  })
  const { adminUrl, ledger } = scratch
  await measureDesk({ db, clock, ledger, adminUrl, size, table: printed })
} finally {
  await scratch.close()
}
if (failed()) process.exitCode = 1
