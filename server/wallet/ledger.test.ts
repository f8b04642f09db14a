/**
 * Wallets in the ledger, one posting after another and many at once, and the statement that is read
 * of them.
 */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { walletsOf } from '../../test/wallets.ts'
import { systemClock } from '../platform/clock.ts'
import { connect, type Database, type Pool } from '../platform/db.ts'
import { checkLedger } from './check.ts'
import { createLedger } from './ledger.ts'
import { assertBalanced, type Outcome } from './posting.ts'
import { describe as describeEntry, entryPage } from './entries.ts'

const ledger = createLedger(systemClock)
let database: TestDatabase
let pool: Pool
let db: Database
const { customer, post, topUp } = walletsOf(ledger, () => db)
const charge = (customerId: string, amount: bigint, key: string = randomUUID()): Promise<Outcome> =>
  post((tx) =>
    ledger.charge(tx, {
      key,
      customerId,
      product: 'wordpress',
      amount,
      currency: 'VND',
      details: { invoice: key },
    }),
  )
const refund = (customerId: string, amount: bigint, key: string = randomUUID()): Promise<Outcome> =>
  post((tx) =>
    ledger.refund(tx, {
      key,
      customerId,
      product: 'wordpress',
      amount,
      currency: 'VND',
      details: { invoice: key },
    }),
  )
const balance = async (customerId: string): Promise<bigint> =>
  (await ledger.balanceOf(db, customerId)).balance

/** Every entry, from the newest. */
const all = {
  before: null,
  direction: undefined,
  search: '',
  period: { from: null, to: null },
  language: 'en',
} as const

/** The wallet's entries, oldest first: amount → balance after. */
async function entries(customerId: string): Promise<string[]> {
  const { items } = await entryPage(db, { ...all, customerId, limit: 1000 })
  return items.toReversed().map(({ amount, ending_balance }) => `${amount} → ${ending_balance}`)
}

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 20, () => undefined)
  ;({ db } = pool)
  await ledger.prepare(db, { drivers: ['vnpay'], products: ['wordpress'] })
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

