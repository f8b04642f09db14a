/**
 * Money that goes back: to its source by our wish, or taken back by the gateway. The wallet and the
 * ledger follow, once each.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'
import { refundsThrough } from '../../test/refunding-gateway.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { PaymentUpdate } from './driver.ts'

/** Failures for the next refunds, in order; without one the gateway's own answer counts. */
let trouble: (DriverFailure | Promise<DriverFailure>)[] = []
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({
    // The network between us and the gateway: the call is made, and its answer is lost as often as
    // a test says.
    changeDrivers: refundsThrough(async (refund, ...asked) => {
      const answer = await refund(...asked)
      const failure = await trouble.shift()
      if (failure) throw failure
      return answer
    }),
  })
})
afterAll(() => portal.close())

const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; description: string }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map(({ amount, description }) => `${amount} ${description}`)
const balance = async ({ token }: TestCustomer): Promise<number> =>
  (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token })).body.result.balance
const account = async (code: string): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', code)
      .executeTakeFirstOrThrow()
  ).balance
const refund = (code: string, amount?: bigint): Promise<string> =>
  portal.app.topUps.refunds.begin(code, amount, 'customer asked')
const statusOf = async (id: string): Promise<string> =>
  (
    await portal.app.db
      .selectFrom('payment_refund')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).status
const ended = (id: string): Promise<string> =>
  eventually('the end of the refund', async () => {
    const status = await statusOf(id)
    return status !== 'requested' && status
  })

async function paid(amount = 300_000): Promise<{ an: TestCustomer; code: string }> {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, amount)
  await eventually('the top-up', async () => (await balance(an)) === amount)
  return { an, code: transactionCode }
}

/** An order of 218 000. */
async function order({ token }: TestCustomer): Promise<void> {
  const body = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Wordpress9!',
    replicate: 1,
  }
  expect((await portal.call('POST', '/api/wp', { token, body })).text).toContain('"success"')
}
/** Orders with an empty wallet: the charge is tried and fails. */
async function orderAndWait(an: TestCustomer): Promise<void> {
  await order(an)
  await eventually('the wallet being asked', async () =>
    (await eventsOf(an)).includes('invoice.payment_failed'),
  )
}
const eventsOf = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ data: { event: string }[] }>('GET', '/api/notifications', { token })
  ).body.result.data.map(({ event }) => event)

/** Spends a part of 300 000; returns the remaining balance. */
async function buy(an: TestCustomer): Promise<number> {
  await order(an)
  return await eventually('the charge', async () => {
    const now = await balance(an)
    return now < 300_000 && now
  })
}

