/** A gateway's reports, valid and invalid: each credits nothing or credits once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { canonicalQuery, hmac } from './drivers/vnpay/sign.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
})
afterAll(() => portal.close())

type Fields = Record<string, string>
let movements = 90_000_000

/** VNPay's webhook about a successful payment. Amounts are in VNPay's hundredths. */
const webhookFields = (code: string, amount: number, changes: Fields = {}): Fields => ({
  vnp_Amount: String(amount * 100),
  vnp_BankCode: 'NCB',
  vnp_BankTranNo: 'VNP1',
  vnp_CardType: 'QRCODE',
  vnp_OrderInfo: 'Nap tien vi',
  vnp_PayDate: '20261121120000',
  vnp_ResponseCode: '00',
  vnp_TmnCode: portal.keysOf('vnpay')['tmnCode'] ?? '',
  vnp_TransactionNo: String(++movements),
  vnp_TransactionStatus: '00',
  vnp_TxnRef: code,
  ...changes,
})
const signed = (fields: Fields): string =>
  `${canonicalQuery(fields)}&vnp_SecureHash=` +
  `${hmac(portal.keysOf('vnpay')['secret'] ?? '', canonicalQuery(fields))}`
const failed: Fields = {
  vnp_ResponseCode: '24',
  vnp_TransactionStatus: '02',
  vnp_TransactionNo: '0',
}
const tell = async (query: string): Promise<string> =>
  (await portal.call('GET', `/api/webhooks/vnpay?${query}`)).text

const yes = '{"RspCode":"00","Message":"Confirm Success"}'
const already = '{"RspCode":"02","Message":"Order already confirmed"}'
const unknown = '{"RspCode":"01","Message":"Order not found"}'
const wrongAmount = '{"RspCode":"04","Message":"Invalid amount"}'
const forged = '{"RspCode":"97","Message":"Invalid signature"}'

async function begin(amount = 500_000): Promise<{ an: TestCustomer; code: string }> {
  const an = await portal.customer()
  const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
    token: an.token,
    body: { amount, type: 1, method: 'QRPAY' },
  })
  return { an, code: begun.body.result.transactionCode }
}
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)
const statusOf = async ({ token }: TestCustomer, code: string): Promise<string> =>
  (
    await portal.call<{ status: string }>(
      'GET',
      `/api/payments/get-transaction?transactionCode=${code}`,
      { token },
    )
  ).body.result.status
const heldOf = async ({ token }: TestCustomer, code: string): Promise<unknown> =>
  (
    await portal.call<{ held: unknown }>(
      'GET',
      `/api/payments/get-transaction?transactionCode=${code}`,
      { token },
    )
  ).body.result.held
const suspense = async (code: string): Promise<string[]> => {
  const rows = await portal.app.db
    .selectFrom('payment_suspense')
    .selectAll()
    .where('code', '=', code)
    .orderBy('id')
    .execute()
  return rows.map((row) => `${row.amount} ${row.reason}`)
}
const inSuspense = async (): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', 'suspense:vnpay:VND')
      .executeTakeFirstOrThrow()
  ).balance

