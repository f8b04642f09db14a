/**
 * The slowest pages (99th percentile) of a wallet with a million entries compared with a wallet
 * with a thousand, alternating in one run: the newest page, one from the middle, payments among
 * top-ups, a month, and searches that find much, one entry, and nothing.
 */
import { entryPage, type Filter } from '../server/wallet/index.ts'
import { bulkEntries } from './bulk.ts'
import { median, report } from './portal.ts'
import { scratchLedger } from './scratch-ledger.ts'

const sizes = { small: 1000, large: Number(process.env['BENCH_ENTRIES'] ?? 1_000_000) }
/**
 * The figure is the median of the blocks' 99th percentiles, so that a hiccup of the machine spoils
 * one block and not the figure.
 */
const blocks = 5
/**
 * Pages that an index finds are measured often, so that their slowest hundredth is more than a
 * handful. Pages that read a whole range of entries take longer, so fewer are measured.
 */
const rounds = { quick: 1500, reading: 200 }
const days = 86_400_000

const scratch = await scratchLedger({ connections: 4, wallets: 2, fund: 0n })
try {
  const { db, ledger } = scratch
  const [small = '', large = ''] = scratch.customers
  // Each wallet's entry has a counterpart in the gateway's account, so twice as many are made.
  await bulkEntries(scratch.adminUrl, [`wallet:${small}`], 2 * sizes.small)
  await bulkEntries(scratch.adminUrl, [`wallet:${large}`], 2 * sizes.large)
  for (const customerId of [small, large])
    for (const number of [1, 2, 3])
      await db.transaction().execute((tx) =>
        ledger.charge(tx, {
          key: `${customerId}:${number}`,
          customerId,
          product: 'wordpress',
          amount: 1n,
          currency: 'VND',
          details: { invoice: `VN-2026-00000${number}` },
        }),
      )

  const everything: Omit<Filter, 'customerId'> = {
    direction: undefined,
    search: '',
    period: { from: null, to: null },
    language: 'en',
  }
  const start = Date.now() - 400 * days
  const cases: [string, Partial<Filter>, before: boolean, kind: keyof typeof rounds][] = [
    ['the newest page', {}, false, 'quick'],
    ['a page from the middle', {}, true, 'quick'],
    ['what was spent', { direction: 'out' }, false, 'quick'],
    [
      'a stretch of time',
      { period: { from: new Date(start), to: new Date(start + 400) } },
      false,
      'quick',
    ],
    ['a search that finds much', { search: 'vnpay' }, false, 'reading'],
    ["an invoice's number", { search: 'VN-2026-000002' }, false, 'quick'],
    ['a search that finds nothing', { search: 'nothing of the kind' }, false, 'reading'],
  ]
  for (const [name, filter, middle, kind] of cases) {
    const times = { small: [] as number[], large: [] as number[] }
    const slowest = { small: [] as number[], large: [] as number[] }
    // The first block only warms up.
    for (let block = 0; block <= blocks; block++) {
      const own = { small: [] as number[], large: [] as number[] }
      for (let round = 0; round < rounds[kind]; round++)
        for (const size of round % 2 === 0
          ? (['small', 'large'] as const)
          : (['large', 'small'] as const)) {
          const before = middle ? BigInt(Math.floor(sizes[size] / 2)) : null
          const began = performance.now()
          await entryPage(db, {
            ...everything,
            ...filter,
            customerId: size === 'small' ? small : large,
            limit: 50,
            before,
          })
          own[size].push(performance.now() - began)
        }
      if (block === 0) continue
      for (const size of ['small', 'large'] as const) {
        times[size].push(...own[size])
        slowest[size].push(
          own[size].toSorted((a, b) => a - b)[Math.floor(rounds[kind] * 0.99)] ?? Number.NaN,
        )
      }
    }
    const [few, many] = [median(slowest.small), median(slowest.large)]
    const usual = `usual ${median(times.small).toFixed(2)} and ${median(times.large).toFixed(2)} ms`
    console.log(
      `      ${name}: p99 ${few.toFixed(2)} ms at ${sizes.small} entries, ${many.toFixed(2)} ` +
        `ms at ${sizes.large}; ${usual}`,
    )
    report(`p99 of ${name}, ${sizes.large} entries / ${sizes.small}`, many / few, 1.3, 'x')
  }
} finally {
  await scratch.close()
}
