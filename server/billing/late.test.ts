/** Orders that are paid late, and orders that are not paid at all (contract.md section 8). */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, termsAt, type TestBilling } from '../../test/test-billing.ts'
import { monthlyOf } from '../../contract/pricing.ts'
import { days, later } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { orderStep } from './orders.ts'
import { presentAll } from './store.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-31T03:00:00Z')
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at, jobsOf, lettersTo, eventsOf } = calendarOf(() => billing)
const price = 218_000n
const rows = (id: string) =>
  billing.db
    .selectFrom('invoice')
    .selectAll()
    .where('subscription_id', '=', id)
    .orderBy('seq')
    .execute()
const line = async (id: string) =>
  await billing.db
    .selectFrom('invoice_line as l')
    .innerJoin('invoice as i', 'i.id', 'l.invoice_id')
    .select(['l.period_start', 'l.period_end', 'l.basis'])
    .where('i.subscription_id', '=', id)
    .orderBy('i.seq', 'desc')
    .executeTakeFirstOrThrow()

describe('an order that is paid late', () => {
  test('is dated by one moment, however long its payment waits', async () => {
    await at('2027-05-10T00:00:00Z')
    const an = await billing.customer()
    const id = await billing.order(an, offerAt(price))
    const { now } = billing.clock
    billing.clock.now = () => {
      billing.clock.advance(7)
      return now()
    }
    await billing.topUp(an, price)
    billing.clock.now = now
    const { periodStart, periodEnd } = (await billing.subscription(id)) ?? {}
    expect(await line(id)).toMatchObject({
      period_start: new Date(periodStart ?? ''),
      period_end: new Date(periodEnd ?? ''),
    })
  })

  test('begins with the payment, and its invoice and subscription name one month', async () => {
    const terms = termsAt(89_000)
    const amount = BigInt(monthlyOf(terms).total)
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer()
    const id = await billing.order(an, offerAt(amount, terms))
    expect((await rows(id)).map(({ number, issued_at }) => number ?? issued_at)).toEqual([null])
    await at('2027-06-16T12:00:00Z')
    await billing.topUp(an, amount)
    const subscription = await billing.subscription(id)
    expect(subscription).toMatchObject({
      status: 'active',
      periodStart: '2027-06-16T12:00:00.000Z',
      periodEnd: '2027-07-16T12:00:00.000Z',
    })
    const seconds = 30 * 86_400
    expect(await line(id)).toMatchObject({
      period_start: new Date(subscription?.periodStart ?? ''),
      period_end: new Date(subscription?.periodEnd ?? ''),
    })
    const [invoice] = await rows(id)
    expect(invoice?.issued_at).toEqual(new Date('2027-06-16T12:00:00Z'))
    expect((await line(id)).basis).toMatchObject({ seconds, of_seconds: seconds })
    await at('2027-07-16T12:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toContain('2027-07-16')
  })
})

describe('an order that nobody pays', () => {
  test('is reminded of after one and six days, lapses after seven, for good', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer()
    const id = await billing.order(an, offerAt(price))
    const seen: unknown[] = []
    for (const day of [0.9, 1, 3, 5.9, 6, 6.9, 7, 8]) {
      await at(later(new Date('2027-06-10T00:00:00Z'), days(day)))
      seen.push([day, (await billing.subscription(id))?.status, lettersTo(an).length])
    }
    expect(seen).toEqual([
      [0.9, 'pending', 0],
      [1, 'pending', 1],
      [3, 'pending', 1],
      [5.9, 'pending', 1],
      [6, 'pending', 2],
      [6.9, 'pending', 2],
      [7, 'ended', 3],
      [8, 'ended', 3],
    ])
    expect(lettersTo(an).at(-1)).toBe('Đơn hàng của bạn đã hết hiệu lực')
    expect(eventsOf(an).filter((event) => event === 'invoice.lapsed')).toHaveLength(1)
    expect(jobsOf(id)).toEqual(['remove'])
    await billing.topUp(an, price * 2n)
    expect(await billing.balance(an)).toBe(price * 2n)
    const [shown] = await presentAll(billing.db, await rows(id), billing.links, 'en')
    expect(shown).toMatchObject({
      number: null,
      status: 'void',
      amount_due: 0,
      lapsesAt: '2027-06-17T00:00:00.000Z',
    })
  })

  test('is asked of nobody who could pay it: it lapses for want of room, and says so', async () => {
    await at('2026-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    billing.hasRoom = false
    const id = await billing.order(an, offerAt(price))
    for (const day of [1, 6]) await at(later(new Date('2026-06-10T00:00:00Z'), days(day)))
    expect([lettersTo(an), eventsOf(an).includes('invoice.payment_failed')]).toEqual([[], false])
    await at('2026-06-17T00:00:00Z')
    expect((await billing.subscription(id))?.status).toBe('ended')
    expect(lettersTo(an)).toEqual(['Chúng tôi chưa thể cung cấp đơn hàng của bạn'])
    billing.hasRoom = true
    expect(await billing.balance(an)).toBe(price)
  })

  test('is not bought by a top-up that comes before anybody has looked: no number', async () => {
    await at('2028-06-10T00:00:00Z')
    const an = await billing.customer()
    const id = await billing.order(an, offerAt(price))
    billing.clock.advance(days(200))
    await billing.topUp(an, price * 2n)
    expect(await billing.balance(an)).toBe(price * 2n)
    const [invoice] = await rows(id)
    expect(await transaction(billing.db, (tx) => billing.bills.pay(tx, invoice?.id ?? ''))).toBe(
      'settled',
    )
    await billing.bills.sweep()
    // After so long an absence only the last letter is sent.
    expect(lettersTo(an)).toEqual(['Đơn hàng của bạn đã hết hiệu lực'])
    const bought = await billing.order(an, offerAt(price))
    const { number } = (await rows(bought))[0] ?? {}
    expect(number).toBe('VN-2028-000001')
  })

  test('paid in the very second in which it lapses, it is either bought or lapsed', async () => {
    for (let round = 0; round < 10; round++) {
      await at('2027-06-10T00:00:00Z')
      const an = await billing.customer()
      const id = await billing.order(an, offerAt(price))
      await at(later(new Date('2027-06-17T00:00:00Z'), round % 2 === 0 ? 0 : -1))
      await Promise.all([billing.bills.sweep(), billing.topUp(an, price)])
      const status = (await billing.subscription(id))?.status
      expect([status, await billing.balance(an)]).toEqual(
        round % 2 === 0 ? ['ended', price] : ['active', 0n],
      )
    }
  })

  test('the step that is due, for any moment and any number of days', () => {
    const lapsesAt = new Date('2027-01-01T00:00:00Z')
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: days(40) }),
        fc.constantFrom(null, 1, 6),
        (lapsesDays, passed, reminded) => {
          const now = later(lapsesAt, passed - days(lapsesDays))
          const step = orderStep({ lapsesAt, reminded }, now, lapsesDays)
          expect(step.act === 'lapse').toBe(passed >= days(lapsesDays))
          expect(step.nextAt > now || step.act === 'lapse').toBe(true)
          expect(step.nextAt <= lapsesAt).toBe(true)
          if (step.act === 'remind') {
            expect(step.day).toBeGreaterThan(reminded ?? 0)
            expect(passed).toBeGreaterThanOrEqual(days(step.day))
          }
        },
      ),
    )
  })
})

