/** Days in letters are those of the screens: of the time zone that the customer chose, if any. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, type TestBilling } from '../../test/test-billing.ts'
import { transaction } from '../platform/db.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-05-01T03:00:00Z')
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at } = calendarOf(() => billing)
const price = 218_000n

/** Two customers of the region VN: one chose a time zone, the other did not. */
async function customers(balance: bigint, zone = 'America/Los_Angeles') {
  const [chose, other] = [await billing.customer({ balance }), await billing.customer({ balance })]
  await billing.db
    .updateTable('customer')
    .set({ time_zone: zone })
    .where('id', '=', chose.id)
    .execute()
  return { chose, other }
}
const lastLetterTo = ({ email }: { email: string }): string | undefined =>
  billing.mails.findLast(({ to }) => to === email)?.text

test('an unpaid order lapses on the day, and at the time, of the chosen zone', async () => {
  await at('2027-06-10T00:00:00Z')
  const { chose, other } = await customers(0n)
  for (const one of [chose, other]) await billing.order(one, offerAt(price))
  await at('2027-06-11T00:00:00Z')
  expect(lastLetterTo(chose)).toContain('2027-06-16')
  expect(lastLetterTo(other)).toContain('2027-06-17')
  await at('2027-06-17T00:00:00Z')
  expect(lastLetterTo(chose)).toContain('17:00 ngày 2027-06-16')
  expect(lastLetterTo(other)).toContain('07:00 ngày 2027-06-17')
})

test('an unpaid renewal is suspended on the day of the chosen zone', async () => {
  await at('2027-08-10T00:00:00Z')
  const { chose, other } = await customers(price)
  for (const one of [chose, other]) await billing.order(one, offerAt(price))
  await at('2027-09-10T00:00:00Z')
  await at('2027-09-13T00:00:00Z')
  expect(lastLetterTo(chose)).toContain('2027-09-16')
  expect(lastLetterTo(other)).toContain('2027-09-17')
})

test('time to pay ends with the day that is named, eastward of the region as well', async () => {
  await at('2027-10-10T00:00:00Z')
  const { chose } = await customers(price, 'Pacific/Auckland')
  const id = await billing.order(chose, offerAt(price))
  await at('2027-11-10T00:00:00Z')
  await transaction(billing.db, (tx) => billing.bills.desk.putOff(tx, id, '2027-11-25'))
  expect(lastLetterTo(chose)).toContain('tạm ngưng ngày 2027-11-25')
  expect((await billing.subscription(id))?.unpaid?.suspendsAt).toBe('2027-11-25T10:59:59.000Z')

  const line = { customerId: chose.id, currency: 'VND', limit: 500_000n, termDays: 14 } as const
  await transaction(billing.db, (tx) => billing.bills.changeCreditLine(tx, line))
  await billing.payJobs()
  const lent = await billing.ledger.creditLineOf(billing.db, chose.id)
  expect(lent?.dueAt).toEqual(new Date('2027-11-24T10:59:59Z'))
  expect(lastLetterTo(chose)).toContain('đến hạn ngày 2027-11-24')
  // Read further to the west, the day that is whole by then.
  await billing.db
    .updateTable('customer')
    .set({ time_zone: 'Asia/Ho_Chi_Minh' })
    .where('id', '=', chose.id)
    .execute()
  await at('2027-11-22T00:00:00Z')
  await billing.bills.writeCreditLetters()
  expect(lastLetterTo(chose)).toContain('đến hạn ngày 2027-11-23')
})
