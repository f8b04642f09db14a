/**
 * 10 000 subscriptions that fall due in one minute (BENCH_RENEWALS): renewed, invoiced, charged and
 * reported, compared with pgbench making the same number of the same postings on the same server,
 * alternating in one run. Also the time of an invoice's PDF.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { monthlyOf } from '../contract/pricing.ts'
import { createBilling, createInvoiceLinks } from '../server/billing/index.ts'
import { invoicePdf } from '../server/billing/invoice-pdf.ts'
import { loadCatalog } from '../server/catalog/index.ts'
import { plans, termsOf } from '../server/wordpress/index.ts'
import { later, type Clock } from '../server/platform/clock.ts'
import type { Jobs } from '../server/platform/jobs.ts'
import { createLog } from '../server/platform/log.ts'
import { createEventOutbox } from '../server/realtime/outbox.ts'
import { checkLedger } from '../server/wallet/index.ts'
import { shownAndPriced } from '../server/wordpress/product.ts'
import { median, report } from './portal.ts'
import { scratchLedger } from './scratch-ledger.ts'

const count = Number(process.env['BENCH_RENEWALS'] ?? 10_000)
const rounds = 3
const clients = 16
const ordered = new Date('2027-01-10T00:00:00Z')

const catalog = loadCatalog(path.resolve(import.meta.dirname, '../catalog.yaml'))
const plan = plans(catalog, 'VND')[0]
if (!plan) throw new Error('no plan is sold')
const terms = termsOf(catalog, 'VND', {
  plan,
  diskMb: 10_240,
  mariadbDiskMb: 10_240,
  containers: 1,
})
const price = monthlyOf(terms).total

let now = ordered
const clock: Clock = { now: () => now }
const jobs: Jobs = {
  define: () => undefined,
  add: async () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  health: async () => undefined,
}

const scratch = await scratchLedger({ connections: 4, wallets: count, fund: 1_000_000_000n })
const { db, ledger } = scratch

/**
 * Seconds for the same number of single postings, each in its own transaction. In pgbench a colon
 * begins a variable, so chr(58) replaces it.
 */
function theirs(): number {
  const script = path.join(scratch.folder, 'renewal.pgbench')
  writeFileSync(
    script,
    `\\set w random(0, ${count - 1})
\\set a random(1, 1000000000)
\\set b random(1, 1000000000)
begin;
select outcome, transfer_id from ledger_post('pgbench-' || :a || '-' || :b, 'charge',
  concat('{"invoice"', chr(58), ' "VN-2026-000001"}')::jsonb, now()::timestamptz,
  array[concat('wallet', chr(58), '00000000-0000-4000-8000-', lpad((:w)::text, 12, '0')),
    concat('revenue', chr(58), 'wordpress', chr(58), 'VND')],
  array[-1, 1]::bigint[]);
commit;
`,
  )
  const url = new URL(scratch.url)
  const run = spawnSync(
    'pgbench',
    [
      '-n',
      '-c',
      String(clients),
      '-j',
      '2',
      '-t',
      String(Math.ceil(count / clients)),
      '-M',
      'extended',
      '-f',
      script,
      url.pathname.slice(1),
    ],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        PGHOST: url.searchParams.get('host') ?? '',
        PGPORT: url.searchParams.get('port') ?? '',
        PGUSER: url.username,
        PGPASSWORD: decodeURIComponent(url.password),
      },
    },
  )
  const tps = /tps = ([\d.]+)/.exec(run.stdout)?.[1]
  if (tps === undefined)
    throw new Error(
      `pgbench is needed (Debian: postgresql-contrib): ${run.error?.message ?? run.stderr}`,
    )
  return count / Number(tps)
}

