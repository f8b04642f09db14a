/**
 * Top-ups through the gateways whose words are asked back: Alepay's own page, and payOS with its
 * VietQR.
 */
import { createHash, createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { reconcile } from './reconcile.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ timing: { askGatewaySeconds: [1] } })
})
afterAll(() => portal.close())

const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)
const transaction = async (customer: TestCustomer, code: string) =>
  (
    await portal.call<{ status: string; amount: number; description: string }>(
      'GET',
      `/api/payments/get-transaction?transactionCode=${code}`,
      { token: customer.token },
    )
  ).body.result
const becomes = (customer: TestCustomer, code: string, status: string) =>
  eventually(
    `${code} being ${status}`,
    async () => (await transaction(customer, code)).status === status,
  )
/**
 * The id that the success page would query: the value of the parameter whose name contains transId.
 */
const transIdOf = (returnUrl: string): string =>
  [...new URL(returnUrl).searchParams].find(([name]) => name.includes('transId'))?.[1] ?? ''
const webhook = (gateway: string, body: unknown) =>
  portal.call('POST', `/api/webhooks/${gateway}`, { body })

describe('a top-up through Alepay', () => {
  const input = { amount: 500_000, type: 2, method: null } as const

  test.each([
    ['paid', 'succeeded', ['500000 → 500000']],
    ['declined', 'failed', []],
    ['cancelled', 'failed', []],
    // The webhook comes later than the answer to the browser.
    ['late', 'succeeded', ['500000 → 500000']],
    // The webhook never arrives, so the gateway is queried.
    ['lost', 'succeeded', ['500000 → 500000']],
    // Under review: nothing is credited before the bank has decided.
    ['review', 'pending', []],
  ])('that is %s ends %s, and the success page says so', async (outcome, status, expected) => {
    const an = await portal.customer()
    const { transactionCode, returnUrl } = await portal.topUpBy(an, input, outcome)
    expect(transIdOf(returnUrl)).toBe(transactionCode)
    await becomes(an, transactionCode, status)
    expect(await transaction(an, transactionCode)).toMatchObject({
      amount: 500_000,
      description: 'Top-up via Alepay',
    })
    expect(await entries(an)).toEqual(expected)
    await portal.ledgerHolds()
  })

  test('that the bank approves after its review is credited then', async () => {
    const an = await portal.customer()
    const { transactionCode, checkoutUrl } = await portal.topUpBy(an, input, 'review')
    expect((await transaction(an, transactionCode)).status).toBe('pending')
    await portal.decide(checkoutUrl, 'approved')
    await becomes(an, transactionCode, 'succeeded')
    expect(await entries(an)).toEqual(['500000 → 500000'])
  })

  test('credits nothing on a well-signed webhook: Alepay is asked, and nobody paid', async () => {
    const an = await portal.customer()
    const begun = await portal.call<{ transactionCode: string; checkoutUrl: string }>(
      'POST',
      '/api/payments/checkout',
      {
        token: an.token,
        body: input,
      },
    )
    const { transactionCode: code, checkoutUrl } = begun.body.result
    const number = /ALE[0-9A-Z]{7}/.exec(await (await fetch(checkoutUrl)).text())?.[0] ?? ''
    const { checksumKey = '' } = portal.keysOf('alepay')
    const checksum = createHash('md5').update(`${code}500000${number}${checksumKey}`).digest('hex')
    const told = {
      transactionCode: number,
      orderCode: code,
      amount: 500_000,
      currency: 'VND',
      status: '000',
    }
    expect((await webhook('alepay', { transactionInfo: told, checksum })).status).toBe(200)
    expect(
      (await webhook('alepay', { transactionInfo: told, checksum: '0'.repeat(32) })).status,
    ).toBe(400)
    expect((await transaction(an, code)).status).toBe('pending')
    expect(await entries(an)).toEqual([])
    // The payment is paid and reported ten times at once. It counts once.
    await portal.decide(checkoutUrl, 'lost')
    const again = await Promise.all(
      Array.from({ length: 10 }, () => webhook('alepay', { transactionInfo: told, checksum })),
    )
    expect(again.map(({ status }) => status)).toEqual(Array<number>(10).fill(200))
    await becomes(an, code, 'succeeded')
    expect(await entries(an)).toEqual(['500000 → 500000'])
    await portal.ledgerHolds()
  })
})

