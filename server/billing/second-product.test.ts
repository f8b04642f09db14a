/**
 * A year of parking spaces: a product unknown to billing, sold through the same interface as
 * WordPress servers, with terms and a price function of its own.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { calendarOf } from '../../test/billing-calendar.ts'
import { openTestBilling, type Buyer, type TestBilling } from '../../test/test-billing.ts'
import { transaction } from '../platform/db.ts'
import { titles, type Offer, type Product, type Subject } from './index.ts'

const ParkingTerms = z.object({ metres: z.int(), per_metre: z.int(), roof: z.int() })
type ParkingTerms = z.output<typeof ParkingTerms>

const monthly = ({ metres, per_metre, roof }: ParkingTerms): bigint =>
  BigInt(metres * per_metre + roof)

/** The product's present rates, minor units. */
const rates = { per_metre: 20_000, roof: 50_000 }
const offered = (): Offer => {
  const terms = { metres: 5, ...rates }
  return {
    price: monthly(terms),
    terms,
    description: { en: 'Parking space A7', vi: 'Chỗ đỗ xe A7' },
  }
}

const shown = (subject: Subject | null) => ({
  wp: null,
  space: subject && { id: subject.id, name: subject.name },
})
const parking: Product = {
  name: 'parking',
  jobs: { suspend: 'close-barrier', resume: 'open-barrier', remove: 'free-space' },
  shownAs: { briefly: shown, fully: shown },
  screens: { all: '/parking', order: '/parking/order' },
  pricing: {
    monthly: (terms) => monthly(ParkingTerms.parse(terms)),
    atRates(wanted, known) {
      const { per_metre, roof } = ParkingTerms.parse(known)
      return { ...ParkingTerms.parse(wanted), per_metre, roof }
    },
    explain: () => null,
  },
  offers: async (_db, wanted) =>
    new Map(wanted.map(({ subscriptionId }) => [subscriptionId, offered()])),
}

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-01-10T03:00:00Z')
  billing.bills.offer(parking)
  await billing.ledger.prepare(billing.db, { drivers: [], products: [parking.name] })
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})
const { at, jobsOf } = calendarOf(() => billing)

async function rent(
  customer: Buyer,
  space: Subject,
): Promise<{ subscriptionId: string; invoiceId: string }> {
  const offer = offered()
  const sold = { currency: 'VND', product: parking.name, subject: space } as const
  return await transaction(billing.db, async (tx) => {
    const { id, period } = await billing.bills.subscribe(tx, {
      ...sold,
      customerId: customer.id,
      regionCode: customer.regionCode,
      offer,
    })
    const seconds = (period.end.getTime() - period.start.getTime()) / 1000
    const invoice = await billing.bills.issue(tx, {
      ...sold,
      customer,
      lines: [
        {
          description: offer.description,
          quantity: 1n,
          unitPrice: offer.price,
          period,
          basis: { ...offer.terms, seconds, of_seconds: seconds },
        },
      ],
      subscriptionId: id,
      starts: { job: 'paint-number', payload: { subscriptionId: id } },
    })
    return { subscriptionId: id, invoiceId: invoice.id }
  })
}

test('a parking space is billed for a year', async () => {
  const old = 150_000n
  const dear = 175_000n
  const revenue = async (): Promise<bigint> => {
    const { balance } = await billing.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', 'revenue:parking:VND')
      .executeTakeFirstOrThrow()
    return balance
  }
  const before = await revenue()
  const an = await billing.customer({ balance: old * 6n })
  const space: Subject = { kind: 'space', id: randomUUID(), name: 'A7' }

  // The order: paid from the wallet, and the product's own job begins.
  const { subscriptionId: id, invoiceId } = await rent(an, space)
  expect(await transaction(billing.db, (tx) => billing.bills.pay(tx, invoiceId))).toBe('paid')
  expect(jobsOf(id)).toEqual(['paint-number'])
  expect(billing.published.at(-1)?.payload).toMatchObject({ wp: null, space: { name: 'A7' } })
  expect(await billing.subscription(id)).toMatchObject({
    status: 'active',
    price: Number(old),
    ...shown(space),
  })

  // Renewals at the old price, up to an announced one.
  await at('2027-05-10T03:00:00Z')
  expect(await billing.balance(an)).toBe(old)
  rates.per_metre = 25_000
  await billing.bills.announcePrices()
  const announced = billing.published.find(({ event }) => event === 'subscription.price_announced')
  expect(titles['subscription.price_announced'](announced?.payload, 'en')).toMatch(/^A7 will cost /)
  const link = billing.mails.filter(({ to }) => to === an.email).at(-1)?.text
  expect(link).toContain('http://portal.example/parking')
  await at('2027-06-10T03:00:00Z')
  expect((await billing.invoices(id)).at(-1)).toBe(`renewal ${dear} open 2027-06-10`)

  // The wallet is empty: the barrier closes after seven days, and a top-up opens it.
  await at('2027-06-17T03:00:00Z')
  expect((await billing.subscription(id))?.status).toBe('suspended')
  expect(jobsOf(id).at(-1)).toBe('close-barrier')
  await at('2027-06-20T03:00:00Z')
  await billing.topUp(an, dear * 8n)
  expect(await billing.subscription(id)).toMatchObject({ status: 'active', price: Number(dear) })
  expect(jobsOf(id).at(-1)).toBe('open-barrier')

  // The rest of the year and half a month, whose unused part is credited.
  await at('2028-01-10T03:00:00Z')
  expect(await billing.invoices(id)).toHaveLength(13)
  expect(await billing.balance(an)).toBe(old)
  await at('2028-01-26T03:00:00Z')
  const unused = 84_677n // 15 of 31 days
  await transaction(billing.db, (tx) => billing.bills.cancel(tx, id, 'now'))
  expect((await billing.subscription(id))?.status).toBe('ended')
  expect(jobsOf(id).at(-1)).toBe('free-space')
  expect((await billing.invoices(id)).at(-1)).toBe(`credit -${unused} paid`)
  expect(await billing.balance(an)).toBe(old + unused)
  expect((await revenue()) - before).toBe(old * 5n + dear * 8n - unused)
})