describe('a wallet', () => {
  test('holds what was paid in, less what was spent', async () => {
    const an = await customer()
    await topUp(an, 300_000n)
    await charge(an, 218_000n)
    await refund(an, 218_000n)
    await charge(an, 300_000n)
    expect(await entries(an)).toEqual([
      '300000 → 300000',
      '-218000 → 82000',
      '218000 → 300000',
      '-300000 → 0',
    ])
    expect(await checkLedger(db)).toEqual([])
  })

  test('is never overdrawn: a charge above it is short and writes nothing', async () => {
    const an = await customer()
    await topUp(an, 100n)
    const before = await db
      .selectFrom('ledger_transfer')
      .select((eb) => eb.fn.countAll().as('n'))
      .executeTakeFirstOrThrow()
    expect(await charge(an, 101n)).toEqual({ outcome: 'short', lent: 0n })
    expect(
      await db
        .selectFrom('ledger_transfer')
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow(),
    ).toEqual(before)
    expect(await charge(an, 100n)).toMatchObject({ outcome: 'posted' })
    expect(await entries(an)).toEqual(['100 → 100', '-100 → 0'])
  })

  test('a short charge may be tried again under its key once there is money', async () => {
    const an = await customer()
    const key = randomUUID()
    expect(await charge(an, 50n, key)).toEqual({ outcome: 'short', lent: 0n })
    await topUp(an, 50n)
    expect(await charge(an, 50n, key)).toMatchObject({ outcome: 'posted' })
    expect(await entries(an)).toEqual(['50 → 50', '-50 → 0'])
  })

  test('the same key posts once, and throws with other content', async () => {
    const an = await customer()
    const key = randomUUID()
    const first = await topUp(an, 500n, key)
    expect(first.outcome).toBe('posted')
    expect(await topUp(an, 500n, key)).toEqual({ ...first, outcome: 'replayed' })
    await expect(topUp(an, 501n, key)).rejects.toThrow(/was used for another posting/)
    await expect(charge(an, 500n, key)).rejects.toThrow(/was used for another posting/)
    await expect(topUp(await customer(), 500n, key)).rejects.toThrow(/was used for another posting/)
    expect(await entries(an)).toEqual(['500 → 500'])
  })

  test('fifty at once under one key post once', async () => {
    const an = await customer()
    const key = randomUUID()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => topUp(an, 700n, key)))
    expect(outcomes.filter(({ outcome }) => outcome === 'posted')).toHaveLength(1)
    expect(outcomes.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(49)
    expect(await entries(an)).toEqual(['700 → 700'])
  })

  test('fifty charges at once against a balance for one: one holds', async () => {
    const an = await customer()
    await topUp(an, 218n)
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => charge(an, 218n)))
    expect(outcomes.filter(({ outcome }) => outcome === 'posted')).toHaveLength(1)
    expect(outcomes.filter(({ outcome }) => outcome === 'short')).toHaveLength(49)
    expect(await entries(an)).toEqual(['218 → 218', '-218 → 0'])
  })

  test('postings in opposite directions at once do not wait for each other in a ring', async () => {
    const people = await Promise.all([customer(), customer()])
    await Promise.all(people.map((id) => topUp(id, 1_000_000n)))
    const between = (from: string, to: string, n: number) =>
      post((tx) =>
        sql`select * from ledger_post(${`ring:${from}:${n}`}, 'charge', '{}', now(),
          ${[`wallet:${from}`, `wallet:${to}`]}::text[], ${['-1', '1']}::bigint[])`.execute(tx),
      )
    const [a, b] = people as [string, string]
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => (n % 2 ? between(a, b, n) : between(b, a, n))),
    )
    expect([await balance(a), await balance(b)]).toEqual([1_000_000n, 1_000_000n])
    expect(await checkLedger(db)).toEqual([])
  })

  test('chargebacks, lost and won, beside top-ups at once: none is given up', async () => {
    const an = await customer()
    await topUp(an, 12_000n)
    const movement = (key: string) =>
      ({
        key,
        customerId: an,
        driver: 'vnpay',
        amount: 1_000n,
        currency: 'VND',
        details: {},
      }) as const
    const keys = Array.from({ length: 12 }, () => randomUUID())
    const atOnce = (one: (key: string) => Promise<Outcome>) =>
      Promise.all(keys.flatMap((key) => [one(key), topUp(an, 10n)]))
    await atOnce((key) => post((tx) => ledger.chargeback(tx, { ...movement(key), atMost: 1_000n })))
    await atOnce((key) =>
      post((tx) =>
        ledger.reverseChargeback(tx, {
          ...movement(`${key}:won`),
          undoes: key,
          isClosed: false,
        }),
      ),
    )
    expect(await balance(an)).toBe(12_240n)
    expect(await checkLedger(db)).toEqual([])
  })

  test(
    'what a chargeback leaves owed the next top-ups settle, the oldest first, in any sequence',
    { timeout: 120_000 },
    async () => {
      const act = fc.record({
        kind: fc.constantFrom('topup', 'charge', 'takeBack', 'giveAgain'),
        amount: fc.bigInt(1n, 1000n),
        pick: fc.nat(20),
      })
      let now = Date.now()
      const own = createLedger({ now: () => new Date((now += 1000)) })
      const receivable = async (): Promise<bigint> =>
        (
          await db
            .selectFrom('ledger_account')
            .select('balance')
            .where('code', '=', 'receivable:vnpay:VND')
            .executeTakeFirstOrThrow()
        ).balance
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
          const an = await customer()
          const owedBefore = await receivable()
          let held = 0n
          const debts: { key: string; taken: bigint; owed: bigint; won: boolean }[] = []
          for (const { kind, amount, pick } of acts) {
            const of = {
              key: randomUUID(),
              customerId: an,
              driver: 'vnpay',
              amount,
              currency: 'VND',
              details: {},
            } as const
            if (kind === 'topup') {
              let left = amount
              for (const debt of debts) {
                const part = debt.owed < left ? debt.owed : left
                debt.owed -= part
                left -= part
              }
              held += left
              expect(await post((tx) => own.credit(tx, of))).toMatchObject({
                setOff: amount - left,
              })
            } else if (kind === 'charge') {
              const { outcome } = await post((tx) =>
                own.charge(tx, { ...of, product: 'wordpress' }),
              )
              expect(outcome).toBe(amount <= held ? 'posted' : 'short')
              if (amount <= held) held -= amount
            } else if (kind === 'takeBack') {
              const part = amount < held ? amount : held
              held -= part
              debts.push({ key: of.key, taken: amount, owed: amount - part, won: false })
              expect(
                await post((tx) => own.chargeback(tx, { ...of, atMost: amount })),
              ).toMatchObject({
                owed: amount - part,
              })
            } else {
              const debt = debts[pick % Math.max(1, debts.length)]
              if (!debt || debt.won) continue
              debt.won = true
              held += debt.taken - debt.owed
              debt.owed = 0n
              await post((tx) =>
                own.reverseChargeback(tx, {
                  ...of,
                  amount: debt.taken,
                  undoes: debt.key,
                  isClosed: false,
                }),
              )
            }
            expect(await balance(an)).toBe(held)
            const owed = debts.reduce((sum, debt) => sum + debt.owed, 0n)
            expect(owedBefore - (await receivable())).toBe(owed)
          }
        }),
        { numRuns: 30 },
      )
      expect(await checkLedger(db)).toEqual([])
    },
  )

  test(
    'whatever happens, alone or at once: sums are zero, none is negative, the chain is whole',
    { timeout: 120_000 },
    async () => {
      const act = fc.record({
        kind: fc.constantFrom('topup', 'charge', 'refund'),
        amount: fc.bigInt(1n, 1_000n),
        key: fc.nat(14),
        wallet: fc.nat(1),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 25 }), fc.boolean(), async (acts, atOnce) => {
          const wallets = [await customer(), await customer()] as const
          const round = randomUUID()
          const acting = { topup: topUp, charge, refund }
          const posted: { wallet: number; amount: bigint }[] = []
          const one = async ({
            kind,
            amount,
            key,
            wallet,
          }: (typeof acts)[number]): Promise<void> => {
            const { outcome } = await acting[kind as keyof typeof acting](
              wallets[wallet] ?? '',
              amount,
              `${round}:${key}`,
            ).catch((error: Error) => {
              if (!/was used for another posting|duplicate key/.test(error.message)) throw error
              return { outcome: 'refused' }
            })
            if (outcome === 'posted')
              posted.push({ wallet, amount: kind === 'charge' ? -amount : amount })
          }
          if (atOnce) await Promise.all(acts.map(one))
          else for (const each of acts) await one(each)
          for (const [index, id] of wallets.entries()) {
            const sum = posted
              .filter(({ wallet }) => wallet === index)
              .reduce((total, { amount }) => total + amount, 0n)
            expect(await balance(id)).toBe(sum)
            expect(sum).toBeGreaterThanOrEqual(0n)
          }
          expect(await checkLedger(db)).toEqual([])
        }),
        { numRuns: 100 },
      )
    },
  )

  test.each([
    ['one line', [{ account: 'a', amount: 1n }]],
    [
      'a line of zero',
      [
        { account: 'a', amount: 0n },
        { account: 'b', amount: 0n },
      ],
    ],
    [
      'an account twice',
      [
        { account: 'a', amount: 1n },
        { account: 'a', amount: -1n },
      ],
    ],
    [
      'a sum that is not zero',
      [
        { account: 'a', amount: 2n },
        { account: 'b', amount: -1n },
      ],
    ],
  ])('a posting with %s is a bug and throws', (_, lines) => {
    expect(() => assertBalanced(lines)).toThrow(/posting/)
  })

  test("a posting in another currency than the wallet's is refused", async () => {
    const an = await customer('AUD')
    await expect(topUp(an, 100n)).rejects.toThrow(/does not balance/)
    expect(await balance(an)).toBe(0n)
  })
})