describe('a notice', () => {
  test("that is VNPay's own credits once; said again, at once or later, it is known", async () => {
    const { an, code } = await begin()
    const query = signed(webhookFields(code, 500_000))
    const answers = await Promise.all(Array.from({ length: 10 }, () => tell(query)))
    expect(answers.toSorted()).toEqual([yes, ...Array<string>(9).fill(already)])
    expect(await tell(query)).toBe(already)
    expect(await entries(an)).toEqual(['500000 → 500000'])
    expect(await statusOf(an, code)).toBe('succeeded')
    await portal.ledgerHolds()
  })

  test.each([
    ['without a signature', (code: string) => canonicalQuery(webhookFields(code, 500_000))],
    [
      'with a signature of noughts',
      (code: string) =>
        `${canonicalQuery(webhookFields(code, 500_000))}&vnp_SecureHash=${'0'.repeat(128)}`,
    ],
    [
      'signed with another key',
      (code: string) =>
        `${canonicalQuery(webhookFields(code, 500_000))}&vnp_SecureHash=` +
        `${hmac('another', canonicalQuery(webhookFields(code, 500_000)))}`,
    ],
    [
      'whose amount was changed',
      (code: string) => signed(webhookFields(code, 500_000)).replace('50000000', '90000000'),
    ],
    [
      'whose result was changed',
      (code: string) =>
        signed(webhookFields(code, 500_000, failed))
          .replace('vnp_ResponseCode=24', 'vnp_ResponseCode=00')
          .replace('vnp_TransactionStatus=02', 'vnp_TransactionStatus=00'),
    ],
    [
      'with a second amount after the signature',
      (code: string) => `${signed(webhookFields(code, 500_000))}&vnp_Amount=90000000`,
    ],
    [
      'of another terminal',
      (code: string) => signed(webhookFields(code, 500_000, { vnp_TmnCode: 'OTHER001' })),
    ],
  ])('%s is forged and changes nothing', async (_, make) => {
    const { an, code } = await begin()
    expect(await tell(make(code))).toBe(forged)
    expect(await entries(an)).toEqual([])
    expect(await statusOf(an, code)).toBe('pending')
  })

  test("moved on from another order's is forged", async () => {
    const [mine, theirs] = [await begin(), await begin()]
    expect(
      await tell(signed(webhookFields(theirs.code, 500_000)).replace(theirs.code, mine.code)),
    ).toBe(forged)
    expect(await entries(mine.an)).toEqual([])
  })

  test('is not our own payment link, which carries the same signature', async () => {
    const an = await portal.customer()
    const begun = await portal.call<{ checkoutUrl: string; transactionCode: string }>(
      'POST',
      '/api/payments/checkout',
      {
        token: an.token,
        body: { amount: 500_000, type: 1, method: 'QRPAY' },
      },
    )
    expect(await tell(new URL(begun.body.result.checkoutUrl).search.slice(1))).toBe(forged)
    expect(await entries(an)).toEqual([])
  })

  test('with another amount credits nothing; its money waits in suspense, once', async () => {
    const { an, code } = await begin()
    const before = await inSuspense()
    const query = signed(webhookFields(code, 400_000))
    expect(await heldOf(an, code)).toBeNull()
    expect(await Promise.all([tell(query), tell(query), tell(query)])).toEqual([
      wrongAmount,
      wrongAmount,
      wrongAmount,
    ])
    expect(await suspense(code)).toEqual(['400000 wrong_amount'])
    expect((await inSuspense()) - before).toBe(400_000n)
    expect(await entries(an)).toEqual([])
    expect(await statusOf(an, code)).toBe('pending')
    // The payer is told where the money is.
    expect(await heldOf(an, code)).toEqual({ amount: 400_000, currency: 'VND' })
    // A failure with another amount moved nothing, so nothing waits.
    expect(await tell(signed(webhookFields(code, 300_000, failed)))).toBe(wrongAmount)
    expect(await suspense(code)).toEqual(['400000 wrong_amount'])
    // The right word still counts.
    expect(await tell(signed(webhookFields(code, 500_000)))).toBe(yes)
    expect(await entries(an)).toEqual(['500000 → 500000'])
    // Money that came earlier still waits.
    expect(await heldOf(an, code)).toEqual({ amount: 400_000, currency: 'VND' })
    await portal.ledgerHolds()
  })

  test('about an order not ours is answered so; its money waits in suspense, once', async () => {
    const before = await inSuspense()
    const query = signed(webhookFields('UNKNOWNORDER', 70_000))
    expect(await Promise.all([tell(query), tell(query)])).toEqual([unknown, unknown])
    expect(await tell(signed(webhookFields('UNKNOWNORDER', 70_000, failed)))).toBe(unknown)
    expect(await suspense('UNKNOWNORDER')).toEqual(['70000 unknown_order'])
    expect((await inSuspense()) - before).toBe(70_000n)
    await portal.ledgerHolds()
  })

  test('of a second payment for one order goes to suspense', async () => {
    const { an, code } = await begin()
    expect(await tell(signed(webhookFields(code, 500_000)))).toBe(yes)
    const second = signed(webhookFields(code, 500_000))
    expect([await tell(second), await tell(second)]).toEqual([already, already])
    expect(await entries(an)).toEqual(['500000 → 500000'])
    expect(await suspense(code)).toEqual(['500000 paid_twice'])
    await portal.ledgerHolds()
  })

  test('of one movement under two orders pays one; one waits for a person, once', async () => {
    const [first, second] = [await begin(), await begin()]
    const number = { vnp_TransactionNo: String(++movements) }
    expect(await tell(signed(webhookFields(first.code, 500_000, number)))).toBe(yes)
    const again = signed(webhookFields(second.code, 500_000, number))
    expect([await tell(again), await tell(again)]).toEqual([already, already])
    expect(await entries(second.an)).toEqual([])
    expect(await statusOf(second.an, second.code)).toBe('pending')
    expect(await suspense(second.code)).toEqual(['500000 reference_reused'])
    // The same holds where both orders are one customer's.
    const third = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
      token: first.an.token,
      body: { amount: 500_000, type: 1, method: 'QRPAY' },
    })
    expect(
      await tell(signed(webhookFields(third.body.result.transactionCode, 500_000, number))),
    ).toBe(already)
    expect(await entries(first.an)).toEqual(['500000 → 500000'])
    expect(await statusOf(first.an, third.body.result.transactionCode)).toBe('pending')
    await portal.ledgerHolds()
  })
})

