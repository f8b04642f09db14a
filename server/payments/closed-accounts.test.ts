/** Money that comes for a customer who has closed the account waits for a person. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import type { PaymentUpdate } from './driver.ts'

let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  // Nobody asks the gateway by itself.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())

test('it is held once, assigned to no closed wallet, and no payment begins there', async () => {
  const an = await portal.customer()
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token: an.token,
    body: { amount: 500_000, type: 1, method: 'QRPAY' },
  })
  const code = begun.body.result.transactionCode
  const driver = portal.drivers.payments.get('vnpay')
  if (!driver) throw new Error('there is no vnpay')
  const { settlement, orders, checkout } = portal.app.topUps
  const told = (status: PaymentUpdate['status']) =>
    settlement.settle(driver, {
      eventId: `closed-${status}`,
      reference: code,
      providerTransactionId: status === 'succeeded' ? 'CLOSED-1' : null,
      status,
      amount: 500_000n,
      currency: 'VND',
      occurredAt: null,
      detail: '',
    })
  // The customer gave up, and the money comes all the same.
  await told('failed')
  const buyer = await orders.buyerOf(an.id)
  const left = await portal.call('POST', '/api/v1/account/close', {
    token: an.token,
    body: { password: an.password },
  })
  expect(left.status, left.text).toBe(200)

  await Promise.all([told('succeeded'), told('succeeded')])
  await told('succeeded')
  expect((await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance).toBe(0n)
  const held = await portal.app.db
    .selectFrom('payment_suspense')
    .selectAll()
    .where('code', '=', code)
    .execute()
  expect(held).toMatchObject([{ amount: 500_000n, reason: 'account_closed', resolved_at: null }])
  const assigned = await finance.act('money.assign', {
    suspense: Number(held[0]?.id),
    to: code,
    reason: 'asked for by phone',
  })
  expect(assigned.status, assigned.text).toBe(409)
  const another = checkout.begin({
    buyer,
    amount: 100_000,
    ip: '127.0.0.1',
    language: 'en',
    actionId: randomUUID(),
    type: 1,
    method: 'QRPAY',
  })
  await expect(another).rejects.toThrow('forbidden')
  await portal.ledgerHolds()
})
