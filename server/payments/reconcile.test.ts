/** Differences between the gateway, our payments and the ledger are reported; agreement is not. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { days, later, minutes } from '../platform/clock.ts'
import type { PaymentUpdate } from './driver.ts'
import { reconcile } from './reconcile.ts'
import { decidedByHand } from './refund-close.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

const vnpay = { name: 'vnpay', displayName: 'VNPay', credits: 'exact' } as const
const tell = async (
  status: PaymentUpdate['status'],
  reference: string | null,
  amount: bigint,
  movement: string,
): Promise<string> =>
  (
    await portal.app.topUps.settlement.settle(vnpay, {
      eventId: `${status}:${movement}`,
      reference,
      providerTransactionId: movement,
      status,
      amount,
      currency: 'VND',
      occurredAt: null,
      detail: status,
    })
  ).outcome

/**
 * The differences about this code or movement; `at` is the end of the seven days that are compared.
 */
async function differences(
  about: string,
  at = new Date(),
  drivers = portal.drivers.payments,
): Promise<string[]> {
  const found = await reconcile(portal.app.db, portal.app.topUps.orders, drivers, {
    from: later(at, -days(7)),
    to: at,
  })
  return found.differences.filter((one) => one.about === about).map(({ what }) => what)
}
async function paid(): Promise<{ code: string; payment: { id: string } }> {
  const an = await portal.customer()
  const { transactionCode: code } = await portal.topUp(an, 300_000)
  const payment = await eventually('the top-up', () =>
    portal.app.db
      .selectFrom('payment')
      .selectAll()
      .where('code', '=', code)
      .where('status', '=', 'succeeded')
      .executeTakeFirst(),
  )
  return { code, payment }
}

test('a payment that was given back at the gateway only, until we hear of it', async () => {
  const { code } = await paid()
  expect(await differences(code)).toEqual([])
  const { db, topUps } = portal.app
  const row = await db
    .selectFrom('payment')
    .selectAll()
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  const order = topUps.orders.orderOf(row, await topUps.orders.buyerOf(row.customer_id))
  // As a person could do it in VNPay's own portal.
  await portal.drivers.payments.get('vnpay')?.refund?.(order, {
    refundId: 'byhand',
    amount: 300_000n,
    reason: 'by hand',
    providerTransactionId: row.provider_transaction_id,
  })
  expect(await differences(code)).toEqual([
    'was given back at the gateway (300000 VND (minor units)), and 0 VND (minor units) went ' +
      'back here',
  ])
  expect(await tell('refunded', code, 300_000n, 'by-hand')).toBe('recorded')
  expect(await differences(code)).toEqual([])
})

test('a refund that was taken in and that the bank refused later is a question', async () => {
  const { db, topUps } = portal.app
  const an = await portal.customer()
  const byAlepay = await portal.topUpBy(an, { amount: 200_000, type: 2, method: null }, 'paid')
  const { code } = await paid()
  const ended = async (of: string, amount = 150_000n) => {
    await eventually('the top-up', () =>
      db
        .selectFrom('payment')
        .select('id')
        .where('code', '=', of)
        .where('status', '=', 'succeeded')
        .executeTakeFirst(),
    )
    const id = await topUps.refunds.begin(of, amount, 'customer asked')
    await eventually('the refund', () =>
      db
        .selectFrom('payment_refund')
        .select('id')
        .where('id', '=', id)
        .where('status', '=', 'done')
        .executeTakeFirst(),
    )
    return id
  }
  const codes = [code, byAlepay.transactionCode]
  // VNPay does not say which of a payment's refunds was refused, so the newest is queried.
  await ended(code, 20_000n)
  await ended(code)
  const atAlepay = await ended(byAlepay.transactionCode)
  // A refund that a person decided, because the bank had refused it, is not queried again.
  const byHand = await ended(byAlepay.transactionCode, 10_000n)
  await db
    .updateTable('payment_refund')
    .set({ detail: decidedByHand })
    .where('id', '=', byHand)
    .execute()
  await sql`update sandbox.alepay_refunds set status = '111'
    where merchant_refund_code = ${byHand.replaceAll('-', '')}`.execute(db)
  for (const each of codes) expect(await differences(each)).toEqual([])
  await sql`update sandbox.vnpay_payments set refunded = 0, transaction_status = '09'
    where txn_ref = ${code}`.execute(db)
  const named = atAlepay.replaceAll('-', '')
  await sql`update sandbox.alepay_refunds set status = '107'
    where merchant_refund_code = ${named}`.execute(db)
  expect(await differences(byAlepay.transactionCode)).toEqual([])
  await sql`update sandbox.alepay_refunds set status = '111'
    where merchant_refund_code = ${named}`.execute(db)
  // The payments were begun long before: only their refunds fall in the compared days.
  await db
    .updateTable('payment')
    .set({ created_at: later(new Date(), -days(40)) })
    .where('code', '=', byAlepay.transactionCode)
    .execute()
  for (const each of codes)
    expect(await differences(each)).toContain(
      'a refund of 150000 VND (minor units) is done here, and the gateway has refused it since',
    )
  expect(await differences(code, later(new Date(), days(15)))).toEqual([])
})

