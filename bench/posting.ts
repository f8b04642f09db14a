/** Postings through wallet.charge with 16 clients, against pgbench doing the same statements on the same server, alternating in one run. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { connect, migrate, transaction } from '../server/platform/db.ts'
import { systemClock } from '../server/platform/clock.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/index.ts'
import { checkLedger, createLedger } from '../server/wallet/index.ts'
import { median, report } from './portal.ts'

const clients = 16
const wallets = 64
const seconds = 5
const rounds = 3

const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-posting-'))
chmodSync(folder, 0o755)
const cluster = await startEmbeddedPostgres({ folder })
try {
  const { db, close } = connect(cluster.url, clients, () => undefined)
  await migrate(db)
  const ledger = createLedger(systemClock)
  await ledger.prepare(db, { drivers: ['vnpay'], products: ['wordpress'] })
  const customers = Array.from({ length: wallets }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
  await transaction(db, async (tx) => {
    for (const [index, id] of customers.entries()) {
      await tx
        .insertInto('customer')
        .values({
          id,
          email: `c${index}@example.vn`,
          phone: `+84${index}`,
          name: 'c',
          password_hash: 'x',
          region_code: 'VN',
          created_at: new Date(),
        })
        .execute()
      await ledger.openWallet(tx, id, 'VND')
      await ledger.credit(tx, {
        key: `fill:${id}`,
        customerId: id,
        driver: 'vnpay',
        amount: 1_000_000_000_000n,
        currency: 'VND',
        details: {},
      })
    }
  })

  let posted = 0
  async function ours(): Promise<number> {
    const until = performance.now() + seconds * 1000
    let count = 0
    const began = performance.now()
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (performance.now() < until) {
          const number = ++posted
          const customerId = customers[number % wallets] ?? ''
          await transaction(db, (tx) =>
            ledger.charge(tx, {
              key: `bench:${number}`,
              customerId,
              product: 'wordpress',
              amount: 1n,
              currency: 'VND',
              details: { invoice: 'VN-2026-000001' },
            }),
          )
          count += 1
        }
      }),
    )
    return (count / (performance.now() - began)) * 1000
  }

  // A colon begins a variable in pgbench, even inside a string: chr(58) stands for it.
  const script = path.join(folder, 'charge.pgbench')
  writeFileSync(
    script,
    `\\set w random(0, ${wallets - 1})
\\set a random(1, 1000000000)
\\set b random(1, 1000000000)
begin;
select outcome, transfer_id from ledger_post('pgbench-' || :a || '-' || :b, 'charge', concat('{"invoice"', chr(58), ' "VN-2026-000001"}')::jsonb, now()::timestamptz, array[concat('wallet', chr(58), '00000000-0000-4000-8000-', lpad((:w)::text, 12, '0')), concat('revenue', chr(58), 'wordpress', chr(58), 'VND')], array[-1, 1]::bigint[], null);
commit;
`,
  )
  const url = new URL(cluster.url)
  function theirs(): number {
    const run = spawnSync(
      'pgbench',
      ['-n', '-c', String(clients), '-j', '2', '-T', String(seconds), '-M', 'extended', '-f', script, url.pathname.slice(1)],
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
    if (tps === undefined) throw new Error(`pgbench is needed (Debian: postgresql-contrib): ${run.error?.message ?? run.stderr}`)
    return Number(tps)
  }

  const our: number[] = []
  const their: number[] = []
  await ours()
  for (let round = 0; round < rounds; round++) {
    their.push(theirs())
    our.push(await ours())
  }
  const findings = await checkLedger(db)
  console.log(
    `      pgbench ${their.map(Math.round).join(' ')} /s; wallet.charge ${our.map(Math.round).join(' ')} /s; ledger findings after it: ${findings.length}`,
  )
  report(`wallet.charge / pgbench, ${clients} clients (medians)`, median(our) / median(their), 0.6, 'x', true)
  await close()
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
