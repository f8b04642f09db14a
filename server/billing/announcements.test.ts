/** Prices that rise under a running subscription: announced 30 days before they act. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyOf, type Terms } from '../../contract/pricing.ts'
import { calendarOf } from '../../test/billing-calendar.ts'
import { eventually } from '../../test/portal.ts'
import { offerAt, openTestBilling, termsAt, type TestBilling } from '../../test/test-billing.ts'
import { transaction } from '../platform/db.ts'
import type { Offer } from './product.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-31T03:00:00Z')
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at, lettersTo, eventsOf } = calendarOf(() => billing)
const old = 218_000n
const dear = 238_000n
const announced = (customer: { id: string }) =>
  eventsOf(customer).filter((event) => event === 'subscription.price_announced').length
const anySubject: unknown = expect.any(String)
const rising = (customer: { email: string }) =>
  lettersTo(customer).filter((subject) => subject.startsWith('Giá gia hạn'))

describe('a price of the catalogue that rises', () => {
  test('is announced once by letter and notification, and acts after 30 days', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: old * 10n })
    const id = await billing.order(an, offerAt(old))
    await at('2027-07-07T00:00:00Z')
    billing.price = (wanted) => (wanted === id ? offerAt(dear) : undefined)
    // Not announced yet: it renews at the old price, whichever process looks first.
    expect(await billing.subscription(id)).toMatchObject({ renewalPrice: Number(old) })
    const second = billing.second()
    await Promise.all([billing.bills.announcePrices(), second.bills.announcePrices()])
    await second.close()
    await billing.bills.announcePrices()
    expect([announced(an), rising(an)]).toEqual([
      1,
      ['Giá gia hạn Một thứ sẽ thay đổi từ ngày 2027-08-10'],
    ])
    expect(await billing.subscription(id)).toMatchObject({
      renewalPrice: Number(old),
      priceRise: { price: Number(dear), actsAt: '2027-08-10T00:00:00.000Z' },
    })
    await at('2027-07-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${old} paid 2027-07-10`)
    await at('2027-08-09T23:59:59Z')
    expect(await billing.subscription(id)).toMatchObject({ renewalPrice: Number(dear) })
    await at('2027-08-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${dear} paid 2027-08-10`)
    expect(await billing.subscription(id)).toMatchObject({ price: Number(dear), priceRise: null })
    await billing.bills.announcePrices()
    expect(announced(an)).toBe(1)
    billing.price = () => undefined
  })

  test('without an announcement never acts: 29 days are too few', async () => {
    await at('2028-06-10T00:00:00Z')
    const an = await billing.customer({ balance: old * 10n })
    const id = await billing.order(an, offerAt(old))
    await at('2028-06-11T00:00:01Z')
    billing.price = (wanted) => (wanted === id ? offerAt(dear) : undefined)
    await billing.bills.announcePrices()
    await at('2028-07-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${old} paid 2028-07-10`)
    await at('2028-08-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${dear} paid 2028-08-10`)
    billing.price = () => undefined
  })

  test('is forgotten when it falls again, and a second rise is a second announcement', async () => {
    await at('2029-06-10T00:00:00Z')
    const an = await billing.customer({ balance: old * 20n })
    const id = await billing.order(an, offerAt(old))
    let price = dear
    billing.price = (wanted) => (wanted === id ? offerAt(price) : undefined)
    await billing.bills.announcePrices()
    price = old
    await billing.bills.announcePrices()
    expect((await billing.subscription(id))?.priceRise).toBeNull()
    // A customer who got the announcement gets one withdrawal.
    const second = billing.second()
    await Promise.all([billing.bills.announcePrices(), second.bills.announcePrices()])
    await second.close()
    expect(rising(an)).toEqual([anySubject, 'Giá gia hạn Một thứ không tăng nữa'])
    await at('2029-07-10T00:00:00Z')
    price = dear
    await billing.bills.announcePrices()
    // The price rises further before it acts: the new rise is announced in its place, with its own
    // 30 days.
    await at('2029-07-20T00:00:00Z')
    price = 300_000n
    await billing.bills.announcePrices()
    expect(announced(an)).toBe(3)
    await at('2029-08-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${old} paid 2029-08-10`)
    // A price below the announced one needs no new announcement.
    price = 290_000n
    await billing.bills.announcePrices()
    expect(announced(an)).toBe(3)
    await at('2029-09-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe('renewal 290000 paid 2029-09-10')
    // The rise took effect, at less than was announced: no withdrawal is sent.
    await billing.bills.announcePrices()
    expect(rising(an).filter((subject) => subject.includes('không tăng'))).toHaveLength(1)
    billing.price = () => undefined
  })

  test('acts on later growth at the announced rates; growth costs the old ones', async () => {
    await at('2030-06-10T00:00:00Z')
    const an = await billing.customer({ balance: 5_000_000n })
    const small = termsAt(89_000)
    const priced = (terms: Terms): Offer => offerAt(BigInt(monthlyOf(terms).total), terms)
    const id = await billing.order(an, priced(small))
    let gb = 10
    const rates = { price: 99_000, disk_per_gb: 5000 }
    billing.price = (wanted) =>
      wanted === id ? priced({ ...termsAt(89_000, gb), ...rates }) : undefined
    await billing.bills.announcePrices()
    gb = 30
    await transaction(billing.db, (tx) =>
      billing.bills.changePrice(tx, {
        subscriptionId: id,
        to: priced(termsAt(89_000, 30)),
        change: {},
        starts: null,
      }),
    )
    const before = monthlyOf(termsAt(89_000, 30)).total
    const after = monthlyOf({ ...termsAt(89_000, 30), ...rates }).total
    expect(await billing.subscription(id)).toMatchObject({
      price: before,
      renewalPrice: after,
      priceRise: { price: after },
    })
    await at('2030-07-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${after} paid 2030-07-10`)
    billing.price = () => undefined
  })

  test('leaves a planned change at the price at which it was planned', async () => {
    await at('2031-06-10T00:00:00Z')
    const an = await billing.customer({ balance: old * 10n })
    const id = await billing.order(an, offerAt(old))
    billing.price = (wanted, change) =>
      wanted === id ? offerAt(change ? 100_000n : old) : undefined
    await transaction(billing.db, (tx) =>
      billing.bills.changePrice(tx, {
        subscriptionId: id,
        to: offerAt(100_000n),
        change: { size: 1 },
        starts: null,
      }),
    )
    billing.price = (wanted) => (wanted === id ? offerAt(120_000n) : undefined)
    expect((await billing.subscription(id))?.renewalPrice).toBe(100_000)
    await at('2031-07-10T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toBe('renewal 100000 paid 2031-07-10')
    billing.price = () => undefined
  })
})

describe('a price that was announced', () => {
  test('stands while another change is planned, and acts where that is taken back', async () => {
    await at('2033-06-10T00:00:00Z')
    const an = await billing.customer({ balance: old * 10n })
    const id = await billing.order(an, offerAt(old))
    billing.price = (wanted, change) =>
      wanted === id ? offerAt(change && 'size' in change ? 100_000n : dear) : undefined
    await at('2033-06-11T00:00:00Z')
    await billing.bills.announcePrices()
    const changeTo = (price: bigint, change: object): Promise<unknown> =>
      transaction(billing.db, (tx) =>
        billing.bills.changePrice(tx, {
          subscriptionId: id,
          to: offerAt(price),
          change,
          starts: null,
        }),
      )
    await at('2033-07-09T00:00:00Z')
    await changeTo(100_000n, { size: 1 })
    expect((await billing.subscription(id))?.renewalPrice).toBe(100_000)
    await billing.bills.announcePrices()
    await changeTo(old, {})
    await billing.bills.announcePrices()
    // One announcement was sent, and no withdrawal.
    expect([announced(an), rising(an)]).toEqual([1, [anySubject]])
    await at('2033-08-10T00:00:00Z')
    expect((await billing.invoices(id)).slice(1)).toEqual([
      `renewal ${old} paid 2033-07-10`,
      `renewal ${dear} paid 2033-08-10`,
    ])
    billing.price = () => undefined
  })

  test('is told to nobody who has it no more, and to its new owner later', async () => {
    await at('2034-06-10T00:00:00Z')
    const [an, binh] = [await billing.customer({ balance: old }), await billing.customer()]
    const id = await billing.order(an, offerAt(old))
    billing.price = (wanted) => (wanted === id ? offerAt(dear) : undefined)
    const given = Promise.withResolvers<undefined>()
    const held = Promise.withResolvers<undefined>()
    const goesOver = transaction(billing.db, async (tx) => {
      await tx
        .updateTable('subscription')
        .set({ customer_id: binh.id })
        .where('id', '=', id)
        .execute()
      held.resolve(undefined)
      await given.promise
    })
    await held.promise
    const announcing = billing.bills.announcePrices()
    await eventually('the announcement that waits for the row', async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(billing.db)
      return rows.length > 0
    })
    given.resolve(undefined)
    await goesOver
    await announcing
    expect([rising(an), rising(binh)]).toEqual([[], []])
    await billing.bills.announcePrices()
    expect([rising(an), rising(binh)]).toEqual([[], [anySubject]])
    billing.price = () => undefined
  })
})

test('the runway counts the dearer price from the renewal on which it acts', async () => {
  await at('2032-06-10T00:00:00Z')
  const an = await billing.customer({ balance: old * 2n + dear * 2n })
  const id = await billing.order(an, offerAt(old))
  await at('2032-07-01T00:00:00Z')
  billing.price = (wanted) => (wanted === id ? offerAt(dear) : undefined)
  await billing.bills.announcePrices()
  const told = await billing.bills.runway(billing.db, an.id)
  // The wallet covers one renewal at the old price and two at the new one; the fourth falls short.
  expect(told).toMatchObject({
    emptyAt: '2032-10-10T00:00:00.000Z',
    monthly: Number(old),
    next: [{ amount: Number(old) }],
  })
  await at('2032-09-10T00:00:00Z')
  expect(await billing.balance(an)).toBe(0n)
  billing.price = () => undefined
})

test('the bell and the letter name the day on the clocks of the region', async () => {
  await at('2033-06-10T20:00:00Z')
  const an = await billing.customer({ balance: old * 10n })
  const id = await billing.order(an, offerAt(old))
  await at('2033-07-07T00:00:00Z')
  billing.price = (wanted) => (wanted === id ? offerAt(dear) : undefined)
  await billing.bills.announcePrices()
  // Three in the morning of the next day in Vietnam.
  const [told] = billing.published.filter(
    ({ customerId, event }) => customerId === an.id && event === 'subscription.price_announced',
  )
  expect(told?.payload).toMatchObject({ subscription: { actsOn: '2033-08-11' } })
  expect(rising(an)).toEqual(['Giá gia hạn Một thứ sẽ thay đổi từ ngày 2033-08-11'])
  billing.price = () => undefined
})
