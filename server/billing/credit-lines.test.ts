/**
 * A customer with a credit line: renewals that are lent, letters, due and overdue debts, and
 * repayment.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { calendarOf } from '../../test/billing-calendar.ts'
import { offerAt, openTestBilling, type Buyer, type TestBilling } from '../../test/test-billing.ts'
import { transaction } from '../platform/db.ts'
import { endOfDayAfter } from './period.ts'

let billing: TestBilling
beforeAll(async () => {
  billing = await openTestBilling('2027-03-01T03:00:00Z')
})
afterAll(async () => {
  await billing.ledgerHolds()
  await billing.close()
})

const { at, eventsOf } = calendarOf(() => billing)
const price = 218_000n

const line = (customer: Buyer, limit: bigint, termDays = 14) =>
  transaction(billing.db, (tx) =>
    billing.bills.changeCreditLine(tx, {
      customerId: customer.id,
      currency: 'VND',
      limit,
      termDays,
    }),
  )
const lineOf = (customer: Buyer) => billing.ledger.creditLineOf(billing.db, customer.id)
/** Runs the hourly job for letters at a moment. */
async function letters(moment: string): Promise<void> {
  await at(moment)
  await billing.bills.writeCreditLetters()
}
const subjects = (customer: Buyer): string[] =>
  billing.mails
    .filter(({ to }) => to === customer.email)
    .map(({ subject }) => subject.replaceAll('\u00A0', ' '))
const lastText = (customer: Buyer): string =>
  (billing.mails.findLast(({ to }) => to === customer.email)?.text ?? '').replaceAll('\u00A0', ' ')

test('a renewal that is short is lent, told, reminded of once, and paid back first', async () => {
  await at('2027-03-01T03:00:00Z')
  const an = await billing.customer({ balance: price + 18_000n })
  const id = await billing.order(an, offerAt(price))
  await line(an, 500_000n)
  expect(subjects(an).at(-1)).toBe('Bạn có hạn mức công nợ 500.000 đ')
  await at('2027-04-01T03:00:00Z')
  expect(await billing.invoices(id)).toEqual([
    `order ${price} paid`,
    `renewal ${price} paid 2027-04-01`,
  ])
  expect(await billing.balance(an)).toBe(0n)
  expect(eventsOf(an)).not.toContain('invoice.payment_failed')
  // It ends with the day in Vietnam.
  expect(await lineOf(an)).toMatchObject({
    owed: 200_000n,
    available: 300_000n,
    dueAt: new Date('2027-04-15T16:59:59Z'),
    stopped: null,
  })
  expect(subjects(an).at(-1)).toMatch(/^Đã thanh toán hoá đơn VN-2027-\d{6} theo hạn mức công nợ$/)
  expect(lastText(an)).toContain(
    'Trong đó 200.000 đ được ghi nợ theo hạn mức công nợ. Bạn đang nợ tổng cộng 200.000 đ; khoản ' +
      'đầu tiên đến hạn ngày 2027-04-15.',
  )
  expect(eventsOf(an).filter((event) => event === 'wallet.credit_line')).toHaveLength(2)

  await letters('2027-04-12T16:59:58Z')
  const before = subjects(an).length
  await letters('2027-04-12T17:00:00Z')
  await letters('2027-04-13T17:00:00Z')
  expect(subjects(an).slice(before)).toEqual(['Khoản nợ của bạn đến hạn ngày 2027-04-15'])

  await billing.topUp(an, 250_000n)
  expect(await billing.balance(an)).toBe(50_000n)
  expect(await lineOf(an)).toMatchObject({ owed: 0n, available: 500_000n, dueAt: null })
  await letters('2027-04-16T00:00:00Z')
  expect(subjects(an).slice(before)).toHaveLength(1)
})

test('overdue: nothing more is lent, the server is suspended until it is paid', async () => {
  await at('2027-05-01T03:00:00Z')
  const an = await billing.customer({ balance: price })
  const id = await billing.order(an, offerAt(price))
  await line(an, 1_000_000n)
  await at('2027-06-01T03:00:00Z')
  expect((await billing.subscription(id))?.status).toBe('active')
  await letters('2027-06-15T17:00:00Z')
  expect(subjects(an).at(-1)).toBe('Khoản nợ của bạn đã quá hạn')
  expect(await lineOf(an)).toMatchObject({ available: 0n, stopped: 'overdue' })
  await at('2027-07-01T03:00:00Z')
  expect((await billing.subscription(id))?.status).toBe('past_due')
  await at('2027-07-08T03:00:00Z')
  expect((await billing.subscription(id))?.status).toBe('suspended')
  expect(await lineOf(an)).toMatchObject({ owed: price })
  // The top-up pays the debt first. The line then lends again, and covers what the rest is short
  // of.
  await billing.topUp(an, price + 100_000n)
  expect((await billing.subscription(id))?.status).toBe('active')
  expect(await billing.balance(an)).toBe(0n)
  expect(await lineOf(an)).toMatchObject({ owed: price - 100_000n, stopped: null })
})

