/** Differences at the desk: found, shown with their age, and closed by an act. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Question } from '../../contract/operator-money.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, hours, later } from '../platform/clock.ts'
import { ageOf } from './open-questions.ts'
import { reconcileDriver } from './reconcile.ts'

/** The payments that VNPay was asked about, and when those began that a test makes older. */
const askedAbout: string[] = []
const beganAt = new Map<string, Date>()
let portal: TestPortal
let finance: TestMember
let otherFinance: TestMember
let support: TestMember
beforeAll(async () => {
  // Nobody asks the gateway by itself unless a test says so.
  portal = await openTestPortal({
    timing: { askGatewaySeconds: [3600] },
    changeDrivers(drivers) {
      const vnpay = drivers.payments.get('vnpay')
      if (!vnpay) throw new Error('the sandbox has VNPay')
      const counted = {
        ...vnpay,
        lookUp: (order: Parameters<typeof vnpay.lookUp>[0]) => {
          askedAbout.push(order.code)
          // The sandbox knows a payment by the moment at which it was really begun.
          return vnpay.lookUp({ ...order, createdAt: beganAt.get(order.code) ?? order.createdAt })
        },
      }
      return { ...drivers, payments: new Map([...drivers.payments, ['vnpay', counted]]) }
    },
  })
  finance = await newMember(portal, 'finance')
  otherFinance = await newMember(portal, 'finance')
  support = await newMember(portal, 'support')
})
afterAll(() => portal.close())

const reason = 'looked at with the gateway'
const items = async (): Promise<Question[]> =>
  (await support.call<{ items: Question[] }>('GET', '/api/operator/reconciliation')).body.result
    .items
const itemOf = async (about: string): Promise<Question | undefined> =>
  (await items()).find((item) => item.about === about)
async function compare(gateway = 'vnpay'): Promise<void> {
  const done = await finance.act('reconcile.compare', { gateway, reason })
  expect(done.status, done.text).toBe(200)
  await jobsIdle(portal.app.db)
}
const paymentOf = (an: TestCustomer) =>
  portal.app.db
    .selectFrom('payment')
    .selectAll()
    .where('customer_id', '=', an.id)
    .executeTakeFirstOrThrow()
const balanceOf = async ({ token }: TestCustomer): Promise<number> =>
  (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result.balance
async function refundAtTheGateway(code: string, amount: bigint): Promise<void> {
  const { topUps, db } = portal.app
  const row = await db
    .selectFrom('payment')
    .selectAll()
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  const order = topUps.orders.orderOf(row, await topUps.orders.buyerOf(row.customer_id))
  await portal.drivers.payments.get('vnpay')?.refund?.(order, {
    refundId: randomUUID().replaceAll('-', ''),
    amount,
    reason: 'by hand',
    providerTransactionId: row.provider_transaction_id,
  })
}
const houseBalance = async (code: string): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', code)
      .executeTakeFirstOrThrow()
  ).balance

test('a payment whose webhook was lost is found, asked about and credited', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 300_000, 'lost')
  const { code } = await paymentOf(an)
  expect(await itemOf(code)).toBeUndefined()
  await compare()
  const item = await itemOf(code)
  expect(item).toMatchObject({
    kind: 'paid_there',
    gateway: 'VNPay',
    here: 0,
    there: 300_000,
    age: 'fresh',
    file: null,
  })
  const wish = { item: item?.id, reason }
  expect((await support.act('reconcile.ask', wish)).status).toBe(403)
  expect((await finance.act('reconcile.ask', wish)).status).toBe(200)
  await jobsIdle(portal.app.db)
  expect(await balanceOf(an)).toBe(300_000)
  expect(await itemOf(code)).toBeUndefined()
  expect((await finance.act('reconcile.ask', wish)).status).toBe(409)
  await portal.ledgerHolds()
})

test('what was given back at the gateway is closed until its figures change', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 300_000)
  const { code } = await paymentOf(an)
  await refundAtTheGateway(code, 300_000n)
  await compare()
  const item = await itemOf(code)
  expect(item).toMatchObject({ kind: 'given_back_there', here: 0, there: 300_000 })
  const closed = await finance.act<ActOutcome>('reconcile.close', { item: item?.id, reason })
  expect(closed.body.result).toMatchObject({ state: 'done', before: { amount: 300_000 } })
  await compare()
  expect(await itemOf(code)).toBeUndefined()
  await portal.app.db
    .updateTable('payment_difference')
    .set({ there: 1n })
    .where('about', '=', code)
    .execute()
  await compare()
  expect(await itemOf(code)).toMatchObject({ id: item?.id, there: 300_000 })
})