describe('the statement', () => {
  test('of 10 000 entries is read page by page, each entry once, newest first', async () => {
    const an = await customer()
    // A few at a time: within one transaction each posting leaves a dead version of the account for
    // the next to step over.
    for (let from = 1; from <= 10_000; from += 100) {
      await sql`
        select count(*) from generate_series(${from}::int, ${from + 99}::int) n,
          lateral ledger_post('page:' || n, 'topup', '{"provider": "VNPay"}', now(),
          array[${`wallet:${an}`}, 'gateway:vnpay:VND'], array[n, -n]::bigint[])
      `.execute(db)
    }
    const seen: number[] = []
    let before: bigint | null = null
    const took: number[] = []
    do {
      const began = performance.now()
      const page: Awaited<ReturnType<typeof entryPage>> = await entryPage(db, {
        ...all,
        customerId: an,
        limit: 100,
        before,
      })
      took.push(performance.now() - began)
      seen.push(...page.items.map(({ amount }) => amount))
      before = page.next
    } while (before !== null)
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, index) => 10_000 - index))
    // The median of all pages, because a single one may hit a stall of the machine. The limit is
    // far above a page's usual time (some 2 ms).
    expect(took.toSorted((a, b) => a - b)[took.length >> 1]).toBeLessThan(250)
  })

  test('can be asked for what came in or what went out', async () => {
    const an = await customer()
    await topUp(an, 10n)
    await charge(an, 4n)
    await topUp(an, 1n)
    const of = async (direction: 'in' | 'out') =>
      (await entryPage(db, { ...all, customerId: an, limit: 10, direction })).items.map(
        ({ amount }) => amount,
      )
    expect(await of('in')).toEqual([1, 10])
    expect(await of('out')).toEqual([-4])
  })

  test.each([
    ['topup', { provider: 'VNPay', code: 'X' }, 'Top-up via VNPay', 'Nạp ví qua VNPay'],
    [
      'charge',
      { invoice: 'VN-2026-000001', subject: 'calm-bay-0001' },
      'Payment · calm-bay-0001 (VN-2026-000001)',
      'Thanh toán · calm-bay-0001 (VN-2026-000001)',
    ],
    ['charge', {}, 'Payment', 'Thanh toán'],
    [
      'refund',
      { invoice: 'VN-2026-000001', subject: 'calm-bay-0001', reason: 'no' },
      'Refund · calm-bay-0001 (VN-2026-000001)',
      'Hoàn tiền · calm-bay-0001 (VN-2026-000001)',
    ],
    ['suspense', { reason: 'wrong_amount' }, 'Held for reconciliation', 'Khoản chờ đối soát'],
  ] as const)('says of a %s with %j what it is, in both languages', (kind, details, en, vi) => {
    expect(describeEntry(kind, details, 'en')).toBe(en)
    expect(describeEntry(kind, details, 'vi')).toBe(vi)
  })
})