describe('words out of order', () => {
  const paid = (code: string): Fields =>
    webhookFields(code, 500_000, { vnp_TransactionNo: `7${code.replace(/\D/g, '').slice(0, 8)}1` })
  const no = (code: string): Fields => webhookFields(code, 500_000, failed)
  const suspicious = (code: string): Fields => ({
    ...paid(code),
    vnp_ResponseCode: '07',
    vnp_TransactionStatus: '07',
  })
  test.each([
    // the words, the answers, the payment's end, the wallet's entries
    ['failed, then paid', [no, paid], [yes, yes], 'succeeded', ['500000 → 500000']],
    ['paid, then failed', [paid, no], [yes, already], 'succeeded', ['500000 → 500000']],
    ['suspicious, then paid', [suspicious, paid], [yes, yes], 'succeeded', ['500000 → 500000']],
    ['suspicious, then failed', [suspicious, no], [yes, yes], 'failed', []],
    ['failed twice', [no, no], [yes, already], 'failed', []],
    [
      'paid, failed, paid',
      [paid, no, paid],
      [yes, already, already],
      'succeeded',
      ['500000 → 500000'],
    ],
  ] as const)('%s', async (_, words, answers, status, expected) => {
    const { an, code } = await begin()
    const given: string[] = []
    for (const fieldsFor of words) given.push(await tell(signed(fieldsFor(code))))
    expect(given).toEqual(answers)
    expect(await statusOf(an, code)).toBe(status)
    expect(await entries(an)).toEqual(expected)
    expect(await suspense(code)).toEqual([])
    await portal.ledgerHolds()
  })

  test('paid after it expired is credited all the same', async () => {
    const { an, code } = await begin()
    await portal.app.db
      .updateTable('payment')
      .set({ status: 'expired' })
      .where('code', '=', code)
      .execute()
    expect(await tell(signed(webhookFields(code, 500_000)))).toBe(yes)
    expect(await entries(an)).toEqual(['500000 → 500000'])
  })

  test('paid and failed at the same moment, many times: credited once', async () => {
    const { an, code } = await begin()
    const [good, bad] = [
      signed(webhookFields(code, 500_000)),
      signed(webhookFields(code, 500_000, failed)),
    ]
    await Promise.all(Array.from({ length: 20 }, (_, n) => tell(n % 2 ? good : bad)))
    expect(await entries(an)).toEqual(['500000 → 500000'])
    expect(await statusOf(an, code)).toBe('succeeded')
  })
})

describe('the door for notices', () => {
  test('keeps every word as it came, with what became of it', async () => {
    const { code } = await begin()
    await tell(signed(webhookFields(code, 500_000)))
    await tell(canonicalQuery(webhookFields(code, 500_000)))
    const rows = await portal.app.db
      .selectFrom('payment_notice')
      .select(['outcome', 'payment_id', 'raw'])
      .orderBy('id')
      .execute()
    const about = rows.filter(({ raw }) => JSON.stringify(raw).includes(code))
    expect(about.map(({ outcome }) => outcome)).toEqual(['recorded', 'forged'])
  })

  test.each([
    '',
    'vnp_SecureHash=',
    '%00=%00',
    `vnp_TxnRef=${'x'.repeat(2000)}`,
    'vnp_Amount=1&vnp_Amount=2',
  ])('takes the garbage %j without a fall', async (query) => {
    expect(await tell(query)).toBe(forged)
    expect((await portal.call('GET', '/api/webhooks/nobody')).status).toBe(404)
  })
})

describe('a flood of forged words', () => {
  test('is refused to the last one, and not kept to the last one', async () => {
    const kept = async (): Promise<bigint> =>
      (
        await portal.app.db
          .selectFrom('payment_notice')
          .select((eb) => eb.fn.countAll<bigint>().as('n'))
          .where('outcome', '=', 'forged')
          .executeTakeFirstOrThrow()
      ).n
    const answers = await Promise.all(
      Array.from({ length: 250 }, (_, n) => tell(`vnp_TxnRef=${n}&vnp_SecureHash=00`)),
    )
    expect(new Set(answers)).toEqual(new Set([forged]))
    expect(await kept()).toBe(200n)
    const { an, code } = await begin()
    expect(await tell(signed(webhookFields(code, 500_000)))).toBe(yes)
    expect(await entries(an)).toEqual(['500000 → 500000'])
  })
})

describe('a top-up that came', () => {
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }

  test('pays the open invoices, oldest first, as far as it goes', async () => {
    const an = await portal.customer()
    for (let n = 0; n < 3; n++)
      expect((await portal.call('POST', '/api/wp', { token: an.token, body: order })).status).toBe(
        201,
      )
    const invoices = async () =>
      (
        await portal.call<{ number: string; status: string }[]>(
          'GET',
          '/api/payments/stripe/invoices',
          { token: an.token },
        )
      ).body.result
        .toReversed()
        .map(({ status }) => status)
    expect(await invoices()).toEqual(['open', 'open', 'open'])
    // Each has been tried against the empty wallet: only a top-up can pay them now.
    await eventually('three tries', async () => {
      const { body } = await portal.call<{ data: { event: string }[] }>(
        'GET',
        '/api/notifications',
        { token: an.token },
      )
      const failed = body.result.data.filter(({ event }) => event === 'invoice.payment_failed')
      return failed.length === 3
    })
    await portal.topUp(an, 500_000)
    await eventually(
      'two invoices being paid',
      async () => (await invoices()).filter((status) => status === 'paid').length === 2,
    )
    expect(await invoices()).toEqual(['paid', 'paid', 'open'])
    expect(await entries(an)).toEqual(['500000 → 500000', '-218000 → 282000', '-218000 → 64000'])
    await portal.ledgerHolds()
  })
})