describe('a refund to the source', () => {
  test('leaves the wallet, reaches the gateway, and the ledger is in balance', async () => {
    const { an, code } = await paid()
    const id = await refund(code)
    expect(await balance(an)).toBe(0)
    expect(await ended(id)).toBe('done')
    expect(await entries(an)).toEqual([
      '300000 Top-up via VNPay',
      '-300000 Returned to source via VNPay',
    ])
    expect(await account('payable:vnpay:VND')).toBe(0n)
    await portal.ledgerHolds()
  })

  test('of a part leaves the rest, and never gives back more than came', async () => {
    const { an, code } = await paid()
    expect(await ended(await refund(code, 100_000n))).toBe('done')
    await expect(refund(code, 200_001n)).rejects.toThrow(/200000 are left/)
    expect(await ended(await refund(code))).toBe('done')
    await expect(refund(code)).rejects.toThrow(/0 are left/)
    expect(await balance(an)).toBe(0)
  })

  test('is refused when the wallet has spent it, or when no money came', async () => {
    const { an, code } = await paid()
    await buy(an)
    await expect(refund(code)).rejects.toThrow(/does not hold that much/)
    const { transactionCode } = await portal.topUp(an, 50_000, 'cancelled')
    await expect(refund(transactionCode)).rejects.toThrow(/brought no money/)
    await expect(refund('NOSUCHCODE')).rejects.toThrow(/no payment/)
  })

  test('whose answer is lost is asked for again under the same id, and happens once', async () => {
    const { an, code } = await paid()
    trouble = [
      new DriverFailure('unclear', 'the answer is lost'),
      new DriverFailure('unavailable', 'away'),
    ]
    expect(await ended(await refund(code))).toBe('done')
    expect(trouble).toEqual([])
    expect(await entries(an)).toHaveLength(2)
    await portal.ledgerHolds()
  })

  test('that the gateway refuses is the customer’s money again', async () => {
    const { an, code } = await paid()
    trouble = [new DriverFailure('rejected', 'no')]
    expect(await ended(await refund(code, 100_000n))).toBe('refused')
    expect(await balance(an)).toBe(300_000)
    expect(await entries(an)).toEqual([
      '300000 Top-up via VNPay',
      '-100000 Returned to source via VNPay',
      '100000 Return refused by VNPay',
    ])
    expect(await account('payable:vnpay:VND')).toBe(0n)
  })

  test('of a part whose answer was lost yesterday is left to a person', async () => {
    const { an, code } = await paid()
    let away: (failure: DriverFailure) => void = () => undefined
    trouble = [
      new Promise<DriverFailure>((resolve) => {
        away = resolve
      }),
    ]
    const id = await refund(code, 100_000n)
    await eventually('the first attempt', async () => trouble.length === 0)
    // A day passes, and VNPay knows the request no more.
    await portal.app.db
      .updateTable('payment_refund')
      .set(({ eb }) => ({ doubted_at: eb('doubted_at', '-', sql<Date>`interval '1 day'`) }))
      .where('id', '=', id)
      .execute()
    await sql`delete from sandbox.vnpay_requests`.execute(portal.app.db)
    away(new DriverFailure('unclear', 'the answer is lost'))
    expect(await ended(id)).toBe('unclear')
    const { rows } = await sql<{ refunded: bigint }>`select refunded from sandbox.vnpay_payments
      where txn_ref = ${code}`.execute(portal.app.db)
    expect(rows).toEqual([{ refunded: 10_000_000n }])
    await portal.app.topUps.refunds.decide(id, 'done')
    expect(await balance(an)).toBe(200_000)
    await portal.ledgerHolds()
  })

  test('that is refused after a lost answer waits for a person: one may have paid', async () => {
    const { an, code } = await paid()
    trouble = [
      new DriverFailure('unclear', 'the answer is lost'),
      new DriverFailure('rejected', 'no such page'),
    ]
    const id = await refund(code)
    expect(await ended(id)).toBe('unclear')
    expect(await balance(an)).toBe(0)
    await portal.app.topUps.refunds.decide(id, 'done')
    expect(await statusOf(id)).toBe('done')
    await portal.ledgerHolds()
  })

  test('that was surely not heard, and is then refused, is the customer’s again', async () => {
    const { an, code } = await paid()
    trouble = [new DriverFailure('unavailable', 'away'), new DriverFailure('rejected', 'no')]
    expect(await ended(await refund(code))).toBe('refused')
    expect(await balance(an)).toBe(300_000)
  })

  test('that a person finds refused pays for what was ordered meanwhile', async () => {
    const { an, code } = await paid()
    trouble = [
      new DriverFailure('unclear', 'the answer is lost'),
      new DriverFailure('rejected', 'no such page'),
    ]
    const id = await refund(code)
    expect(await ended(id)).toBe('unclear')
    await orderAndWait(an)
    await portal.app.topUps.refunds.decide(id, 'refused')
    await eventually('the charge', async () => (await balance(an)) === 82_000)
    await portal.ledgerHolds()
  })

  test('two attempts at once: one not heard says nothing of one with a lost answer', async () => {
    const { an, code } = await paid()
    let away: (failure: DriverFailure) => void = () => undefined
    const slow = new Promise<DriverFailure>((resolve) => {
      away = resolve
    })
    trouble = [
      slow,
      new DriverFailure('unclear', 'the answer is lost'),
      new DriverFailure('rejected', 'no such page'),
      new DriverFailure('rejected', 'no such page'),
    ]
    const id = await refund(code)
    const { db, jobs } = portal.app
    await eventually('the first attempt', async () => trouble.length === 3)
    // The first one's worker is taken for dead, and the job goes to another.
    await transaction(db, (tx) => jobs.add(tx, 'refund-to-source', { refundId: id }))
    await eventually('the second attempt', async () => trouble.length <= 2)
    away(new DriverFailure('unavailable', 'away'))
    expect(await ended(id)).toBe('unclear')
    expect(await balance(an)).toBe(0)
    trouble = []
    await portal.app.topUps.refunds.decide(id, 'done')
    await portal.ledgerHolds()
  })

  test('begun ten times at once gives back once', async () => {
    const { an, code } = await paid()
    const begun = await Promise.allSettled(Array.from({ length: 10 }, () => refund(code)))
    const ids = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(ids).toHaveLength(1)
    expect(await ended(ids[0] ?? '')).toBe('done')
    expect(await balance(an)).toBe(0)
  })
})

