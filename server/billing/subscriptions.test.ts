/**
 * The life of a subscription besides its renewals, on a manual clock: price changes, cancellations,
 * how long the wallet lasts, and the tax.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyOf } from '../../contract/pricing.ts'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, termsAt, type TestBilling } from '../../test/test-billing.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { taxIn } from './issue.ts'

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

describe('another price', () => {
  const change = (id: string, to: ReturnType<typeof offerAt>, word: object = {}) =>
    transaction(billing.db, (tx) =>
      billing.bills.changePrice(tx, {
        subscriptionId: id,
        to,
        change: word,
        starts: { job: 'resize', payload: { subscriptionId: id } },
      }),
    )

  test('that is higher is charged for the rest of the month, and explained', async () => {
    await at('2027-06-10T00:00:00Z')
    const [small, large] = [termsAt(89_000), termsAt(89_000, 30)]
    const [from, to] = [BigInt(monthlyOf(small).total), BigInt(monthlyOf(large).total)]
    const an = await billing.customer({ balance: 1_000_000n })
    const id = await billing.order(an, offerAt(from, small))
    await at('2027-06-25T00:00:07Z')
    const before = await billing.balance(an)
    expect(await change(id, offerAt(to, large))).toMatchObject({ outcome: 'charged' })
    const left = 15 * 86_400 - 7
    const share = (monthly: bigint) => Math.round((Number(monthly) * left) / (30 * 86_400))
    const charged = share(to) - share(from)
    expect(before - (await billing.balance(an))).toBe(BigInt(charged))
    expect((await billing.invoices(id)).at(-1)).toBe(`proration ${charged} paid`)
    expect(jobsOf(id)).toEqual(['resize'])
    const { number } = await billing.db
      .selectFrom('invoice')
      .select('number')
      .where('subscription_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    const explained = await billing.bills.explainInvoice(billing.db, {
      customerId: an.id,
      number: number ?? '',
      language: 'en',
    })
    expect(explained).toMatchObject({ total: charged, recomputed: charged })
    expect(
      explained?.lines.map(({ quantity, basis, amount }) => [
        quantity,
        basis?.seconds,
        basis?.of_seconds,
        amount,
      ]),
    ).toEqual([
      [1, left, 30 * 86_400, share(to)],
      [-1, left, 30 * 86_400, -share(from)],
    ])
    expect(explained?.lines[0]?.steps.at(-1)).toMatchObject({
      part: 'share',
      quantity: left,
      per: 30 * 86_400,
      amount: share(to),
    })
    expect((await billing.subscription(id))?.price).toBe(Number(to))
  })

  test('that is higher than the wallet holds is refused, and nothing is written', async () => {
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    await expect(change(id, offerAt(price * 9n))).rejects.toMatchObject({
      code: 'insufficient_balance',
    })
    expect(await billing.invoices(id)).toEqual([`order ${price} paid`])
    expect((await billing.subscription(id))?.price).toBe(Number(price))
  })

  test('that is lower takes effect with the renewal', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price * 3n })
    const id = await billing.order(an, offerAt(price))
    expect(await change(id, offerAt(100_000n), { size: 1 })).toEqual({
      outcome: 'planned',
      at: new Date('2027-07-10T00:00:00Z'),
    })
    // The price rose after the change was planned: the agreed price holds.
    billing.price = (_id, change) => (change ? offerAt(110_000n) : offerAt(price))
    expect(await billing.subscription(id)).toMatchObject({
      price: Number(price),
      planned: true,
      renewalPrice: 100_000,
    })
    expect(jobsOf(id)).toEqual([])
    await at('2027-07-10T00:00:00Z')
    billing.price = () => undefined
    expect((await billing.invoices(id)).at(-1)).toBe('renewal 100000 paid 2027-07-10')
    expect(jobsOf(id)).toEqual(['resize'])
    expect(await billing.subscription(id)).toMatchObject({ price: 100_000, planned: false })
  })

  test('is refused for what is not paid or about to renew', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    billing.clock.advance(days(30))
    await expect(change(id, offerAt(1n))).rejects.toMatchObject({ code: 'conflict' })
    await billing.bills.sweep()
    await expect(change(id, offerAt(1n))).rejects.toMatchObject({ code: 'subscription_not_active' })
  })
})

describe('cancelled', () => {
  const cancel = (id: string, when: 'now' | 'period_end') =>
    transaction(billing.db, (tx) => billing.bills.cancel(tx, id, when))

  test('with the end of the month it runs until then, and may be taken back before', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price * 3n })
    const [ends, stays] = [
      await billing.order(an, offerAt(price)),
      await billing.order(an, offerAt(price)),
    ]
    await cancel(ends, 'period_end')
    await cancel(ends, 'period_end')
    await cancel(stays, 'period_end')
    expect(await billing.subscription(ends)).toMatchObject({
      status: 'active',
      renewsAt: null,
      cancelAtPeriodEnd: true,
    })
    await transaction(billing.db, (tx) => billing.bills.resume(tx, stays))
    await at('2027-07-09T23:59:59Z')
    expect(jobsOf(ends)).toEqual([])
    await at('2027-07-10T00:00:00Z')
    expect(jobsOf(ends)).toEqual(['remove'])
    expect(await billing.invoices(ends)).toEqual([`order ${price} paid`])
    expect(await billing.invoices(stays)).toHaveLength(2)
    await expect(cancel(ends, 'now')).rejects.toMatchObject({ code: 'subscription_ended' })
  })

  test('now, the unused part is back on a credit note, once', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    // The credit note names the invoice's buyer.
    await billing.db
      .updateTable('customer')
      .set({ name: 'An Nguyễn' })
      .where('id', '=', an.id)
      .execute()
    await at('2027-06-20T00:00:00Z')
    const unused = Math.round((Number(price) * 20) / 30)
    expect((await billing.subscription(id))?.unused).toBe(unused)
    const tries = await Promise.allSettled(Array.from({ length: 5 }, () => cancel(id, 'now')))
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await billing.balance(an)).toBe(BigInt(unused))
    expect(await billing.invoices(id)).toEqual([`order ${price} paid`, `credit -${unused} paid`])
    const named = await billing.db
      .selectFrom('invoice')
      .select('buyer')
      .where('subscription_id', '=', id)
      .orderBy('seq')
      .execute()
    expect(named.map(({ buyer }) => buyer)).toEqual([
      expect.objectContaining({ name: 'An' }),
      expect.objectContaining({ name: 'An' }),
    ])
    expect(jobsOf(id)).toEqual(['remove'])
  })

  test('now, before it was ever there, all that was paid is back', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    await at('2027-06-11T00:00:00Z')
    billing.hasBeenThere = false
    await cancel(id, 'now')
    billing.hasBeenThere = true
    expect(await billing.balance(an)).toBe(price)
    expect(await billing.invoices(id)).toEqual([`order ${price} refunded`, `credit -${price} paid`])
    expect([(await billing.subscription(id))?.status, jobsOf(id)]).toEqual(['ended', ['remove']])
  })

  test('now, while it is unpaid, nothing is due any more', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    const id = await billing.order(an, offerAt(price))
    await at('2027-07-18T00:00:00Z')
    await expect(cancel(id, 'period_end')).rejects.toMatchObject({
      code: 'subscription_not_active',
    })
    await cancel(id, 'now')
    expect(await billing.invoices(id)).toEqual([
      `order ${price} paid`,
      `renewal ${price} void 2027-07-10`,
    ])
    await billing.topUp(an, price)
    expect(await billing.balance(an)).toBe(price)
  })
})

describe('the runway', () => {
  const runway = (customer: { id: string }) => billing.bills.runway(billing.db, customer.id)

  test('is empty without subscriptions', async () => {
    expect(await runway(await billing.customer({ balance: 1n }))).toEqual({
      emptyAt: null,
      days: null,
      monthly: 0,
      next: [],
    })
  })

  test('names the renewal that fails, with planned changes, without cancelled ones', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price * 7n })
    const [one, cheaper, ends] = [
      await billing.order(an, offerAt(price)),
      await billing.order(an, offerAt(price)),
      await billing.order(an, offerAt(price)),
    ]
    await transaction(billing.db, async (tx) => {
      await billing.bills.cancel(tx, ends, 'period_end')
      await billing.bills.changePrice(tx, {
        subscriptionId: cheaper,
        to: offerAt(18_000n),
        change: {},
        starts: null,
      })
    })
    billing.price = (id) => (id === cheaper ? offerAt(18_000n) : undefined)
    const told = await runway(an)
    // 872 000 are left: three months of 236 000.
    expect(told).toMatchObject({ emptyAt: '2027-10-10T00:00:00.000Z', days: 122, monthly: 236_000 })
    expect(
      told.next
        .map(({ at: due, amount }) => [due, amount])
        .toSorted(([, one], [, other]) => Number(one) - Number(other)),
    ).toEqual([
      ['2027-07-10T00:00:00.000Z', 18_000],
      ['2027-07-10T00:00:00.000Z', 218_000],
    ])
    await at('2027-10-09T23:59:59Z')
    expect((await billing.subscription(one))?.status).toBe('active')
    await at('2027-10-10T00:00:00Z')
    billing.price = () => undefined
    expect([
      (await billing.subscription(one))?.status,
      (await billing.subscription(cheaper))?.status,
    ]).toContain('past_due')
    expect(await runway(an)).toMatchObject({ emptyAt: '2027-10-10T00:00:00.000Z', days: 0 })
  })

  test('has no end worth naming for a wallet of five years', async () => {
    const an = await billing.customer({ balance: price * 61n })
    await billing.order(an, offerAt(price))
    expect(await runway(an)).toMatchObject({ emptyAt: null, days: null, monthly: Number(price) })
  })

  test('warns once at each crossing, again after a top-up, two portals no oftener', async () => {
    await at('2027-06-10T00:00:00Z')
    const an = await billing.customer({ balance: price })
    await billing.order(an, offerAt(price))
    const second = billing.second()
    const look = async (moment: string): Promise<number> => {
      await at(moment)
      await Promise.all([billing.bills.watchRunways(), second.bills.watchRunways()])
      return lettersTo(an).length
    }
    expect(await look('2027-07-01T00:00:00Z')).toBe(0)
    expect(await look('2027-07-03T00:00:00Z')).toBe(1)
    expect(await look('2027-07-04T00:00:00Z')).toBe(1)
    expect(await look('2027-07-07T00:00:00Z')).toBe(2)
    expect(await look('2027-07-09T00:00:00Z')).toBe(3)
    expect(eventsOf(an).filter((event) => event === 'wallet.low')).toHaveLength(3)
    await billing.topUp(an, price)
    expect(await look('2027-07-09T01:00:00Z')).toBe(3)
    expect(await look('2027-08-05T00:00:00Z')).toBe(4)
    await second.close()
  })
})

describe('tax', () => {
  test('is contained in the amounts, a rounding a line, and frozen with the invoice', async () => {
    const taxed = await openTestBilling('2027-06-10T00:00:00Z', (catalog) => ({
      ...catalog,
      regions: {
        ...catalog.regions,
        AUD: { ...catalog.regions.AUD, tax: { name: 'GST', rate: 1000 } },
      },
    }))
    const sam = await taxed.customer({ region: 'AUD', balance: 5000n })
    const id = await taxed.order(sam, offerAt(1770n))
    const row = await taxed.db
      .selectFrom('invoice as i')
      .innerJoin('invoice_line as l', 'l.invoice_id', 'i.id')
      .select(['i.total', 'i.tax_name', 'i.tax_rate', 'l.tax'])
      .where('i.subscription_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ total: 1770n, tax_name: 'GST', tax_rate: 1000, tax: 161n })
    expect(await taxed.balance(sam)).toBe(3230n)
    await taxed.close()
  })
  test('and amount without it are the amount, for any amount and rate', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 12n), 10n ** 12n),
        fc.integer({ min: 0, max: 9999 }),
        (amount, rate) => {
          const tax = taxIn(amount, rate)
          // The tax is exact to half a unit.
          const error = tax * 10_000n - (amount - tax) * BigInt(rate)
          expect((error < 0n ? -error : error) * 2n <= BigInt(10_000 + rate)).toBe(true)
        },
      ),
    )
  })
})
