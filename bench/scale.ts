/**
 * Every sweep on a large database (CUSTOMERS, 100,000 by default; a server for ten of them, ten
 * ledger entries each): the rows that are due in a round, the time of the whole round, whether it
 * holds its period, and whether a statement of it reads a large table from end to end. The outside
 * world answers at once here: what is measured is ours. And the time of a page of the lists that
 * customers and operators see.
 */
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createBilling, createInvoiceLinks } from '../server/billing/index.ts'
import { invoicePage } from '../server/billing/store.ts'
import { loadCatalog } from '../server/catalog/index.ts'
import type { DelegationCheck } from '../server/dns/delegation/index.ts'
import type { Publisher } from '../server/dns/publish.ts'
import { createVerifier } from '../server/dns/verify.ts'
import { dropForgedWebhooks } from '../server/payments/webhooks.ts'
import { days, hours, later, minutes, type Clock } from '../server/platform/clock.ts'
import type { JobDefinition, Jobs } from '../server/platform/jobs.ts'
import { createLog } from '../server/platform/log.ts'
import { createEventOutbox, dropOldNotifications } from '../server/realtime/index.ts'
import { entryPage, gatewayPostings } from '../server/wallet/index.ts'
import { createDirectory } from '../server/wordpress/directory.ts'
import { defineRecheck } from '../server/wordpress/domain-recheck.ts'
import type { WordpressDriver } from '../server/wordpress/driver.ts'
import { defineHealth, downSites } from '../server/wordpress/health.ts'
import { defineNightlyBackups } from '../server/wordpress/nightly-backups.ts'
import { shownAndPriced } from '../server/wordpress/product.ts'
import { createReconciler } from '../server/wordpress/reconcile.ts'
import { sitePage } from '../server/wordpress/store.ts'
import { fill, idOf, kinds, sizeOf } from './scale-data.ts'
import { recordQueries, seqScansOf, statementsOf } from './scale-plans.ts'
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

/** SCALE_DATA: a folder that keeps what is written at the first run, for the next ones. */
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

let failed = false
/**
 * `rows` are due; a round holds when it takes less than its period and, where it `takes` only so
 * many, these are no fewer. A page has a second.
 */
async function measure(
  name: string,
  of: { rows: number; takes?: number; periodMs: number; round: () => Promise<unknown> },
): Promise<void> {
  let ms = 0
  const statements = await statementsOf(async () => {
    const start = performance.now()
    await of.round()
    ms = performance.now() - start
  })
  const scans = await seqScansOf(scratch.adminUrl, statements)
  const takes = of.takes ?? of.rows
  const holds = ms < of.periodMs && takes >= of.rows
  failed ||= !holds
  const period = of.periodMs >= 60_000 ? `${of.periodMs / 60_000} min` : `${of.periodMs / 1000} s`
  console.log(
    `${holds ? 'ok  ' : 'OVER'}  ${name.padEnd(44)} ${String(of.rows).padStart(8)} due ` +
      `${(ms / 1000).toFixed(3).padStart(9)} s of ${period.padEnd(7)}` +
      (takes < of.rows ? ` takes ${takes} only` : '') +
      (scans.length > 0 ? ` !! SEQ SCAN !! of ${scans.join(', ')}` : ''),
  )
}

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
  } as unknown as WordpressDriver
  const sites = { db, clock, log, jobs, driver, addressing, onChange: () => undefined }
  const reconciler = createReconciler(sites)
  const health = defineHealth(sites)
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
  const directory = createDirectory(db, { publish: async () => undefined }, addressing, log)
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
    round: () => reconciler.run(signal),
  })
  await measure('host names of the edge, first reading', {
    periodMs: 5000,
    rows: servers * 2,
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
  await measure('front pages, a minute', {
    ...minute,
    rows: Math.ceil(servers / 10),
    takes: 100,
    round: () => health.checkDue(signal),
  })
  // Stopped once it has begun what there is room for; the rest of its minute is waiting.
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
  await measure('forged webhooks', {
    ...hour,
    rows: 0,
    round: () => dropForgedWebhooks(db, clock),
  })
  await measure('old notifications', {
    ...hour,
    rows: 0,
    round: () => dropOldNotifications(db, clock),
  })

  const page = { customerId: idOf(kinds.customer, 1), limit: 20, before: null }
  const second = { periodMs: 1000 }
  await measure('a page of invoices', {
    ...second,
    rows: 5,
    round: () => invoicePage(db, page),
  })
  await measure('a page of servers', { ...second, rows: 1, round: () => sitePage(db, page) })
  await measure('a page of the wallet', {
    ...second,
    rows: 20,
    round: () =>
      entryPage(db, {
        ...page,
        direction: undefined,
        search: '',
        period: { from: null, to: null },
        language: 'vi',
      }),
  })
  await measure('servers that are down (operator)', {
    ...second,
    rows: 0,
    round: () => downSites(db),
  })
  await measure('overdue subscriptions (gauge)', {
    ...second,
    rows: 0,
    round: () => bills.waiting(),
  })
} finally {
  await scratch.close()
}
if (failed) process.exitCode = 1