test('an old question is asked about alone, and no more what was never paid', async () => {
  const { db, topUps, ledger } = portal.app
  const [open, paid] = [await portal.customer(), await portal.customer()]
  for (const an of [open, paid]) await portal.topUp(an, 300_000)
  const [{ code, created_at: openBegan }, { code: paidCode }] = [
    await paymentOf(open),
    await paymentOf(paid),
  ]
  beganAt.set(code, openBegan)
  const begun = async (): Promise<string> => {
    const { token } = await portal.customer()
    const body = { amount: 300_000, type: 1, method: 'QRPAY' }
    const answer = await portal.call<{ transactionCode: string }>(
      'POST',
      '/api/payments/checkout',
      { token, body },
    )
    return answer.body.result.transactionCode
  }
  const [longUnpaid, unpaid] = [await begun(), await begun()]
  await refundAtTheGateway(code, 300_000n)
  await compare()
  expect(await itemOf(code)).toMatchObject({ kind: 'given_back_there' })
  const now = new Date()
  const began = (of: string, count: number) =>
    db
      .updateTable('payment')
      .set({ created_at: later(now, -days(count)) })
      .where('code', '=', of)
      .execute()
  await Promise.all([began(code, 40), began(paidCode, 20), began(longUnpaid, 2)])
  const at = later(now, -days(40))
  await db.updateTable('payment_difference').set({ at }).where('about', '=', code).execute()
  const movement = {
    driver: 'vnpay',
    kind: 'nothing_posted',
    about: 'MOVED-1',
    here: null,
    there: 5_000n,
    currency: 'VND',
    at,
    found_at: at,
    seen_at: at,
  }
  await db.insertInto('payment_difference').values(movement).execute()

  askedAbout.length = 0
  await compare()
  expect(askedAbout).toContain(code)
  expect(askedAbout).toContain(unpaid)
  expect(askedAbout).not.toContain(paidCode)
  expect(askedAbout).not.toContain(longUnpaid)
  expect(await itemOf(code)).toMatchObject({ kind: 'given_back_there' })
  expect(await itemOf('MOVED-1')).toBeDefined()

  // A gateway that was not reached at the last comparison is asked about them again.
  await db.updateTable('payment_comparison').set({ reached: false }).execute()
  await compare()
  expect(askedAbout).toContain(longUnpaid)
  const vnpay = { name: 'vnpay', displayName: 'VNPay', credits: 'exact' } as const
  await topUps.settlement.settle(vnpay, {
    eventId: 'heard-of-it',
    reference: code,
    providerTransactionId: 'heard-of-it',
    status: 'refunded',
    amount: 300_000n,
    currency: 'VND',
    occurredAt: null,
    detail: 'refunded',
  })
  await db.transaction().execute((tx) =>
    ledger.credit(tx, {
      key: 'vnpay:MOVED-1',
      customerId: paid.id,
      driver: 'vnpay',
      amount: 5_000n,
      currency: 'VND',
      details: { provider: 'VNPay', code: paidCode },
    }),
  )
  await compare()
  expect([await itemOf(code), await itemOf('MOVED-1')]).toEqual([undefined, undefined])
})

test('a comparison ends once it is told to, and asks about nothing more', async () => {
  for (let n = 0; n < 3; n++) await portal.topUp(await portal.customer(), 300_000)
  const stop = new AbortController()
  const { db, topUps } = portal.app
  const vnpay = portal.drivers.payments.get('vnpay')
  if (!vnpay) throw new Error('the sandbox has VNPay')
  let asked = 0
  const stopping = {
    ...vnpay,
    lookUp: (order: Parameters<typeof vnpay.lookUp>[0]) => {
      asked += 1
      stop.abort()
      return vnpay.lookUp(order)
    },
  }
  const span = { from: later(new Date(), -days(7)), to: new Date() }
  await expect(
    reconcileDriver(db, topUps.orders, stopping, span, undefined, stop.signal),
  ).rejects.toThrow(/abort/)
  expect(asked).toBe(1)
})

test('above the limit two members close it', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 8_000_000)
  const { code } = await paymentOf(an)
  await refundAtTheGateway(code, 8_000_000n)
  await compare()
  const item = await itemOf(code)
  const close = await finance.act<ActOutcome>('reconcile.close', { item: item?.id, reason })
  expect(close.body.result.state).toBe('proposed')
  expect(await itemOf(code)).toBeDefined()
  const approval = `/api/operator/proposals/${close.body.result.proposal}/approve`
  expect((await otherFinance.call('POST', approval)).status).toBe(200)
  expect(await itemOf(code)).toBeUndefined()
})