try {
  const bills = createBilling({
    db,
    clock,
    jobs,
    ledger,
    catalog,
    outbox: createEventOutbox(clock, () => undefined),
    mail: async () => undefined,
    async customers(from, ids) {
      const rows = await from
        .selectFrom('customer')
        .select(['id', 'name', 'email'])
        .where('id', 'in', ids)
        .execute()
      return new Map(
        rows.map((row) => [row.id, { ...row, regionCode: 'VN' as const, language: 'vi' as const }]),
      )
    },
    portalUrl: 'http://127.0.0.1:8080',
    links: createInvoiceLinks('', 'bench'),
    log: createLog('warn'),
  })
  bills.offer({
    ...shownAndPriced,
    name: 'wordpress',
    jobs: { suspend: 'suspend-site', resume: 'resume-site', remove: 'delete-site' },
    offers: async (_db, wanted) =>
      new Map(
        wanted.map(({ subscriptionId }) => [
          subscriptionId,
          { price: BigInt(price), terms, description: { en: 'WordPress', vi: 'WordPress' } },
        ]),
      ),
  })
  // All are due in one second, which is the worst case of a minute.
  await sql`
    insert into subscription (id, customer_id, region_code, product, price, terms, description,
    currency, subject, status, anchor_at, months, period_start, period_end, next_at, created_at)
    select gen_random_uuid(), c.id, 'VN', 'wordpress', ${price}, ${JSON.stringify(terms)}::jsonb,
    '{"en": "WordPress", "vi": "WordPress"}', 'VND',
      jsonb_build_object('wp', jsonb_build_object('id', gen_random_uuid(), 'name', 'a-site')),
      'active', ${ordered}, 1, ${ordered},
      ${new Date('2027-02-10T00:00:00Z')}, ${new Date('2027-02-10T00:00:00Z')}, ${ordered}
    from customer c
  `.execute(db)
  await sql`analyze`.execute(db)

  const our: number[] = []
  const their: number[] = []
  const memory: number[] = []
  for (let round = 0; round < rounds; round++) {
    their.push(theirs())
    now = new Date(Date.UTC(2027, 1 + round, 10))
    const began = performance.now()
    await bills.sweep()
    our.push((performance.now() - began) / 1000)
    memory.push(process.memoryUsage.rss() / 1024 / 1024)
    const { rows } = await sql<{ n: number; paid: number }>`
      select count(*)::int as n, count(*) filter (where status = 'paid')::int as paid from invoice
      where kind = 'renewal'
    `.execute(db)
    if (rows[0]?.n !== count * (round + 1) || rows[0].paid !== rows[0].n)
      throw new Error('not every subscription was renewed once')
  }
  const seconds = (figures: readonly number[]): string =>
    figures.map((one) => one.toFixed(1)).join(' ')
  console.log(
    `      ${count} postings by pgbench in ${seconds(their)} s; ${count} renewals in ` +
      `${seconds(our)} s`,
  )
  report(
    `${count} renewals due at once / pgbench doing their postings (medians)`,
    median(our) / median(their),
    2,
    'x',
  )
  report(
    'memory after the last round / after the first',
    (memory.at(-1) ?? 0) / (memory[0] ?? 1),
    1.2,
    'x',
  )
  const findings = await checkLedger(db)
  if (findings.length > 0) throw new Error('the ledger is not whole')
} finally {
  await scratch.close()
}

const party = {
  name: 'Công ty TNHH Dịch vụ Đám mây',
  taxCode: '0101234567',
  address: '1 Phố Huế, Hà Nội',
  email: 'an@example.vn',
}
const pdf = () =>
  invoicePdf(
    {
      id: 'x',
      number: 'VN-2027-000001',
      issuedAt: '2027-01-01T00:00:00.000Z',
      lapsesAt: null,
      corrects: null,
      kind: 'renewal',
      status: 'paid',
      currency: 'VND',
      total: price,
      amount_due: 0,
      amount_paid: price,
      tax: { name: 'VAT', rate: 800, amount: 16_148 },
      created: ordered.getTime() / 1000,
      invoice_pdf: '',
      hosted_invoice_url: '',
      lines: [
        {
          description: 'WordPress nắng-mai (BASIC-1 · 10 GB SSD · 1 container)',
          quantity: 1,
          unit_price: price,
          amount: price,
          tax: 16_148,
          period_start: ordered.toISOString(),
          period_end: later(ordered, 2_678_400_000).toISOString(),
          corrects_line: null,
        },
      ],
    },
    { seller: party, buyer: party, language: 'vi', timeZone: 'Asia/Ho_Chi_Minh' },
  )
await pdf()
const cpuMs: number[] = []
for (let round = 0; round < 30; round++) {
  const before = process.cpuUsage()
  await pdf()
  const { user, system } = process.cpuUsage(before)
  cpuMs.push((user + system) / 1000)
}
report("CPU of an invoice's PDF (median)", median(cpuMs), 60, 'ms')
