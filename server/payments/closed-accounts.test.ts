/** Money that comes for a customer who has closed the account waits for a person. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import type { PaymentUpdate } from './driver.ts'

let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  // No scheduled query reaches the gateway.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())

/** A payment of 500 000 that failed, and whose customer has left. */
async function left() {
  const an = await portal.customer()
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token: an.token,
    body: { amount: 500_000, type: 1, method: 'QRPAY' },
  })
  const code = begun.body.result.transactionCode
  const buyer = await portal.app.topUps.orders.buyerOf(an.id)
  // The customer cancelled, and the money arrives nevertheless.
  await tell(code, 'failed')
  await close(an)
  return { an, code, buyer }
}
async function close(an: TestCustomer): Promise<void> {
  const closed = await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  expect(closed.status, closed.text).toBe(200)
}
async function tell(
  code: string,
  status: PaymentUpdate['status'],
  more: Partial<PaymentUpdate> = {},
): Promise<string> {
  const driver = portal.drivers.payments.get('vnpay')
  if (!driver) throw new Error('there is no vnpay')
  const { outcome } = await portal.app.topUps.settlement.settle(driver, {
    eventId: `${status} ${code}`,
    reference: code,
    providerTransactionId: status === 'succeeded' ? `came ${code}` : null,
    status,
    amount: 500_000n,
    currency: 'VND',
    occurredAt: null,
    detail: '',
    ...more,
  })
  return outcome
}
const held = (code: string) =>
  portal.app.db.selectFrom('payment_suspense').selectAll().where('code', '=', code).execute()
const account = async (code: string): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', code)
      .executeTakeFirstOrThrow()
  ).balance
const accounts = async () => [
  await account('suspense:vnpay:VND'),
  await account('gateway:vnpay:VND'),
]
const reason = 'asked for by phone'

test('it is held once, assigned to no closed wallet, and no payment begins there', async () => {
  const { an, code, buyer } = await left()
  const succeeded = () => tell(code, 'succeeded')
  await Promise.all([succeeded(), succeeded()])
  await succeeded()
  expect((await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance).toBe(0n)
  expect(await held(code)).toMatchObject([
    { amount: 500_000n, reason: 'account_closed', resolved_at: null },
  ])
  const suspense = Number((await held(code))[0]?.id)
  const assigned = await finance.act('money.assign', { suspense, to: code, reason })
  expect(assigned.status, assigned.text).toBe(409)
  const another = portal.app.topUps.checkout.begin({
    buyer,
    amount: 100_000,
    ip: '127.0.0.1',
    language: 'en',
    actionId: randomUUID(),
    type: 1,
    method: 'QRPAY',
  })
  await expect(another).rejects.toThrow('forbidden')
  const credited = await finance.act('money.credit', {
    customer: an.id,
    amount: 1000,
    currency: 'VND',
    told: 'for the trouble',
    reason,
  })
  expect(credited.status, credited.text).toBe(409)
  await portal.ledgerHolds()
})

test('sent back by a person it is booked out once, whatever the gateway says of it', async () => {
  const { code } = await left()
  const before = await accounts()
  await tell(code, 'succeeded')
  const suspense = Number((await held(code))[0]?.id)
  const sentBack = () => finance.act('money.return', { suspense, reason })
  const [first, second] = [await sentBack(), await sentBack()]
  expect([first.status, second.status], first.text).toEqual([200, 409])
  expect(await tell(code, 'refunded')).toBe('already')
  await tell(code, 'succeeded')
  expect(await accounts()).toEqual(before)
  expect(await held(code)).toMatchObject([{ resolved_at: expect.any(Date) as Date }])
  expect((await finance.act('money.return', { suspense: 999_999, reason })).status).toBe(404)
  await portal.ledgerHolds()
})

test('given back at the gateway it is booked out by its webhook, once', async () => {
  const { code } = await left()
  const before = await accounts()
  await tell(code, 'succeeded')
  expect(await accounts()).not.toEqual(before)
  // A part of it is for a person to explain.
  expect(await tell(code, 'refunded', { amount: 200_000n, eventId: 'a part' })).toBe('wrong_amount')
  const back = { providerTransactionId: `back ${code}` }
  expect(await tell(code, 'refunded', back)).toBe('recorded')
  expect(await tell(code, 'refunded', { ...back, eventId: 'again' })).toBe('already')
  expect(await accounts()).toEqual(before)
  const suspense = Number((await held(code))[0]?.id)
  expect((await finance.act('money.return', { suspense, reason })).status).toBe(409)
  await portal.ledgerHolds()
})

test('given back before anybody was told that it came, nothing waits', async () => {
  const { code } = await left()
  const before = await accounts()
  expect(await tell(code, 'refunded')).toBe('recorded')
  expect(await tell(code, 'refunded')).toBe('already')
  expect(await tell(code, 'succeeded')).toBe('already')
  expect(await held(code)).toEqual([])
  expect(await accounts()).toEqual(before)
  await portal.ledgerHolds()
})

test('a chargeback that is won after the closing waits for a person', async () => {
  const an = await portal.customer()
  const { transactionCode: code } = await portal.topUp(an, 500_000)
  await eventually('the top-up', async () => {
    const { balance } = await portal.app.ledger.balanceOf(portal.app.db, an.id)
    return balance === 500_000n
  })
  const dispute = { providerTransactionId: `dispute ${code}` }
  expect(await tell(code, 'reversed', dispute)).toBe('recorded')
  await close(an)
  expect(await tell(code, 'restored', dispute)).toBe('recorded')
  expect(await tell(code, 'restored', dispute)).toBe('already')
  expect((await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance).toBe(0n)
  expect(await held(code)).toMatchObject([
    { amount: 500_000n, reason: 'account_closed', resolved_at: null },
  ])
  await portal.ledgerHolds()
})