test('lines of a file stand there with it, and the bank’s own word is matched', async () => {
  const file = 'transaction,amount,fee\nNOBODY-1,70000,500\n'
  const imported = await finance.act('payout.import', {
    gateway: 'vnpay',
    reference: 'VNP-1',
    currency: 'VND',
    amount: 69_000,
    arrivedOn: '2026-11-20',
    fileName: 'vnpay-20.csv',
    file,
    reason,
  })
  expect(imported.status, imported.text).toBe(200)
  const line = await itemOf('NOBODY-1')
  expect(line).toMatchObject({ kind: 'line', file: 'vnpay-20.csv', there: 70_000 })
  const sum = await itemOf('VNP-1')
  expect(sum).toMatchObject({ kind: 'payout', here: 69_500, there: 69_000 })
  for (const item of [line?.id, sum?.id])
    expect((await finance.act('reconcile.close', { item, reason })).status).toBe(200)
  expect([await itemOf('NOBODY-1'), await itemOf('VNP-1')]).toEqual([undefined, undefined])

  const bank = { name: 'bank', displayName: 'Bank', credits: 'received' } as const
  const settled = await portal.app.topUps.settlement.settle(bank, {
    eventId: 'vnpay-transfer',
    reference: null,
    providerTransactionId: 'FT-VNPAY-1',
    status: 'succeeded',
    amount: 69_000n,
    currency: 'VND',
    occurredAt: null,
    detail: 'VNPAY CHI TRA',
  })
  expect(settled.outcome).toBe('unknown_order')
  const parked = await itemOf('FT-VNPAY-1')
  const suspense = Number(parked?.id.split(':')[1])
  const held = await houseBalance('bank:VND')
  const match = { suspense, payout: 'VNP-1', reason }
  const wrong = await finance.act('payout.match', { ...match, payout: 'VNP-2' })
  expect(wrong.body.error?.fields).toHaveProperty('payout')
  expect((await finance.act('payout.match', match)).status).toBe(200)
  expect((await finance.act('payout.match', match)).status).toBe(409)
  expect(await itemOf('FT-VNPAY-1')).toBeUndefined()
  expect(await houseBalance('suspense:bank:VND')).toBe(0n)
  // It is now on the account of the bank's feed and no longer on the one of pay-outs.
  expect(await houseBalance('bank:VND')).toBe(held + 69_000n)
  await portal.ledgerHolds()
})

test('a refund without an answer is decided, once', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 100_000)
  const { id: payment, code } = await paymentOf(an)
  await portal.app.db.transaction().execute((tx) =>
    portal.app.ledger.withhold(tx, {
      key: 'refund:00000000-0000-4000-8000-00000000000a',
      customerId: an.id,
      driver: 'vnpay',
      amount: 40_000n,
      currency: 'VND',
      details: { provider: 'VNPay', code },
    }),
  )
  await portal.app.db
    .insertInto('payment_refund')
    .values({
      id: '00000000-0000-4000-8000-00000000000a',
      payment_id: payment,
      amount: 40_000n,
      reason: 'r',
      status: 'unclear',
      created_at: later(new Date(), -days(9)),
    })
    .execute()
  const item = await itemOf(code)
  expect(item).toMatchObject({ kind: 'refund', here: 40_000, age: 'month' })
  const refund = item?.id.slice('refund:'.length)
  const refused = await finance.act('reconcile.close', { item: item?.id, reason })
  expect(refused.body.error?.fields).toHaveProperty('item')
  const done = await finance.act('refund.decide', { refund, outcome: 'refused', reason })
  expect(done.status, done.text).toBe(200)
  expect(await balanceOf(an)).toBe(100_000)
  expect((await finance.act('refund.decide', { refund, outcome: 'done', reason })).status).toBe(409)
  await portal.ledgerHolds()
})

test('a command closes too, and tries it first', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 50_000)
  const { code } = await paymentOf(an)
  await refundAtTheGateway(code, 50_000n)
  await compare()
  const { id = '' } = (await itemOf(code)) ?? {}
  const words = ['act', 'reconcile.close', '--item', id, '--reason', reason]
  const tried = await runCommand(portal, {}, ...words, '--dry-run', '--json')
  expect(JSON.parse(tried.said)).toMatchObject({ dryRun: true, state: 'done' })
  expect(await itemOf(code)).toBeDefined()
  expect((await runCommand(portal, {}, ...words)).code).toBe(0)
  await eventually('it is closed', async () => (await itemOf(code)) === undefined)
})

test('an age is one of four, and never falls', () => {
  const order = ['fresh', 'week', 'month', 'older']
  const now = new Date('2026-11-25T12:00:00Z')
  const steps = [0, 47, 48, 191, 192, 743, 744, 9000].map((old) =>
    ageOf(later(now, -hours(old)), now),
  )
  expect(steps).toEqual(order.flatMap((each) => [each, each]))
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(5000), (a, b) => {
      const [young, old] = [Math.min(a, b), Math.max(a, b)].map((each) =>
        order.indexOf(ageOf(later(now, -hours(each)), now)),
      )
      expect(young).toBeLessThanOrEqual(old ?? 0)
    }),
  )
})