describe('money that a gateway takes back by itself', () => {
  const vnpay = { name: 'vnpay', displayName: 'VNPay', credits: 'exact' } as const
  const update = (
    code: string,
    status: PaymentUpdate['status'],
    amount: bigint,
    movement: string,
  ): PaymentUpdate => ({
    eventId: `${status}:${movement}`,
    reference: code,
    providerTransactionId: movement,
    status,
    amount,
    currency: 'VND',
    occurredAt: null,
    detail: status,
  })
  const tell = async (update: PaymentUpdate): Promise<string> =>
    (await portal.app.topUps.settlement.settle(vnpay, update)).outcome

  test('a chargeback is taken from the wallet once, and given again when it is won', async () => {
    const { an, code } = await paid()
    const taken = update(code, 'reversed', 300_000n, 'dispute-1')
    expect(await Promise.all([tell(taken), tell(taken), tell(taken)])).toEqual(
      expect.arrayContaining(['recorded', 'already', 'already']),
    )
    expect(await balance(an)).toBe(0)
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-1'))).toBe('recorded')
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-1'))).toBe('already')
    expect(await balance(an)).toBe(300_000)
    await portal.ledgerHolds()
  })

  test('a chargeback that is won pays for what was ordered meanwhile', async () => {
    const { an, code } = await paid()
    expect(await tell(update(code, 'reversed', 300_000n, 'dispute-3'))).toBe('recorded')
    await orderAndWait(an)
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-3'))).toBe('recorded')
    await eventually('the charge', async () => (await balance(an)) === 82_000)
    await portal.ledgerHolds()
  })

  test('what the wallet has spent is owed to us, and the wallet is never below zero', async () => {
    const { an, code } = await paid()
    const left = await buy(an)
    const owed = await account('receivable:vnpay:VND')
    expect(await tell(update(code, 'reversed', 300_000n, 'dispute-2'))).toBe('recorded')
    expect(await balance(an)).toBe(0)
    expect((await account('receivable:vnpay:VND')) - owed).toBe(BigInt(left) - 300_000n)
    await portal.ledgerHolds()
    // The dispute was won after all: nothing is owed any more, and the wallet has its money back.
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-2'))).toBe('recorded')
    expect(await account('receivable:vnpay:VND')).toBe(owed)
    expect(await balance(an)).toBe(left)
    await portal.ledgerHolds()
  })

  test('what is given back for what it bought settles what is owed, and no more', async () => {
    const { an, code } = await paid()
    const left = await buy(an)
    const owed = await account('receivable:vnpay:VND')
    expect(await tell(update(code, 'reversed', 300_000n, 'dispute-and-away'))).toBe('recorded')
    const spent = 300_000 - left
    // The next top-up is set off against the debt first.
    await portal.topUp(an, 50_000)
    await eventually('the next top-up', async () =>
      (await entries(an)).some((entry) => entry.startsWith('-50000 Settled')),
    )
    expect(await balance(an)).toBe(0)
    const [server] = (await portal.call<{ id: string }[]>('GET', '/api/wp', { token: an.token }))
      .body.result
    expect((await portal.call('DELETE', `/api/wp/${server?.id}`, { token: an.token })).status).toBe(
      200,
    )
    const told = await eventually('what comes back', async () => {
      const all = await entries(an)
      return (
        all.filter((entry) => entry.includes('Settled against a top-up that was taken back'))
          .length === 2 && all
      )
    })
    expect(told.some((entry) => entry.includes('Refund'))).toBe(true)
    const afterwards = await balance(an)
    const stillOwed = owed - (await account('receivable:vnpay:VND'))
    expect(stillOwed).toBeGreaterThanOrEqual(0n)
    expect(stillOwed).toBeLessThan(BigInt(spent) - 50_000n)
    expect(stillOwed === 0n || afterwards === 0).toBe(true)
    await portal.ledgerHolds()
    // The dispute was won later. The part that the customer had paid goes to the wallet; the debt
    // still open is cancelled.
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-and-away'))).toBe('recorded')
    expect(await account('receivable:vnpay:VND')).toBe(owed)
    expect(await balance(an)).toBe(afterwards + 300_000 - Number(stillOwed))
    await portal.ledgerHolds()
  })

  test('the next top-up settles the debt, says so; what the rest buys comes back', async () => {
    const { an, code } = await paid()
    await buy(an)
    expect(await tell(update(code, 'reversed', 300_000n, 'dispute-before'))).toBe('recorded')
    const [old] = (await portal.call<{ id: string }[]>('GET', '/api/wp', { token: an.token })).body
      .result
    const { transactionCode } = await portal.topUp(an, 500_000)
    const rest = 500_000 - 218_000
    await eventually('fresh money', async () => (await balance(an)) === rest)
    const shown = await portal.call<{ setOff: object | null }>(
      'GET',
      `/api/payments/get-transaction?transactionCode=${transactionCode}`,
      { token: an.token },
    )
    expect(shown.body.result).toMatchObject({
      status: 'succeeded',
      amount: 500_000,
      setOff: { amount: 218_000, currency: 'VND' },
    })
    expect((await entries(an)).slice(-2)).toEqual([
      '500000 Top-up via VNPay',
      '-218000 Settled against a top-up that was taken back',
    ])
    await eventually('the receipt', async () =>
      (await portal.inbox(an.email)).some(({ text }) =>
        text
          .replaceAll('\u00A0', ' ')
          .includes('Trong đó 218.000 đ được dùng để trả khoản bạn còn nợ.'),
      ),
    )
    await buy(an)
    await eventually('the order paid', async () => (await balance(an)) === rest - 218_000)
    const fresh = (
      await portal.call<{ id: string }[]>('GET', '/api/wp', { token: an.token })
    ).body.result.find(({ id }) => id !== old?.id)
    await portal.call('DELETE', `/api/wp/${fresh?.id}`, { token: an.token })
    await eventually('what is unused', async () => (await balance(an)) === rest)
    expect((await entries(an)).filter((entry) => entry.includes('Settled'))).toHaveLength(1)
    await portal.ledgerHolds()
  })

  test('told of a refund before the payment, it credits nothing that stays', async () => {
    const an = await portal.customer()
    const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
      token: an.token,
      body: { amount: 300_000, type: 1, method: 'QRPAY' },
    })
    const { transactionCode } = begun.body.result
    expect(await tell(update(transactionCode, 'refunded', 300_000n, 'refund-first'))).toBe(
      'recorded',
    )
    expect(await balance(an)).toBe(0)
    expect(await tell(update(transactionCode, 'succeeded', 300_000n, 'payment-later'))).toBe(
      'already',
    )
    expect(await tell(update(transactionCode, 'refunded', 300_000n, 'refund-first'))).toBe(
      'already',
    )
    expect(await balance(an)).toBe(0)
    expect((await entries(an)).map((entry) => entry.split(' ')[0])).toEqual(['300000', '-300000'])
    await portal.ledgerHolds()
  })

  test("a gateway's refund that fails gives back what it took and settles its debt", async () => {
    const { an, code } = await paid()
    const left = await buy(an)
    const owed = await account('receivable:vnpay:VND')
    expect(await tell(update(code, 'refunded', 300_000n, 'refund-failed'))).toBe('recorded')
    expect(await balance(an)).toBe(0)
    expect(await tell(update(code, 'restored', 300_000n, 'refund-failed'))).toBe('recorded')
    expect(await balance(an)).toBe(left)
    expect(await account('receivable:vnpay:VND')).toBe(owed)
    await portal.ledgerHolds()
  })

  test('one of ours that comes back settles what a chargeback left owed meanwhile', async () => {
    const { an, code } = await paid(100_000)
    const { transactionCode: other } = await portal.topUp(an, 218_000)
    await eventually('the other top-up', async () => (await balance(an)) === 318_000)
    await order(an)
    await eventually('the charge', async () => (await balance(an)) === 100_000)
    const owed = await account('receivable:vnpay:VND')
    const id = await refund(code)
    expect(await ended(id)).toBe('done')
    expect(await tell(update(other, 'reversed', 218_000n, 'dispute-meanwhile'))).toBe('recorded')
    expect((await account('receivable:vnpay:VND')) - owed).toBe(-218_000n)
    const back = update(code, 'restored', 100_000n, 'refund-came-back')
    expect(await tell({ ...back, refundId: id.replaceAll('-', '') })).toBe('recorded')
    expect(await balance(an)).toBe(0)
    expect((await account('receivable:vnpay:VND')) - owed).toBe(-118_000n)
    await portal.ledgerHolds()
  })

  test('a refund made at the gateway leaves the wallet; one of ours not again', async () => {
    const { an, code } = await paid()
    expect(await tell(update(code, 'refunded', 100_000n, 'refund-at-vnpay'))).toBe('recorded')
    expect(await balance(an)).toBe(200_000)
    const id = await refund(code)
    expect(await ended(id)).toBe('done')
    expect(
      await tell({
        ...update(code, 'refunded', 200_000n, 'any'),
        refundId: id.replaceAll('-', ''),
      }),
    ).toBe('already')
    expect(await balance(an)).toBe(0)
    await portal.ledgerHolds()
  })

  test('a chargeback of more than is left takes what is left; the rest is owed', async () => {
    const { an, code } = await paid()
    const owed = await account('receivable:vnpay:VND')
    expect(await tell(update(code, 'refunded', 200_000n, 'refund-before'))).toBe('recorded')
    const { transactionCode } = await portal.topUp(an, 50_000)
    await eventually('the top-up', async () => (await balance(an)) === 150_000)
    // 100 000 of this payment are left; the rest of the balance came with another payment.
    expect(await tell(update(code, 'reversed', 300_000n, 'dispute-of-it-all'))).toBe('recorded')
    expect(await balance(an)).toBe(50_000)
    expect((await account('receivable:vnpay:VND')) - owed).toBe(-200_000n)
    // Nothing of the payment is left: the next reversal becomes a debt in full.
    expect(await tell(update(code, 'reversed', 10_000n, 'dispute-on-top'))).toBe('recorded')
    expect(await balance(an)).toBe(50_000)
    expect((await account('receivable:vnpay:VND')) - owed).toBe(-210_000n)
    await expect(refund(code)).rejects.toThrow(/0 are left/)
    expect(await tell(update(code, 'restored', 300_000n, 'dispute-of-it-all'))).toBe('recorded')
    expect(await balance(an)).toBe(150_000)
    expect((await account('receivable:vnpay:VND')) - owed).toBe(-10_000n)
    expect(await ended(await refund(transactionCode))).toBe('done')
    await portal.ledgerHolds()
  })

  test('never more than came, and nothing of what never came', async () => {
    const { an, code } = await paid()
    expect(await tell(update(code, 'refunded', 300_001n, 'dispute-3'))).toBe('wrong_amount')
    expect(
      await tell({ ...update(code, 'reversed', 300_000n, 'dispute-3'), currency: 'AUD' }),
    ).toBe('wrong_amount')
    expect(await tell(update(code, 'restored', 1n, 'dispute-3'))).toBe('wrong_amount')
    expect(await balance(an)).toBe(300_000)
    const { transactionCode } = await portal.topUp(an, 50_000, 'cancelled')
    expect(await tell(update(transactionCode, 'reversed', 50_000n, 'dispute-4'))).toBe(
      'wrong_amount',
    )
    expect(await balance(an)).toBe(300_000)
  })
})
