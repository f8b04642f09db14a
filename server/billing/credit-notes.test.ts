/** Refunded amounts and their credit notes. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthlyOf, shareOf } from '../../contract/pricing.ts'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, termsAt, type TestBilling } from '../../test/test-billing.ts'
import { transaction } from '../platform/db.ts'
import { splitUnused } from './credit-notes.ts'
import { presentAll } from './store.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-31T03:00:00Z', (catalog) => ({
    ...catalog,
    regions: { ...catalog.regions, VN: { ...catalog.regions.VN, tax: { name: 'VAT', rate: 800 } } },
  }))
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at } = calendarOf(() => billing)
const documents = async (subscriptionId: string) => {
  const rows = await billing.db
    .selectFrom('invoice')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .orderBy('seq')
    .execute()
  return await presentAll(billing.db, rows, billing.links, 'en')
}

describe('cancelled now after it grew twice', () => {
  test('each invoice of the month is corrected by what of it is unused, line by line', async () => {
    await at('2027-06-10T00:00:00Z')
    const terms = [termsAt(89_000), termsAt(89_000, 30), termsAt(89_000, 40)] as const
    const [first, second, third] = terms.map((each) => BigInt(monthlyOf(each).total))
    if (first === undefined || second === undefined || third === undefined) throw new Error('terms')
    const an = await billing.customer({ balance: 1_000_000n })
    const id = await billing.order(an, offerAt(first, terms[0]))
    for (const [moment, price, of] of [
      ['2027-06-15T00:00:07Z', second, terms[1]],
      ['2027-06-20T00:00:11Z', third, terms[2]],
    ] as const) {
      await at(moment)
      await transaction(billing.db, (tx) =>
        billing.bills.changePrice(tx, {
          subscriptionId: id,
          to: offerAt(price, of),
          change: {},
          starts: null,
        }),
      )
    }
    await at('2027-06-25T00:00:13Z')
    const before = await billing.balance(an)
    const unused = (await billing.subscription(id))?.unused ?? 0
    await transaction(billing.db, (tx) => billing.bills.cancel(tx, id, 'now'))
    const back = (await billing.balance(an)) - before
    const seconds = 15 * 86_400 - 13
    const share = (monthly: bigint) => shareOf(monthly, seconds, 30 * 86_400)
    expect(back).toBe(share(third))
    expect(Number(back)).toBe(unused)
    const all = await documents(id)
    const [order, grown, more, ...notes] = all
    expect(notes.map(({ kind, corrects, total }) => [kind, corrects?.number, total])).toEqual([
      ['credit', order?.number, -Number(share(first))],
      ['credit', grown?.number, -Number(share(second) - share(first))],
      ['credit', more?.number, -Number(share(third) - share(second))],
    ])
    expect(notes.map(({ number }) => number)).toEqual([
      'VN-CN-2027-000001',
      'VN-CN-2027-000002',
      'VN-CN-2027-000003',
    ])
    expect(notes.map(({ lines }) => lines.map(({ corrects_line }) => corrects_line))).toEqual([
      [1],
      [1, 2],
      [1, 2],
    ])
    for (const { number, total, tax } of notes) {
      const of = {
        customerId: an.id,
        number: number ?? '',
        language: 'en',
      } as const
      expect(await billing.bills.explainInvoice(billing.db, of)).toMatchObject({
        total,
        recomputed: total,
      })
      expect(tax?.rate).toBe(800)
    }
    // Numbers of invoices have no gap where credit notes were issued.
    expect(all.slice(0, 3).map(({ number }) => number)).toEqual([
      'VN-2027-000001',
      'VN-2027-000002',
      'VN-2027-000003',
    ])
  })
})

describe('what never came up', () => {
  test('is paid back on a credit note for each invoice, with its lines and tax', async () => {
    await at('2027-08-10T00:00:00Z')
    const an = await billing.customer({ balance: 1_000_000n })
    const id = await billing.order(an, offerAt(218_000n))
    await at('2027-09-10T00:00:00Z')
    const [order, renewal] = await documents(id)
    await transaction(billing.db, (tx) =>
      billing.bills.undo(tx, order?.id ?? '', 'it did not come up'),
    )
    expect(await billing.balance(an)).toBe(1_000_000n)
    const [, , ...notes] = await documents(id)
    expect(notes.map(({ corrects, total, tax }) => [corrects?.id, total, tax?.amount])).toEqual([
      [order?.id, -218_000, -(order?.tax?.amount ?? 0)],
      [renewal?.id, -218_000, -(renewal?.tax?.amount ?? 0)],
    ])
    expect((await documents(id)).map(({ status }) => status)).toEqual([
      'refunded',
      'refunded',
      'paid',
      'paid',
    ])
  })
})

describe('growth that costs nothing', () => {
  test('acts at once, and there is no document of it', async () => {
    await at('2027-10-10T00:00:00Z')
    const an = await billing.customer({ balance: 218_000n })
    const id = await billing.order(an, offerAt(218_000n))
    const jobs = billing.jobs.length
    const outcome = await transaction(billing.db, (tx) =>
      billing.bills.changePrice(tx, {
        subscriptionId: id,
        to: { ...offerAt(218_000n), description: { en: 'A larger thing', vi: 'Thứ lớn hơn' } },
        change: {},
        starts: { job: 'grow', payload: {} },
      }),
    )
    expect(outcome).toEqual({ outcome: 'charged', invoiceId: null })
    expect(billing.jobs.slice(jobs).map(({ name }) => name)).toEqual(['grow'])
    expect(await billing.invoices(id)).toEqual(['order 218000 paid'])
    await at('2027-11-10T00:00:00Z')
    expect((await documents(id)).every(({ total }) => total !== 0)).toBe(true)
  })

  test('taking a planned smaller size back makes no document either', async () => {
    await at('2028-01-10T00:00:00Z')
    const an = await billing.customer({ balance: 218_000n })
    const id = await billing.order(an, offerAt(218_000n))
    const change = (price: bigint) =>
      transaction(billing.db, (tx) =>
        billing.bills.changePrice(tx, {
          subscriptionId: id,
          to: offerAt(price),
          change: {},
          starts: null,
        }),
      )
    await change(100_000n)
    expect((await billing.subscription(id))?.planned).toBe(true)
    await change(218_000n)
    expect((await billing.subscription(id))?.planned).toBe(false)
    expect(await billing.invoices(id)).toEqual(['order 218000 paid'])
  })
})

test('the parts of an unused amount sum to it; no growth gives back too much', () => {
  const month = 30 * 86_400
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: month }),
      fc.array(
        fc.record({
          grows: fc.integer({ min: 0, max: 1_000_000 }),
          at: fc.integer({ min: 0, max: month }),
        }),
        { maxLength: 6 },
      ),
      fc.integer({ min: 1, max: 5_000_000 }),
      (left, growths, base) => {
        const share = (monthly: bigint, seconds: number) => shareOf(monthly, seconds, month)
        let price = BigInt(base)
        const charged = [{ price, total: price }]
        // Growths in the order of time; each happened when more of the month was left. A growth
        // that costs nothing has no invoice.
        const order = growths.map((each) => ({ ...each, at: Math.max(each.at, left) }))
        for (const { grows, at: rest } of order.toSorted((one, other) => other.at - one.at)) {
          const total = share(price + BigInt(grows), rest) - share(price, rest)
          price += BigInt(grows)
          if (total > 0n) charged.push({ price, total })
        }
        const unused = share(price, left)
        const parts = splitUnused(unused, (monthly) => share(monthly, left), charged)
        expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(unused)
        expect(parts.every((part) => part >= 0n)).toBe(true)
        for (const [index, part] of parts.entries())
          if (index > 0) expect(part <= (charged[index]?.total ?? 0n)).toBe(true)
      },
    ),
  )
})
