/**
 * Postings through the ledger, compared with pgbench running the same statements on the same
 * server, alternating in one run: charges of many wallets with 16 clients, and top-ups that all use
 * one gateway's account with 32. Then charges in a ledger with many entries compared with one with
 * few (BENCH_ENTRIES, a million by default).
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { transaction } from '../server/platform/db.ts'
import { checkLedger } from '../server/wallet/index.ts'
import { bulkEntries } from './bulk.ts'
import { median, report } from './portal.ts'
import { scratchLedger, type ScratchLedger } from './scratch-ledger.ts'

const wallets = 64
const seconds = 5
const rounds = 3
const few = 10_000
const many = Number(process.env['BENCH_ENTRIES'] ?? 1_000_000)

type Act = 'charge' | 'topup'
let posted = 0

/** Postings per second. */
async function ours(
  { db, ledger, customers }: ScratchLedger,
  act: Act,
  clients: number,
): Promise<number> {
  const until = performance.now() + seconds * 1000
  let count = 0
  const began = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < until) {
        const number = ++posted
        const of = {
          key: `bench:${number}`,
          customerId: customers[number % wallets] ?? '',
          amount: 1n,
          currency: 'VND' as const,
        }
        await transaction(db, (tx): Promise<unknown> =>
          act === 'charge'
            ? ledger.charge(tx, {
                ...of,
                product: 'wordpress',
                details: { invoice: 'VN-2026-000001' },
              })
            : ledger.credit(tx, { ...of, driver: 'vnpay', details: { invoice: 'VN-2026-000001' } }),
        )
        count += 1
      }
    }),
  )
  return (count / (performance.now() - began)) * 1000
}

/**
 * The same by pgbench. There a colon begins a variable, even inside a string, so chr(58) replaces
 * it.
 */
function theirs(scratch: ScratchLedger, act: Act, clients: number): number {
  const script = path.join(scratch.folder, `${act}.pgbench`)
  const other =
    act === 'charge'
      ? "concat('revenue', chr(58), 'wordpress', chr(58), 'VND')"
      : "concat('gateway', chr(58), 'vnpay', chr(58), 'VND')"
  writeFileSync(
    script,
    `\\set w random(0, ${wallets - 1})
\\set a random(1, 1000000000)
\\set b random(1, 1000000000)
begin;
select outcome, transfer_id from ledger_post('pgbench-' || :a || '-' || :b, '${act}',
  concat('{"invoice"', chr(58), ' "VN-2026-000001"}')::jsonb, now()::timestamptz,
  array[concat('wallet', chr(58), '00000000-0000-4000-8000-', lpad((:w)::text, 12, '0')), ${other}],
  array[${act === 'charge' ? '-1, 1' : '1, -1'}]::bigint[], null);
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
      '-T',
      String(seconds),
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
  return Number(tps)
}

const whole = (figures: readonly number[]): string => figures.map(Math.round).join(' ')
const options = { connections: 32, wallets, fund: 1_000_000_000_000n }

const scratch = await scratchLedger(options)
try {
  for (const [act, clients] of [
    ['charge', 16],
    ['topup', 32],
  ] as const) {
    const our: number[] = []
    const their: number[] = []
    await ours(scratch, act, clients)
    for (let round = 0; round < rounds; round++) {
      their.push(theirs(scratch, act, clients))
      our.push(await ours(scratch, act, clients))
    }
    console.log(`      ${act}: pgbench ${whole(their)} /s; ours ${whole(our)} /s`)
    const name =
      act === 'charge' ? 'wallet.charge / pgbench' : 'top-ups through one gateway account / pgbench'
    report(`${name}, ${clients} clients (medians)`, median(our) / median(their), 0.6, 'x', true)
  }
  const began = performance.now()
  const findings = await checkLedger(scratch.db)
  console.log(
    `      a full check after it: ${findings.length} findings in ` +
      `${((performance.now() - began) / 1000).toFixed(1)} s`,
  )
} finally {
  await scratch.close()
}

const [small, large] = [await scratchLedger(options), await scratchLedger(options)]
try {
  const codes = small.customers.map((id) => `wallet:${id}`)
  const began = performance.now()
  await bulkEntries(small.adminUrl, codes, few)
  await bulkEntries(large.adminUrl, codes, many)
  console.log(
    `      ${many} entries were there after ${((performance.now() - began) / 1000).toFixed(0)} s`,
  )
  const before: number[] = []
  const after: number[] = []
  await ours(small, 'charge', 16)
  await ours(large, 'charge', 16)
  for (let round = 0; round < rounds; round++) {
    before.push(await ours(small, 'charge', 16))
    after.push(await ours(large, 'charge', 16))
  }
  console.log(`      after ${few} entries ${whole(before)} /s; after ${many} ${whole(after)} /s`)
  report(
    `time of a charge after ${many} entries / after ${few} (medians)`,
    median(before) / median(after),
    1.3,
    'x',
  )
} finally {
  await small.close()
  await large.close()
}