test('a transfer on top of a payment at payOS whose webhook was lost', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUpBy(
    an,
    { amount: 300_000, type: 2, method: 'VIETQR' },
    'second_lost',
  )
  const { rows } = await sql<{ movement: string }>`
    select l.id || ':' || t.reference as movement from payment p
    join sandbox.payos_links l on l.order_code::text = p.reference
    join sandbox.payos_transfers t using (order_code)
    where p.code = ${transactionCode} order by t.at`.execute(portal.app.db)
  const [first = '', second = ''] = rows.map(({ movement }) => movement)
  expect(await differences(first)).toEqual([])
  expect(await differences(second)).toEqual([
    '300000 VND (minor units) arrived at the gateway, and nothing was posted',
  ])
  expect(await differences(transactionCode)).toEqual([])
})

test('words about money that went back and fits nothing, until they fit', async () => {
  const { code } = await paid()
  expect(await tell('reversed', 'NOBODYS', 70_000n, 'dispute-of-nobody')).toBe('unknown_order')
  expect(await tell('refunded', null, 80_000n, 'refund-of-nobody')).toBe('unknown_order')
  const what = (amount: number, kind: string, outcome: string, movement: string): string =>
    `the gateway says that ${amount} VND (minor units) were ${kind}, and it fits no payment: ` +
    `${outcome} (${movement})`
  expect(await differences('NOBODYS')).toEqual([
    what(70_000, 'reversed', 'unknown_order', 'dispute-of-nobody'),
  ])
  expect(await differences('refund-of-nobody')).toEqual([
    what(80_000, 'refunded', 'unknown_order', 'refund-of-nobody'),
  ])
  // The events arrive in the wrong order.
  expect(await tell('restored', code, 300_000n, 'dispute')).toBe('wrong_amount')
  expect(await tell('restored', code, 300_000n, 'dispute')).toBe('wrong_amount')
  expect(await differences(code)).toEqual([what(300_000, 'restored', 'wrong_amount', 'dispute')])
  expect(await tell('reversed', code, 300_000n, 'dispute')).toBe('recorded')
  expect(await tell('restored', code, 300_000n, 'dispute')).toBe('recorded')
  expect(await differences(code)).toEqual([])
})

test('refunds unanswered for an hour, and what waits at a gateway that was removed', async () => {
  const { code, payment } = await paid()
  const asked = {
    payment_id: payment.id,
    amount: 1_000n,
    reason: 'r',
    status: 'requested',
    created_at: new Date(),
  }
  const id = '00000000-0000-4000-8000-000000000001'
  await portal.app.db
    .insertInto('payment_refund')
    .values({ ...asked, id })
    .execute()
  const stuck =
    'a refund of 1000 VND (minor units) was asked for long ago and has no answer ' + `(${id})`
  expect(await differences(code)).toEqual([])
  expect(await differences(code, later(new Date(), minutes(61)))).toEqual([stuck])
  expect(await tell('succeeded', 'UNKNOWN', 9_000n, 'unknown')).toBe('unknown_order')
  expect(await differences('UNKNOWN', new Date(), new Map())).toEqual([
    expect.stringMatching(
      /^9000 VND \(minor units\) wait in suspense: unknown_order \(no\. \d+\)$/,
    ),
  ])
  expect(await differences(code, later(new Date(), minutes(61)), new Map())).toEqual([stuck])
})
