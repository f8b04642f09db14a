/** Unrequested reports of the gateway about our refunds, in any order. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { refundsThrough } from '../../test/refunding-gateway.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { PaymentUpdate } from './driver.ts'

/** How the next refund fails; the gateway heard it or not. */
let failure: DriverFailure | undefined
/** The next refunds wait for it before they reach the gateway. */
let hold: (() => Promise<void>) | undefined
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({
    changeDrivers: refundsThrough(async (refund, ...asked) => {
      if (failure) throw failure
      await hold?.()
      return await refund(...asked)
    }),
  })
})
afterAll(() => portal.close())

const balance = async ({ id }: TestCustomer): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, id)).balance
const statusOf = async (id: string): Promise<string> =>
  (
    await portal.app.db
      .selectFrom('payment_refund')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).status
/** A top-up of 300 000, and a refund of it that ends so. */
async function refunded(kind: 'rejected' | 'unclear', wanted: string) {
  const an = await portal.customer()
  const { transactionCode: code } = await portal.topUp(an, 300_000)
  await eventually('the top-up', async () => (await balance(an)) === 300_000n)
  failure = new DriverFailure(kind, 'as the test wishes')
  const id = await portal.app.topUps.refunds.begin(code, undefined, 'customer asked')
  if (kind === 'unclear')
    await portal.app.db
      .updateTable('payment_refund')
      .set({ status: 'unclear' })
      .where('id', '=', id)
      .execute()
  await eventually('the end of the refund', async () => (await statusOf(id)) === wanted)
  failure = undefined
  return { an, code, id }
}
const tell = async (
  { code, id }: { code: string; id: string },
  status: PaymentUpdate['status'],
  amount = 300_000n,
): Promise<string> =>
  (
    await portal.app.topUps.settlement.settle(
      { name: 'vnpay', displayName: 'VNPay', credits: 'exact' },
      {
        eventId: `${status} ${id}`,
        reference: code,
        providerTransactionId: `refund ${id}`,
        refundId: id.replaceAll('-', ''),
        status,
        amount,
        currency: 'VND',
        occurredAt: null,
        detail: `refund ${status}`,
      },
    )
  ).outcome
const unexplained = async (): Promise<string[]> =>
  (await portal.app.db.selectFrom('payment_reversal_unmatched').selectAll().execute()).map(
    ({ movement }) => movement,
  )

test('one without an answer is done once the gateway says so, and nobody decides it', async () => {
  const refund = await refunded('unclear', 'unclear')
  expect(await tell(refund, 'refunded', 299_999n)).toBe('already')
  expect(await statusOf(refund.id)).toBe('unclear')
  expect(await Promise.all([tell(refund, 'refunded'), tell(refund, 'refunded')])).toEqual([
    'already',
    'already',
  ])
  expect(await statusOf(refund.id)).toBe('done')
  expect(await balance(refund.an)).toBe(0n)
  const decided = portal.app.topUps.refunds.decide(refund.id, 'refused')
  await expect(decided).rejects.toThrow(/is done/)
  // The bank did not take it after all.
  expect(await tell(refund, 'restored')).toBe('recorded')
  expect(await balance(refund.an)).toBe(300_000n)
  await portal.ledgerHolds()
})

test('one that was given back, and is made after all, leaves the wallet', async () => {
  const refund = await refunded('rejected', 'refused')
  expect(await balance(refund.an)).toBe(300_000n)
  expect(await tell(refund, 'refunded')).toBe('recorded')
  expect(await tell(refund, 'refunded')).toBe('already')
  expect(await balance(refund.an)).toBe(0n)
  expect(await tell(refund, 'restored')).toBe('recorded')
  expect(await balance(refund.an)).toBe(300_000n)
  await portal.ledgerHolds()
})

test('that it failed may be told before that it was made: nothing moves', async () => {
  const refund = await refunded('rejected', 'refused')
  expect(await tell(refund, 'restored')).toBe('already')
  expect(await tell(refund, 'refunded')).toBe('already')
  expect(await balance(refund.an)).toBe(300_000n)
  // Nothing was refunded: the whole payment can still be refunded.
  const next = await portal.app.topUps.refunds.begin(refund.code, 300_000n, 'customer asked')
  await eventually('the refund', async () => (await statusOf(next)) === 'done')
  await portal.ledgerHolds()
})

test('an attempt that succeeds after a person gave it up is there to be explained', async () => {
  const an = await portal.customer()
  const { transactionCode: code } = await portal.topUp(an, 300_000)
  await eventually('the top-up', async () => (await balance(an)) === 300_000n)
  const heard = Promise.withResolvers<void>()
  const mayGo = Promise.withResolvers<void>()
  hold = async () => {
    heard.resolve()
    await mayGo.promise
  }
  try {
    const id = await portal.app.topUps.refunds.begin(code, undefined, 'customer asked')
    await heard.promise
    await portal.app.db
      .updateTable('payment_refund')
      .set({ status: 'unclear' })
      .where('id', '=', id)
      .execute()
    await portal.app.topUps.refunds.decide(id, 'refused')
    mayGo.resolve()
    await eventually('the question', async () => (await unexplained()).length > 0)
    expect(await statusOf(id)).toBe('refused')
    await portal.ledgerHolds()
  } finally {
    hold = undefined
  }
})

test('where the gateway refuses, a transfer is entered, unless the account is closed', async () => {
  const { refunds } = portal.app.topUps
  const enter = (code: string) =>
    transaction(portal.app.db, (tx) => refunds.recordIn(tx, code, undefined, 'FT26332001'))
  const { an, code } = await refunded('rejected', 'refused')
  await enter(code)
  expect(await balance(an)).toBe(0n)
  await expect(enter(code)).rejects.toThrow('0 are left')
  const { transactionCode: other } = await portal.topUp(an, 300_000)
  await eventually('the top-up', async () => (await balance(an)) === 300_000n)
  await expect(enter(other)).rejects.toThrow('gives money back itself')
  await sql`update customer set closed_at = now() where id = ${an.id}`.execute(portal.app.db)
  await expect(enter(other)).rejects.toThrow('is closed')
  await portal.ledgerHolds()
})