describe('a renewal that is paid when its month is over', () => {
  test('is issued anew for the month that begins with the payment; the first is void', async () => {
    // It fell due on 31 January for a month of 28 days; it would be deleted on 2 March.
    await at('2026-12-31T03:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    await at('2027-01-31T03:00:00Z')
    await at('2027-02-08T00:00:00Z')
    await at('2027-03-01T00:00:00Z')
    expect((await billing.subscription(id))?.status).toBe('suspended')
    await billing.topUp(an, price)
    const subscription = await billing.subscription(id)
    expect(subscription).toMatchObject({
      status: 'active',
      periodStart: '2027-03-01T00:00:00.000Z',
      periodEnd: '2027-04-01T00:00:00.000Z',
    })
    const issued = await rows(id)
    expect(issued.map(({ status }) => status)).toEqual(['paid', 'void', 'paid'])
    expect(new Set(issued.map(({ number }) => number)).size).toBe(3)
    expect(await line(id)).toMatchObject({
      period_start: new Date('2027-03-01T00:00:00Z'),
      period_end: new Date('2027-04-01T00:00:00Z'),
    })
    await at('2027-04-01T00:00:00Z')
    expect((await billing.invoices(id)).at(-1)).toContain('2027-04-01')
  })

  test('has no more time than the month that is unpaid, while the server runs', async () => {
    await at('2026-12-31T03:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    const putOff = (day: string) =>
      transaction(billing.db, (tx) => billing.bills.desk.putOff(tx, id, day))
    await at('2027-01-31T03:00:00Z')
    await putOff('2027-02-25')
    await at('2027-02-20T03:00:00Z')
    await expect(putOff('2027-02-28')).rejects.toMatchObject({ code: 'invalid_input' })
    await putOff('2027-02-27')
    await at('2027-02-26T03:00:00Z')
    expect((await billing.subscription(id))?.status).toBe('past_due')
    await billing.topUp(an, price)
    await billing.bills.sweep()
    expect(await billing.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} paid 2027-01-31`,
    ])
    expect(await billing.subscription(id)).toMatchObject({
      status: 'active',
      periodEnd: '2027-02-28T03:00:00.000Z',
    })
  })
})