test('an agency with many servers reads few letters', async () => {
  await at('2027-08-01T03:00:00Z')
  const agency = await billing.customer({ balance: price * 12n })
  for (let day = 1; day <= 12; day++) {
    await at(`2027-08-${String(day).padStart(2, '0')}T03:00:00Z`)
    await billing.order(agency, offerAt(price))
  }
  await line(agency, price * 20n)
  for (let day = 1; day <= 12; day++) await at(`2027-09-${String(day).padStart(2, '0')}T03:00:00Z`)
  expect(await lineOf(agency)).toMatchObject({ owed: price * 12n })
  const before = subjects(agency).length
  const debts = await billing.db
    .selectFrom('wallet_debt')
    .select('due_at')
    .where('customer_id', '=', agency.id)
    .execute()
  expect(debts).toHaveLength(12)
  for (let day = 12; day <= 30; day++) await letters(`2027-09-${day}T20:00:00Z`)
  const told = subjects(agency).slice(before)
  expect(told.filter((subject) => subject === 'Khoản nợ của bạn đã quá hạn')).toHaveLength(1)
  expect(told.length).toBeLessThanOrEqual(4)
})

test('a line for a suspended customer pays what waits; new things are not lent', async () => {
  await at('2027-10-01T03:00:00Z')
  const an = await billing.customer({ balance: price })
  const id = await billing.order(an, offerAt(price))
  await at('2027-11-01T03:00:00Z')
  await at('2027-11-08T03:00:00Z')
  expect((await billing.subscription(id))?.status).toBe('suspended')
  await line(an, 300_000n)
  await billing.payJobs()
  expect((await billing.subscription(id))?.status).toBe('active')
  expect(await lineOf(an)).toMatchObject({ owed: price })

  const binh = await billing.customer()
  await line(binh, 1_000_000n)
  const order = await billing.order(binh, offerAt(price))
  expect((await billing.subscription(order))?.status).toBe('pending')
  await billing.topUp(binh, price)
  const change = transaction(billing.db, (tx) =>
    billing.bills.changePrice(tx, {
      subscriptionId: order,
      to: offerAt(price * 2n),
      change: {},
      starts: null,
    }),
  )
  await expect(change).rejects.toMatchObject({ code: 'insufficient_balance' })
  expect(await lineOf(binh)).toMatchObject({ owed: 0n })
})

test('changed and ended: the letters say what is owed still', async () => {
  await at('2027-12-01T03:00:00Z')
  const an = await billing.customer({ balance: price })
  await billing.order(an, offerAt(price))
  await line(an, 400_000n)
  await at('2028-01-01T03:00:00Z')
  await line(an, 100_000n)
  expect(subjects(an).at(-1)).toBe('Hạn mức công nợ của bạn nay là 100.000 đ')
  const { before, after } = await line(an, 0n)
  expect([before?.limit, after?.limit, after?.owed]).toEqual([100_000n, 0n, price])
  expect(subjects(an).at(-1)).toBe('Hạn mức công nợ của bạn đã kết thúc')
  expect(lastText(an)).toContain('Bạn đang nợ tổng cộng 218.000 đ; khoản đầu tiên đến hạn ngày')
})

test('a day ends on the clocks of the customer, also when they change', () => {
  const end = (zone: string, moment: string, days: number): string =>
    endOfDayAfter(zone, new Date(moment), days).toISOString()
  expect(end('Asia/Ho_Chi_Minh', '2027-04-01T16:59:59Z', 1)).toBe('2027-04-02T16:59:59.000Z')
  expect(end('Asia/Ho_Chi_Minh', '2027-04-01T17:00:00Z', 1)).toBe('2027-04-03T16:59:59.000Z')
  expect(end('Australia/Sydney', '2027-04-01T00:00:00Z', 3)).toBe('2027-04-04T13:59:59.000Z')
  expect(end('UTC', '2028-02-28T12:00:00Z', 1)).toBe('2028-02-29T23:59:59.000Z')
})
