/**
 * A product with a price that the test sets and without machines: its renewals are due like any
 * other.
 */
import { randomUUID } from 'node:crypto'
import type { RegionCode } from '../contract/money.ts'
import type { Product } from '../server/billing/index.ts'
import { transaction } from '../server/platform/db.ts'
import { eventually, type TestCustomer, type TestPortal } from './portal.ts'

const nothing = 'pay-open-invoices'
const parking: Product = {
  name: 'parking',
  jobs: { suspend: nothing, resume: nothing, remove: nothing },
  shownAs: { briefly: () => ({ wp: null }), fully: () => ({ wp: null }) },
  screens: { all: '/parking', order: '/parking/order' },
  pricing: { monthly: () => 0n, atRates: (wanted) => wanted, explain: () => null },
  offers: async () => new Map(),
}

/** From now on the portal sells spaces. */
export async function offerParking(portal: TestPortal): Promise<void> {
  portal.app.bills.offer(parking)
  await portal.app.ledger.prepare(portal.app.db, { drivers: [], products: [parking.name] })
}

/** Orders a space, which a job pays. `price` is minor units a month; returns the subscription. */
export async function rent(
  portal: TestPortal,
  { id: customerId, email }: TestCustomer,
  price: number,
  regionCode: RegionCode = 'USD',
): Promise<string> {
  const { app } = portal
  const { currency } = await app.ledger.balanceOf(app.db, customerId)
  const description = { en: 'Parking space', vi: 'Chỗ đỗ xe' }
  const sold = {
    currency,
    product: parking.name,
    subject: { kind: 'space', id: randomUUID(), name: 'A7' },
  } as const
  return await transaction(app.db, async (tx) => {
    const { id, period } = await app.bills.subscribe(tx, {
      ...sold,
      customerId,
      regionCode,
      offer: { price: BigInt(price), terms: null, description },
    })
    await app.bills.issue(tx, {
      ...sold,
      customer: { id: customerId, name: 'An', email, regionCode, language: 'en' },
      lines: [{ description, quantity: 1n, unitPrice: BigInt(price), period }],
      subscriptionId: id,
      starts: null,
    })
    return id
  })
}

export const subscriptionBecomes = (portal: TestPortal, id: string, status: string) =>
  eventually(`the subscription is ${status}`, async () => {
    const found = await portal.app.bills.subscription(portal.app.db, id)
    return found?.status === status
  })