describe('a top-up through VietQR at payOS', () => {
  const input = { amount: 500_000, type: 2, method: 'VIETQR' } as const
  const suspense = async () =>
    (
      await portal.app.db
        .selectFrom('payment_suspense')
        .select(['amount', 'reason', 'code'])
        .where('driver', '=', 'payos')
        .execute()
    ).map((row) => `${row.amount} ${row.reason}`)

  test.each([
    ['paid', 'succeeded', ['500000 → 500000']],
    ['parts', 'succeeded', ['500000 → 500000']],
    ['late', 'succeeded', ['500000 → 500000']],
    // The webhooks about the payment and about its end never arrive, so payOS is queried.
    ['lost', 'succeeded', ['500000 → 500000']],
    ['cancelled', 'failed', []],
    ['expired', 'failed', []],
    // The transfer comes when the link is over: money is money.
    ['after_expiry', 'succeeded', ['500000 → 500000']],
  ])('that is %s ends %s, and the success page says so', async (outcome, status, expected) => {
    const an = await portal.customer()
    const { transactionCode, returnUrl } = await portal.topUpBy(an, input, outcome)
    expect(transIdOf(returnUrl)).toBe(transactionCode)
    await becomes(an, transactionCode, status)
    expect(await transaction(an, transactionCode)).toMatchObject({
      amount: 500_000,
      description: 'Top-up via VietQR (payOS)',
    })
    expect(await entries(an)).toEqual(expected)
    await portal.ledgerHolds()
  })

  test('of which half has come waits for the rest', async () => {
    const an = await portal.customer()
    const { transactionCode, checkoutUrl } = await portal.topUpBy(an, input, 'half')
    expect((await transaction(an, transactionCode)).status).toBe('pending')
    expect(await entries(an)).toEqual([])
    await portal.decide(checkoutUrl, 'paid')
    await becomes(an, transactionCode, 'succeeded')
    expect(await entries(an)).toEqual(['500000 → 500000'])
  })

  test.each(['expired', 'cancelled'])(
    'of which half has come when it is %s waits in suspense, once, and is named',
    async (end) => {
      const an = await portal.customer()
      const { transactionCode, checkoutUrl } = await portal.topUpBy(an, input, 'half')
      await portal.decide(checkoutUrl, end)
      const { db, topUps } = portal.app
      const payment = () =>
        db
          .selectFrom('payment')
          .selectAll()
          .where('code', '=', transactionCode)
          .executeTakeFirstOrThrow()
      const { reference } = await payment()
      const parked = async () =>
        (
          await db
            .selectFrom('payment_suspense')
            .selectAll()
            .where('code', '=', reference)
            .execute()
        ).map(({ amount, reason }) => `${amount} ${reason}`)
      await eventually('the suspense', async () => (await parked()).length > 0)
      const { asked } = await payment()
      await eventually('another question', async () => (await payment()).asked > asked)
      expect(await parked()).toEqual(['250000 wrong_amount'])
      expect(await entries(an)).toEqual([])
      const span = { from: new Date(Date.now() - 3_600_000), to: new Date() }
      const { differences } = await reconcile(db, topUps.orders, portal.drivers.payments, span)
      expect(
        differences
          .filter(({ about }) => about === transactionCode || about === reference)
          .map(({ what }) => what),
      ).toEqual([
        'was paid at the gateway, and is pending here',
        expect.stringMatching(/^250000 VND .* wait in suspense: wrong_amount/),
      ])
      await portal.ledgerHolds()
    },
  )

  test('of which more came after the end is credited when enough, and nothing waits', async () => {
    const an = await portal.customer()
    const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
      token: an.token,
      body: input,
    })
    const { transactionCode } = begun.body.result
    const { reference } = await portal.app.db
      .selectFrom('payment')
      .select('reference')
      .where('code', '=', transactionCode)
      .executeTakeFirstOrThrow()
    const payos = { name: 'payos', displayName: 'VietQR (payOS)', credits: 'exact' } as const
    const told = (amount: bigint) =>
      portal.app.topUps.settlement.settle(payos, {
        eventId: `late:${amount}`,
        reference,
        providerTransactionId: 'late-link',
        status: 'succeeded',
        amount,
        currency: 'VND',
        occurredAt: null,
        detail: 'EXPIRED',
      })
    const row = () =>
      portal.app.db
        .selectFrom('payment_suspense')
        .select(['amount', 'resolved_at'])
        .where('provider_transaction_id', '=', 'late-link')
        .executeTakeFirst()
    expect(await told(100_000n)).toMatchObject({ outcome: 'wrong_amount' })
    expect(await told(300_000n)).toMatchObject({ outcome: 'wrong_amount' })
    expect(await row()).toEqual({ amount: 300_000n, resolved_at: null })
    expect(await told(500_000n)).toMatchObject({ outcome: 'recorded' })
    expect((await row())?.resolved_at).not.toBeNull()
    expect(await entries(an)).toEqual(['500000 → 500000'])
    await portal.ledgerHolds()
  })

  test('that is made twice is credited once, and the second waits in suspense', async () => {
    const an = await portal.customer()
    const before = (await suspense()).length
    const { transactionCode } = await portal.topUpBy(an, input, 'twice')
    await becomes(an, transactionCode, 'succeeded')
    expect(await entries(an)).toEqual(['500000 → 500000'])
    expect((await suspense()).slice(before)).toEqual(['500000 paid_twice'])
    // A customer who paid twice is told where the second payment is.
    const shown = await portal.call<{ status: string; held: object | null }>(
      'GET',
      `/api/payments/get-transaction?transactionCode=${transactionCode}`,
      { token: an.token },
    )
    expect(shown.body.result).toMatchObject({
      status: 'succeeded',
      held: { amount: 500_000, currency: 'VND' },
    })
    await portal.ledgerHolds()
  })

  test.each(['second_lost', 'both_lost'])(
    'that is made twice, %s: payOS is asked on, and the second one waits in suspense, once',
    async (outcome) => {
      const an = await portal.customer()
      const { transactionCode } = await portal.topUpBy(an, input, outcome)
      const { db } = portal.app
      const payment = () =>
        db
          .selectFrom('payment')
          .selectAll()
          .where('code', '=', transactionCode)
          .executeTakeFirstOrThrow()
      const { reference } = await payment()
      const parked = async () =>
        (
          await db
            .selectFrom('payment_suspense')
            .selectAll()
            .where('code', '=', reference)
            .execute()
        ).map(({ amount, reason }) => `${amount} ${reason}`)
      await eventually('the second transfer', async () => (await parked()).length > 0)
      const { asked } = await payment()
      await eventually('another question', async () => (await payment()).asked > asked + 1)
      expect(await parked()).toEqual(['500000 paid_twice'])
      expect(await entries(an)).toEqual(['500000 → 500000'])
      await portal.ledgerHolds()
    },
  )

  test.each(['cancelled', 'expired'])(
    'that was %s, and is transferred all the same, its webhook lost: payOS is asked on',
    async (end) => {
      const an = await portal.customer()
      const { transactionCode } = await portal.topUpBy(an, input, end)
      await becomes(an, transactionCode, 'failed')
      await sql`insert into sandbox.payos_transfers (reference, order_code, amount)
      select 'LATE' || reference, reference::bigint, amount from payment
      where code = ${transactionCode}`.execute(portal.app.db)
      await becomes(an, transactionCode, 'succeeded')
      expect(await entries(an)).toEqual(['500000 → 500000'])
      await portal.ledgerHolds()
    },
  )

  test('of another amount credits nothing and waits in suspense, once', async () => {
    const an = await portal.customer()
    const before = (await suspense()).length
    const { transactionCode } = await portal.topUpBy(an, input, 'more')
    await eventually('the suspense', async () => (await suspense()).includes('510000 wrong_amount'))
    // It is queried repeatedly, but put in suspense only once.
    await eventually('another question', async () => {
      const row = await portal.app.db
        .selectFrom('payment')
        .select('asked')
        .where('code', '=', transactionCode)
        .executeTakeFirstOrThrow()
      return row.asked >= 1
    })
    expect((await suspense()).length).toBe(before + 1)
    expect(await entries(an)).toEqual([])
    await portal.ledgerHolds()
  })

  test("answers 200 to payOS's sample at its registration, and 400 to a forged one", async () => {
    const { checksumKey = '' } = portal.keysOf('payos')
    const data = {
      orderCode: 123,
      amount: 3000,
      paymentLinkId: 'sample',
      reference: 'TF230204212323',
    }
    const text = `amount=3000&orderCode=123&paymentLinkId=sample&reference=TF230204212323`
    const signature = createHmac('sha256', checksumKey).update(text).digest('hex')
    expect((await webhook('payos', { code: '00', success: true, data, signature })).status).toBe(
      200,
    )
    expect(
      (
        await webhook('payos', {
          code: '00',
          success: true,
          data: { ...data, amount: 1 },
          signature,
        })
      ).status,
    ).toBe(400)
  })
})
