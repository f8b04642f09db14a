import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eightAtATime,
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ timing: { askGatewaySeconds: [1] } })
})
afterAll(() => portal.close())

interface Entry {
  amount: number
  ending_balance: number
  description: string
}
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (await portal.call<Entry[]>('GET', '/api/payments/stripe', { token })).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)
const checkout = (customer: TestCustomer, body: unknown, headers: Record<string, string> = {}) =>
  portal.call<{ checkoutUrl: string; transactionCode: string }>('POST', '/api/payments/checkout', {
    token: customer.token,
    body,
    headers,
  })
const transaction = (customer: TestCustomer, code: string) =>
  portal.call<{ status: string; amount: number }>(
    'GET',
    `/api/payments/get-transaction?transactionCode=${encodeURIComponent(code)}`,
    {
      token: customer.token,
    },
  )
const becomes = (customer: TestCustomer, code: string, status: string) =>
  eventually(
    `${code} being ${status}`,
    async () => (await transaction(customer, code)).body.result.status === status,
  )

describe("a top-up through VNPay's page", () => {
  test.each([
    // the customer's choice at the gateway, the payment's status, the wallet's entries
    ['paid', 'succeeded', ['500000 → 500000']],
    ['cancelled', 'failed', []],
    ['insufficient', 'failed', []],
    ['wrong_otp', 'failed', []],
    // The webhook comes later than the answer to the browser.
    ['late', 'succeeded', ['500000 → 500000']],
    // The webhook never arrives, so the gateway is queried.
    ['lost', 'succeeded', ['500000 → 500000']],
    // Debited, under suspicion: nothing is credited while VNPay has not decided.
    ['suspicious', 'pending', []],
  ])('that is %s ends %s', async (outcome, status, expected) => {
    const an = await portal.customer()
    const { transactionCode, returnUrl } = await portal.topUp(an, 500_000, outcome)
    expect(returnUrl).toContain(`transId=${transactionCode}`)
    await becomes(an, transactionCode, status)
    expect(await entries(an)).toEqual(expected)
    await portal.ledgerHolds()
  })

  test('tells the customer once, and shows the payment as it is', async () => {
    const an = await portal.customer()
    const { transactionCode } = await portal.topUp(an, 500_000)
    const told = await eventually('the event', async () => {
      const { data } = (
        await portal.call<{
          data: { event: string; title: string; payload: Record<string, unknown> }[]
        }>('GET', '/api/notifications', {
          token: an.token,
          headers: { 'accept-language': 'vi' },
        })
      ).body.result
      return data.length > 0 && data
    })
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({
      event: 'wallet.credited',
      title: 'Nạp ví thành công: 500.000\u00a0đ',
      payload: { wallet: { amount: 500_000, currency: 'VND', provider: 'VNPay', transactionCode } },
    })
    const shown = await transaction(an, transactionCode)
    expect(shown.body.result).toEqual({
      transactionCode,
      description: 'Top-up via VNPay',
      amount: 500_000,
      currency: 'VND',
      status: 'succeeded',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      reason: null,
      held: null,
      setOff: null,
    })
    expect(
      (await portal.call<{ balance: number }>('GET', '/api/v1/auth/me', { token: an.token })).body
        .result.balance,
    ).toBe(500_000)
  })

  test.each([
    ['insufficient', 'insufficient_funds'],
    ['cancelled', 'cancelled'],
  ])('that fails at VNPay (%s) says why', async (outcome, reason) => {
    const an = await portal.customer()
    const { transactionCode } = await portal.topUp(an, 100_000, outcome)
    const shown = await eventually('the failure', async () => {
      const { result } = (await transaction(an, transactionCode)).body
      return result.status === 'failed' && result
    })
    expect(shown).toMatchObject({ reason })
  })

  test('credits nothing because a browser came back to the success page', async () => {
    const an = await portal.customer()
    const begun = await checkout(an, { amount: 500_000, type: 1, method: 'QRPAY' })
    const code = begun.body.result.transactionCode
    await portal.call(
      'GET',
      `/api/payments/success?transId=${code}&vnp_ResponseCode=00&vnp_TransactionStatus=00`,
    )
    expect((await transaction(an, code)).body.result.status).toBe('pending')
    expect(await entries(an)).toEqual([])
  })
})

describe('a payment', () => {
  test('is shown to its owner only; everybody else, and garbage, has a 404', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const { transactionCode: code } = (
      await checkout(an, { amount: 20_000, type: 1, method: null })
    ).body.result
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect((await transaction(an, code)).status).toBe(200)
    const foreign = await transaction(binh, code)
    expect(foreign.status).toBe(404)
    for (const garbage of [
      'NONE',
      code.toLowerCase(),
      `${code}A`,
      "' or 1=1 --",
      '../../etc',
      'é',
      '💰',
    ]) {
      const answer = await transaction(an, garbage)
      expect([garbage, answer.status, answer.body.error?.code]).toEqual([garbage, 404, 'not_found'])
      expect(answer.body.message).toBe(foreign.body.message)
    }
    expect(
      (await portal.call('GET', `/api/payments/get-transaction?transactionCode=${code}`)).status,
    ).toBe(401)
    for (const query of ['', '?transactionCode=', `?transactionCode=${'x'.repeat(101)}`]) {
      expect(
        (await portal.call('GET', `/api/payments/get-transaction${query}`, { token: an.token }))
          .body.error?.code,
      ).toBe('invalid_input')
    }
  })
})

