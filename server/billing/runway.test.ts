/**
 * The sweep that warns of low wallets: which wallets are due, sharing between workers, and its
 * bounds.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { offerAt, openTestBilling, type Buyer, type TestBilling } from '../../test/test-billing.ts'
import { days, hours, later, minutes } from '../platform/clock.ts'

const price = 200_000n
let billing: TestBilling

beforeAll(async () => {
  billing = await openTestBilling('2027-06-10T00:00:00Z')
})
afterAll(() => billing.close())
beforeEach(async () => {
  await sql`truncate subscription, runway_warning cascade`.execute(billing.db)
})

/** Makes all subscriptions renew next at this moment. */
const renewAt = (end: Date) =>
  sql`update subscription set anchor_at = ${end}::timestamptz - interval '1 month',
    period_end = ${end}`.execute(billing.db)
/** Wallets that are empty at the first renewal, less than a week away. */
async function shortWallets(count: number): Promise<Buyer[]> {
  const buyers: Buyer[] = []
  for (let n = 0; n < count; n++) {
    const buyer = await billing.customer({ balance: price })
    await billing.order(buyer, offerAt(price))
    buyers.push(buyer)
  }
  await renewAt(later(billing.clock.now(), days(5)))
  return buyers
}
/** The number of warning letters; the receipt of an order is not counted. */
const warned = ({ email }: Buyer): number =>
  billing.mails.filter(({ to, text }) => to === email && text.includes('Số dư ví')).length
const due = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from subscription where watch_at <= ${billing.clock.now()}
  `.execute(billing.db)
  return rows[0]?.n ?? -1
}

test('a wallet is looked at when it is due, and not before', async () => {
  const [an] = (await shortWallets(1)) as [Buyer]
  await billing.bills.watchRunways()
  expect([warned(an), await due()]).toEqual([1, 0])
  // Even without the stored warning, the wallet is not looked at again before an hour has passed.
  await sql`delete from runway_warning`.execute(billing.db)
  billing.clock.advance(minutes(59))
  await billing.bills.watchRunways()
  expect(warned(an)).toBe(1)
  billing.clock.advance(minutes(1))
  await billing.bills.watchRunways()
  expect(warned(an)).toBe(2)
})

test('a wallet that lasts is looked at when the largest level begins, to the second', async () => {
  const an = await billing.customer({ balance: price })
  await billing.order(an, offerAt(price))
  await renewAt(later(billing.clock.now(), days(8) + hours(5)))
  await billing.bills.watchRunways()
  const { rows } = await sql<{ at: Date }>`select watch_at as at from subscription`.execute(
    billing.db,
  )
  // "Seven days or less" begins eight days before the end: in five hours, not six.
  expect(rows[0]?.at.getTime()).toBe(billing.clock.now().getTime() + hours(5) + 1000)
  billing.clock.advance(hours(5) + 1000)
  await billing.bills.watchRunways()
  expect(warned(an)).toBe(1)
})

test('two workers share what is due, and one that is held up keeps nobody waiting', async () => {
  const buyers = await shortWallets(6)
  const second = billing.second()
  try {
    const held = buyers[0] as Buyer
    await billing.db.transaction().execute(async (tx) => {
      await sql`select 1 from subscription where customer_id = ${held.id} for update`.execute(tx)
      await Promise.all([billing.bills.watchRunways(), second.bills.watchRunways()])
      expect(buyers.map(warned)).toEqual([0, 1, 1, 1, 1, 1])
    })
    await second.bills.watchRunways()
    expect(buyers.map(warned)).toEqual([1, 1, 1, 1, 1, 1])
  } finally {
    await second.close()
  }
})

test('looks that take long hold no renewal back', async () => {
  const an = await billing.customer({ balance: price * 3n })
  await billing.order(an, offerAt(price))
  billing.clock.advance(days(31))
  const second = billing.second()
  try {
    let looking: Promise<void> | undefined
    await billing.db.transaction().execute(async (tx) => {
      await sql`lock table runway_warning in access exclusive mode`.execute(tx)
      looking = second.bills.watchRunways()
      await expect
        .poll(async () => {
          const { rows } = await sql`select 1 from pg_locks
            where not granted and relation = 'runway_warning'::regclass`.execute(billing.db)
          return rows.length
        })
        .toBe(1)
      const before = await billing.balance(an)
      await billing.bills.sweep()
      expect(before - (await billing.balance(an))).toBe(price)
    })
    await looking
  } finally {
    await second.close()
  }
})

test('who cannot be looked at delays no other, and is due again in an hour', async () => {
  const buyers = await shortWallets(5)
  const broken = buyers[2] as Buyer
  await sql`
    create function test_broken() returns trigger language plpgsql as
      $$ begin raise exception 'broken'; end $$`.execute(billing.db)
  await sql
    .raw(
      `create trigger test_broken before insert on runway_warning for each row
        when (new.customer_id = '${broken.id}') execute function test_broken()`,
    )
    .execute(billing.db)
  await billing.bills.watchRunways()
  const others = buyers.filter((buyer) => buyer !== broken)
  // This list keeps the mail of a rolled-back transaction; the table does not keep its warning.
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from runway_warning`.execute(
    billing.db,
  )
  expect([rows[0]?.n, others.every((buyer) => warned(buyer) >= 1), await due()]).toEqual([
    4,
    true,
    0,
  ])
  await sql`drop trigger test_broken on runway_warning`.execute(billing.db)
  billing.clock.advance(hours(1))
  await billing.bills.watchRunways()
  expect(warned(broken)).toBe(1)
})
