/** An order that is paid when its first month is already over. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manualClock, openTestHouse, type TestHouse } from '../../test/house.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let house: TestHouse

beforeAll(async () => {
  house = await openTestHouse({ clock })
})
afterAll(() => house.close())

const subscribed = async (paidAfterDays: number) => {
  const { db, bills, ledger } = house.house
  const customer = await house.customer()
  const ordered = clock.now()
  const { id, invoice } = await transaction(db, async (tx) => {
    const subscription = await bills.subscribe(tx, {
      customerId: customer.id,
      regionCode: 'VN',
      product: 'wordpress',
      offer: { price: 218_000n, terms: null, description: { en: 'x', vi: 'x' } },
      currency: 'VND',
      subject: null,
    })
    const issued = await bills.issue(tx, {
      customer: { id: customer.id, name: 'An', email: customer.email, regionCode: 'VN', language: 'vi' },
      currency: 'VND',
      product: 'wordpress',
      lines: [{ description: { en: 'x', vi: 'x' }, quantity: 1n, unitPrice: 218_000n, period: null }],
      subject: null,
      subscriptionId: subscription.id,
      starts: null,
    })
    return { id: subscription.id, invoice: issued.id }
  })
  // The job that tries to charge the empty wallet is over: only what is paid below begins the subscription.
  await house.house.jobs.idle()
  clock.advance(days(paidAfterDays))
  const paid = clock.now()
  // Two transactions: what pays an invoice locks it before the wallet.
  const credit = { key: `late:${id}`, customerId: customer.id, driver: 'vnpay', amount: 218_000n, currency: 'VND', details: {} } as const
  await transaction(db, (tx) => ledger.credit(tx, credit))
  await transaction(db, (tx) => bills.pay(tx, invoice))
  const row = await db.selectFrom('subscription').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return { row, ordered, paid }
}

test('paid within its first month it keeps the day of the order', async () => {
  const { row, ordered } = await subscribed(5)
  expect([row.status, row.anchor_at, row.period_start]).toEqual(['active', ordered, ordered])
})

test('paid after its first month is over it begins with the payment', async () => {
  const { row, paid } = await subscribed(40)
  expect([row.status, row.anchor_at, row.period_start]).toEqual(['active', paid, paid])
  expect(row.period_end!.getTime()).toBeGreaterThan(paid.getTime())
})
