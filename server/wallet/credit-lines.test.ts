/** Credit lines in the ledger: loans, refusals, and repayment. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { walletsOf } from '../../test/wallets.ts'
import { days } from '../platform/clock.ts'
import { connect, type Database, type Pool } from '../platform/db.ts'
import { checkLedger } from './check.ts'
import { creditDebtPage, creditDebtQuery } from './credit-debts.ts'
import { createLedger } from './ledger.ts'
import type { Charged } from './posting.ts'

let now = Date.parse('2027-03-01T00:00:00Z')
const ledger = createLedger({ now: () => new Date(now) })
let database: TestDatabase
let pool: Pool
let db: Database
const { customer, post, topUp } = walletsOf(ledger, () => db)
const line = (customerId: string, limit: bigint, termDays = 30): Promise<void> =>
  post((tx) => ledger.setCreditLine(tx, { customerId, currency: 'VND', limit, termDays }))
const charge = (
  customerId: string,
  amount: bigint,
  { key = randomUUID(), lends = true }: { key?: string; lends?: boolean } = {},
): Promise<Charged> =>
  post((tx) =>
    ledger.charge(tx, {
      key,
      customerId,
      product: 'wordpress',
      amount,
      currency: 'VND',
      details: { invoice: key },
      ...(lends && { lendUntil: (term: number) => new Date(now + days(term)) }),
    }),
  )
const balance = async (id: string): Promise<bigint> => (await ledger.balanceOf(db, id)).balance
const owed = async (id: string): Promise<bigint> => (await ledger.creditLineOf(db, id))?.owed ?? 0n

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

test('what a wallet lacks is lent up to the limit, all of it or nothing', async () => {
  const an = await customer()
  await topUp(an, 50n)
  await line(an, 100n)
  expect(await charge(an, 60n, { lends: false })).toEqual({ outcome: 'short', lent: 0n })
  expect(await charge(an, 151n)).toEqual({ outcome: 'short', lent: 0n })
  expect(await charge(an, 120n)).toMatchObject({ outcome: 'posted', lent: 70n })
  expect(await charge(an, 31n)).toEqual({ outcome: 'short', lent: 0n })
  expect(await charge(an, 30n)).toMatchObject({ outcome: 'posted', lent: 30n })
  expect(await ledger.creditLineOf(db, an)).toMatchObject({ owed: 100n, available: 0n })
  expect(await balance(an)).toBe(0n)
  // A lower limit takes nothing back, and after the line has ended the debt remains.
  await line(an, 20n)
  expect(await ledger.creditLineOf(db, an)).toMatchObject({ owed: 100n, available: 0n })
  await line(an, 0n)
  expect(await ledger.creditLineOf(db, an)).toMatchObject({ owed: 100n, limit: 0n })
  await topUp(an, 130n)
  expect(await ledger.creditLineOf(db, an)).toBeUndefined()
  expect(await balance(an)).toBe(30n)
  expect(await checkLedger(db)).toEqual([])
})

test('charges at once never lend beyond the limit, and one key lends once', async () => {
  const an = await customer()
  await line(an, 1000n)
  const key = randomUUID()
  const outcomes = await Promise.all([
    ...Array.from({ length: 20 }, () => charge(an, 130n)),
    ...Array.from({ length: 10 }, () => charge(an, 90n, { key })),
    ...Array.from({ length: 5 }, () => topUp(an, 10n)),
  ])
  const posted = outcomes.flatMap((one) =>
    'lent' in one && one.outcome === 'posted' ? [one.lent] : [],
  )
  expect(posted.reduce((sum, lent) => sum + lent, 0n)).toBeLessThanOrEqual(1050n)
  expect(await owed(an)).toBeLessThanOrEqual(1000n)
  expect(await owed(an)).toBeGreaterThan(800n)
  const [one] = await db
    .selectFrom('wallet_debt')
    .select((row) => row.fn.countAll<bigint>().as('n'))
    .where('key', '=', `${key}:lent`)
    .execute()
  expect(one?.n).toBeLessThanOrEqual(1n)
  expect(await checkLedger(db)).toEqual([])
})

test('many renewals in one transaction share a line with those that come one by one', async () => {
  const people = await Promise.all(Array.from({ length: 6 }, () => customer()))
  await Promise.all(people.map((id) => line(id, 1000n)))
  // Existing debts, so that incoming money settles something: that locks the account of loans as
  // well.
  await Promise.all(people.map((id) => charge(id, 500n)))
  const sale = (customerId: string, amount: bigint) => ({
    key: randomUUID(),
    customerId,
    product: 'wordpress',
    amount,
    currency: 'VND' as const,
    details: {},
    lendUntil: (term: number) => new Date(now + days(term)),
  })
  const batch = () =>
    post((tx) =>
      ledger.chargeAll(
        tx,
        people.toSorted(() => Math.random() - 0.5).map((id) => sale(id, 40n)),
      ),
    )
  for (let round = 0; round < 5; round++)
    await Promise.all([
      batch(),
      batch(),
      ...people.map((id) => topUp(id, 5n)),
      batch(),
      ...people.map((id) => charge(id, 7n)),
    ])
  // Without the limit each would owe 500 + 5 x (3 x 40 + 7 - 5).
  for (const id of people) expect(await owed(id)).toBeLessThanOrEqual(1000n)
  expect(await owed(people[0] ?? '')).toBeGreaterThan(900n)
  expect(await checkLedger(db)).toEqual([])
})

test('nothing is lent while something is overdue or taken back, or to the blocked', async () => {
  const [an, binh, chi] = await Promise.all([customer(), customer(), customer()])
  await Promise.all([an, binh, chi].map((id) => line(id, 100n, 10)))
  await charge(an, 10n)
  now += days(10)
  expect(await charge(an, 10n)).toMatchObject({ lent: 10n })
  now += 1000
  expect(await charge(an, 10n)).toEqual({ outcome: 'short', lent: 0n })
  expect(await ledger.creditLineOf(db, an)).toMatchObject({ stopped: 'overdue', available: 0n })
  // The oldest is paid back, and the line lends again.
  await topUp(an, 10n)
  expect(await charge(an, 10n)).toMatchObject({ outcome: 'posted', lent: 10n })

  await post((tx) =>
    ledger.chargeback(tx, {
      key: randomUUID(),
      customerId: binh,
      driver: 'vnpay',
      amount: 5n,
      atMost: 5n,
      currency: 'VND',
      details: {},
    }),
  )
  expect(await charge(binh, 10n)).toEqual({ outcome: 'short', lent: 0n })
  expect(await ledger.creditLineOf(db, binh)).toMatchObject({ stopped: 'chargeback' })

  await db.updateTable('customer').set({ blocked_at: new Date() }).where('id', '=', chi).execute()
  expect(await charge(chi, 10n)).toEqual({ outcome: 'short', lent: 0n })
  expect(await ledger.creditLineOf(db, chi)).toMatchObject({ stopped: 'blocked' })
})

test('what comes back into a wallet settles what was lent meanwhile', async () => {
  const [an, binh] = await Promise.all([customer(), customer()])
  await Promise.all([an, binh].map((id) => line(id, 100n)))
  const of = (customerId: string, key = randomUUID()) =>
    ({ key, customerId, driver: 'vnpay', amount: 50n, currency: 'VND', details: {} }) as const
  // A refund to the source that its gateway refuses.
  await topUp(an, 50n)
  const withdrawal = of(an)
  await post((tx) => ledger.withhold(tx, withdrawal))
  await charge(an, 30n)
  const released = {
    ...withdrawal,
    key: `${withdrawal.key}:released`,
    withheldAt: new Date(now),
  }
  await post((tx) => ledger.release(tx, released))
  expect([await balance(an), await owed(an)]).toEqual([20n, 0n])
  // A chargeback that the wallet covered, decided for us.
  await topUp(binh, 50n)
  const taken = of(binh)
  await post((tx) => ledger.chargeback(tx, { ...taken, atMost: 50n }))
  await charge(binh, 30n)
  expect(await owed(binh)).toBe(30n)
  const won = { ...taken, key: `${taken.key}:won`, undoes: taken.key, isClosed: false }
  await post((tx) => ledger.reverseChargeback(tx, won))
  expect([await balance(binh), await owed(binh)]).toEqual([20n, 0n])
  expect(await checkLedger(db)).toEqual([])
})

test(
  'whatever comes and goes: no wallet holds anything while something lent is owed',
  { timeout: 120_000 },
  async () => {
    const act = fc.record({
      kind: fc.constantFrom(
        'topup',
        'charge',
        'charge',
        'buy',
        'refund',
        'withhold',
        'release',
        'takeBack',
        'giveAgain',
        'line',
        'wait',
      ),
      amount: fc.bigInt(1n, 1000n),
      pick: fc.nat(20),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const an = await customer()
        let held = 0n
        let limit = 0n
        let term = 1
        const debts: {
          key: string
          owed: bigint
          at: number
          due: number | null
          taken: bigint
          won: boolean
        }[] = []
        const withheld: { amount: bigint; at: number }[] = []
        /** Incoming money pays debts, the oldest first. */
        const comes = (amount: bigint, chargebacksSince: number): void => {
          let left = amount
          for (const debt of debts) {
            if (debt.due === null && debt.at < chargebacksSince) continue
            const part = debt.owed < left ? debt.owed : left
            debt.owed -= part
            left -= part
          }
          held += left
        }
        for (const { kind, amount, pick } of acts) {
          now += 1000
          const of = {
            key: randomUUID(),
            customerId: an,
            driver: 'vnpay',
            amount,
            currency: 'VND',
            details: {},
          } as const
          const lent = debts.filter(({ due }) => due !== null)
          if (kind === 'topup') {
            comes(amount, 0)
            await topUp(an, amount)
          } else if (kind === 'charge' || kind === 'buy') {
            const lacks = amount > held ? amount - held : 0n
            const sum = lent.reduce((all, debt) => all + debt.owed, 0n)
            const stopped = debts.some(
              (debt) => debt.owed > 0n && (debt.due === null || debt.due < now),
            )
            const lends = kind === 'charge' && !stopped && sum + lacks <= limit
            const pays = lacks === 0n || lends
            const outcome = await charge(an, amount, { key: of.key, lends: kind === 'charge' })
            expect(outcome).toMatchObject({
              outcome: pays ? 'posted' : 'short',
              lent: pays ? lacks : 0n,
            })
            // Repeated, it changes nothing.
            if (pays)
              expect(await charge(an, amount, { key: of.key })).toMatchObject({
                outcome: 'replayed',
                lent: 0n,
              })
            if (!pays) continue
            held -= amount - lacks
            if (lacks > 0n)
              debts.push({
                key: `${of.key}:lent`,
                owed: lacks,
                at: now,
                due: now + days(term),
                taken: 0n,
                won: true,
              })
          } else if (kind === 'refund') {
            const since = now - pick * 1000
            comes(amount, since)
            await post((tx) =>
              ledger.refund(tx, { ...of, product: 'wordpress', paidAt: new Date(since) }),
            )
          } else if (kind === 'withhold') {
            if (amount > held) continue
            held -= amount
            withheld.push({ amount, at: now })
            await post((tx) => ledger.withhold(tx, of))
          } else if (kind === 'release') {
            const back = withheld.pop()
            if (!back) continue
            comes(back.amount, back.at)
            const withheldAt = new Date(back.at)
            await post((tx) => ledger.release(tx, { ...of, amount: back.amount, withheldAt }))
          } else if (kind === 'takeBack') {
            const part = amount < held ? amount : held
            held -= part
            debts.push({
              key: of.key,
              owed: amount - part,
              at: now,
              due: null,
              taken: amount,
              won: false,
            })
            await post((tx) => ledger.chargeback(tx, { ...of, atMost: amount }))
          } else if (kind === 'giveAgain') {
            const debt = debts[pick % Math.max(1, debts.length)]
            if (!debt || debt.won) continue
            debt.won = true
            const back = debt.taken - debt.owed
            debt.owed = 0n
            comes(back, Number.POSITIVE_INFINITY)
            await post((tx) =>
              ledger.reverseChargeback(tx, {
                ...of,
                amount: debt.taken,
                undoes: debt.key,
                isClosed: false,
              }),
            )
          } else if (kind === 'line') {
            limit = pick === 0 ? 0n : amount * 2n
            term = (pick % 5) + 1
            await line(an, limit, term)
          } else now += days(pick % 4)
          const sum = debts.reduce(
            (all, { due, owed: part }) => (due === null ? all : all + part),
            0n,
          )
          expect(await balance(an)).toBe(held)
          expect(await owed(an)).toBe(sum)
          expect(held === 0n || sum === 0n).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
    expect(await checkLedger(db)).toEqual([])
  },
)