describe('a checkout', () => {
  test.each([
    // type, method, VNPay's channel
    [1, 'QRPAY', 'VNPAYQR'],
    [2, 'ATMCARD', 'VNBANK'],
    [2, 'CREDITCARD', 'INTCARD'],
    [1, null, null],
    // The method decides first, then the type.
    [2, 'QRPAY', 'VNPAYQR'],
    [1, 'ATMCARD', 'VNBANK'],
  ])('of type %s and method %s goes to VNPay, channel %s', async (type, method, channel) => {
    const answer = await checkout(await portal.customer(), { amount: 100_000, type, method })
    expect(answer.status).toBe(200)
    const url = new URL(answer.body.result.checkoutUrl)
    expect(url.searchParams.get('vnp_BankCode')).toBe(channel)
    expect(url.searchParams.get('vnp_Amount')).toBe('10000000')
    expect(url.searchParams.get('vnp_TxnRef')).toBe(answer.body.result.transactionCode)
  })

  test.each([
    ['AUD', 1, 'QRPAY'],
    ['AUD', 1, null],
    ['USD', 2, 'CREDITCARD'],
    ['EURO', 2, 'ATMCARD'],
  ])(
    'in region %s of type %s and method %s has no gateway here: method_unavailable',
    async (region, type, method) => {
      const answer = await checkout(await portal.customer({ region }), {
        amount: 100_000,
        type,
        method,
      })
      expect([answer.status, answer.body.error?.code]).toEqual([422, 'method_unavailable'])
    },
  )

  test('takes whole amounts within the limits only, and writes nothing for others', async () => {
    const an = await portal.customer()
    const amounts: [unknown, number][] = [
      [10_000, 200],
      [500_000_000, 200],
      [9_999, 422],
      [500_000_001, 422],
      [0, 422],
      [-100_000, 422],
      [100_000.5, 422],
      ['100000', 422],
      [1e15, 422],
      [1e300, 422],
      [Number.MAX_SAFE_INTEGER + 2, 422],
      [null, 422],
      [true, 422],
    ]
    for (const [amount, status] of amounts) {
      const answer = await checkout(an, { amount, type: 1, method: 'QRPAY' })
      expect([amount, answer.status]).toEqual([amount, status])
      expect(Object.keys(answer.body.error?.fields ?? {})).toEqual(status === 422 ? ['amount'] : [])
    }
    for (const body of [
      { amount: 100_000, type: 3, method: 'QRPAY' },
      { amount: 100_000, type: 1, method: 'CASH' },
      { amount: 100_000, type: 1 },
      { amount: 100_000, type: 1, method: 'QRPAY', currency: 'USD' },
      {},
      [],
    ]) {
      expect((await checkout(an, body)).body.error?.code).toBe('invalid_input')
    }
    expect((await checkout(an, '{"amount":')).body.error?.code).toBe('bad_json')
    const { n } = await portal.app.db
      .selectFrom('payment')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(n).toBe(2n)
  })

  test('under one Idempotency-Key begins one payment, however often and however fast', async () => {
    const an = await portal.customer()
    const key = { 'idempotency-key': randomUUID() }
    const body = { amount: 100_000, type: 1, method: 'QRPAY' }
    const atOnce = await eightAtATime(10, () => checkout(an, body, key))
    const [first, ...others] = atOnce.filter(({ status }) => status === 200)
    expect(first).toBeDefined()
    for (const answer of others) expect(answer.text).toBe(first?.text)
    for (const answer of atOnce.filter(({ status }) => status !== 200))
      expect([answer.status, answer.body.error?.code]).toEqual([409, 'idempotency_in_progress'])
    const again = await checkout(an, body, key)
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first?.text, 'true'])
    expect((await checkout(an, { ...body, amount: 200_000 }, key)).body.error?.code).toBe(
      'idempotency_key_reused',
    )
    // Keys are per customer: the same key of another customer is a different one.
    const binh = await checkout(await portal.customer(), body, key)
    expect(binh.body.result.transactionCode).not.toBe(first?.body.result.transactionCode)
    const { n } = await portal.app.db
      .selectFrom('payment')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    expect(n).toBe(1n)
  })

  test('that is never paid expires by itself', async () => {
    const an = await portal.customer()
    const { transactionCode } = (await checkout(an, { amount: 100_000, type: 1, method: 'QRPAY' }))
      .body.result
    await portal.app.db
      .updateTable('payment')
      .set({ expires_at: new Date(Date.now() - 60_000) })
      .where('code', '=', transactionCode)
      .execute()
    await becomes(an, transactionCode, 'expired')
    expect(await entries(an)).toEqual([])
  })
})