test('a debt that the account does not show is found', async () => {
  const an = await customer()
  await line(an, 100n)
  await charge(an, 40n)
  await db.updateTable('wallet_debt').set({ settled: 1n }).where('customer_id', '=', an).execute()
  const found = [
    {
      invariant: 'what is owed on credit lines is what their account says',
      where: 'receivable:credit-line:VND',
    },
  ]
  expect(await checkLedger(db, 'new')).toEqual(found)
  await db.updateTable('wallet_debt').set({ settled: 0n }).where('customer_id', '=', an).execute()
  expect(await checkLedger(db)).toEqual([])
})

test('no page of the list reads more debts than it shows', async () => {
  const an = await customer()
  // Transfers without entries; the ledger is not checked after this.
  await sql`
    with made as (
      insert into ledger_transfer (key, kind, details, fingerprint, created_at)
      select 'invoice:' || gen_random_uuid() || ':lent', 'lent', '{}', '', now()
      from generate_series(1, 20000)
      returning key
    ), counted as (select key, row_number() over () as n from made)
    insert into wallet_debt
      (key, customer_id, account, currency, amount, settled, created_at, kind, due_at)
    select key, ${an}::uuid, 'receivable:credit-line:VND', 'VND', 10,
      case when n % 2 = 0 then 10 else 0 end, now(), 'lent',
      ${new Date(now)}::timestamptz - n * interval '5 minutes'
    from counted
  `.execute(db)
  await sql`analyze wallet_debt`.execute(db)
  await sql`analyze ledger_transfer`.execute(db)
  const first = { age: undefined, now: new Date(now), limit: 50, after: null } as const
  const page = await creditDebtPage(db, { ...first, limit: 5000 })
  expect(page.rows).toHaveLength(5000)
  for (const wanted of [
    first,
    { ...first, after: page.next },
    { ...first, age: 'month' as const },
    { ...first, age: 'week' as const, after: page.next },
  ]) {
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain (analyze, costs off, timing off, summary off) ${creditDebtQuery(db, wanted)}
    `.execute(db)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('wallet_debt_lent')
    expect(plan).not.toMatch(/Seq Scan|Sort/)
    const read = [...plan.matchAll(/rows=(\d+)/g)].map(([, number]) => Number(number))
    expect(Math.max(...read)).toBeLessThanOrEqual(51)
    expect(plan).not.toContain('Rows Removed')
  }
  await db.deleteFrom('wallet_debt').where('customer_id', '=', an).execute()
})
