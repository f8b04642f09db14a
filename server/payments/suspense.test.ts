/** Money in suspense that is partly decided, and movements that two feeds report. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import type { PaymentDriver, PaymentUpdate } from './driver.ts'

let portal: TestPortal
let finance: TestMember
beforeAll(async () => {
  // No scheduled query reaches a gateway.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())

function driverOf(name: string): PaymentDriver {
  const driver = portal.drivers.payments.get(name)
  if (!driver) throw new Error(`there is no ${name}`)
  return driver
}
const update = (of: Pick<PaymentUpdate, 'eventId' | 'amount'> & Partial<PaymentUpdate>) => ({
  reference: null,
  providerTransactionId: null,
  status: 'succeeded' as const,
  currency: 'VND' as const,
  occurredAt: null,
  detail: '',
  ...of,
})
const tell = async (driver: string, of: PaymentUpdate): Promise<string> =>
  (await portal.app.topUps.settlement.settle(driverOf(driver), of)).outcome
/** A payment that waits, and the name that it has at its gateway. */
async function begun(type: 1 | 2, method: string) {
  const an = await portal.customer()
  const { body } = await portal.call<{ transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    { token: an.token, body: { amount: 500_000, type, method } },
  )
  const code = body.result.transactionCode
  const { reference } = await portal.app.db
    .selectFrom('payment')
    .select('reference')
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  return { an, code, reference }
}
const waiting = async (like: string): Promise<string[]> =>
  (
    await portal.app.db
      .selectFrom('payment_suspense')
      .selectAll()
      .where('provider_transaction_id', 'like', like)
      .orderBy('id')
      .execute()
  ).map(
    ({ amount, reason, resolved_at: resolved }) =>
      `${amount} ${reason}${resolved === null ? '' : ', decided'}`,
  )
const balance = async (customerId: string): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, customerId)).balance
const numberOf = async (movement: string): Promise<number> =>
  Number(
    (
      await portal.app.db
        .selectFrom('payment_suspense')
        .select('id')
        .where('provider_transaction_id', '=', movement)
        .executeTakeFirstOrThrow()
    ).id,
  )

test('what comes on top of a part that somebody was given waits too', async () => {
  const { an, code, reference } = await begun(2, 'VIETQR')
  const held = (amount: bigint) =>
    tell(
      'payos',
      update({ eventId: `held ${amount}`, reference, providerTransactionId: 'a-link', amount }),
    )
  expect(await held(100_000n)).toBe('wrong_amount')
  const suspense = await numberOf('a-link')
  const given = await finance.act('money.assign', { suspense, to: code, reason: 'half came' })
  expect(given.status, given.text).toBe(200)
  expect(await held(300_000n)).toBe('wrong_amount')
  expect(await held(300_000n)).toBe('wrong_amount')
  expect(await waiting('a-link%')).toEqual(['100000 wrong_amount, decided', '200000 wrong_amount'])
  expect(await held(500_000n)).toBe('already')
  expect(await held(500_000n)).toBe('already')
  expect(await waiting('a-link%')).toEqual([
    '100000 wrong_amount, decided',
    '200000 wrong_amount',
    '200000 wrong_amount',
  ])
  expect(await balance(an.id)).toBe(100_000n)
  await portal.ledgerHolds()
})

test('what the list shows late beside what was credited waits, once', async () => {
  const { an, reference } = await begun(2, 'VIETQR')
  const held = (amount: bigint, movement = 'late-link') =>
    tell(
      'payos',
      update({
        eventId: `${movement} ${amount}`,
        reference,
        providerTransactionId: movement,
        amount,
      }),
    )
  expect(await held(500_000n)).toBe('recorded')
  // The additional amount has a row beside it, under a number of its own.
  await held(30_000n, 'late-link:FT3')
  // A smaller transfer with an earlier time of the bank's: the link holds more than was credited.
  expect(await held(520_000n)).toBe('wrong_amount')
  expect(await held(520_000n)).toBe('wrong_amount')
  expect(await held(500_000n)).toBe('already')
  expect(await waiting('late-link%')).toEqual(['30000 wrong_amount', '20000 wrong_amount'])
  expect(await held(525_000n)).toBe('wrong_amount')
  expect(await waiting('late-link%')).toEqual([
    '30000 wrong_amount',
    '20000 wrong_amount',
    '5000 wrong_amount',
  ])
  expect(await balance(an.id)).toBe(500_000n)
  await portal.ledgerHolds()
})

test('the code that money came with is one that the desk knows', async () => {
  const { an, code, reference } = await begun(2, 'VIETQR')
  expect(reference).not.toBe(code)
  for (const movement of ['paid-link', 'paid-link:T1', 'paid-link:T2'])
    await tell(
      'payos',
      update({
        eventId: movement,
        reference,
        providerTransactionId: movement,
        amount: 500_000n,
      }),
    )
  expect(await waiting('paid-link%')).toEqual(Array(2).fill('500000 paid_twice'))
  const { body } = await finance.call<{ id: number; code: string; payment: string }[]>(
    'GET',
    '/api/operator/suspense',
  )
  const found = body.result.filter((row) => row.code === reference)
  expect(found.map(({ payment }) => payment)).toEqual([code, code])
  const hits = await finance.call<{ kind: string; customer: { id: string } | null }[]>(
    'GET',
    `/api/operator/search?q=${reference}`,
  )
  expect(hits.body.result).toMatchObject([{ kind: 'payment', customer: { id: an.id } }])
  const [first, second] = found.map(({ id }) => id)
  const given = await finance.act('money.assign', {
    suspense: first,
    to: reference,
    reason: 'paid twice',
  })
  expect(given.status, given.text).toBe(200)
  expect(await balance(an.id)).toBe(1_000_000n)
  await finance.act('money.return', { suspense: second, reason: 'sent back' })
  const trail = await finance.call<{ act: string; customerId: string | null }[]>(
    'GET',
    '/api/operator/trail',
  )
  expect(trail.body.result.slice(0, 2)).toMatchObject([
    { act: 'money.return', customerId: an.id },
    { act: 'money.assign', customerId: an.id },
  ])
  await portal.ledgerHolds()
})

/** A payment by transfer, and the feeds' reports of it. */
async function transferred() {
  const { an, reference } = await begun(1, 'BANKTRANSFER')
  const from = (feed: string, number: string, amount = 500_000n) =>
    tell(
      'bank',
      update({
        eventId: `${feed}:${number}`,
        reference,
        providerTransactionId: `0071000888999:${number}`,
        amount,
      }),
    )
  return { an, from }
}

test('of a transfer without a number of the bank’s the second feed’s word waits', async () => {
  const { an, from } = await transferred()
  expect(await from('sepay', 'sepay:1')).toBe('recorded')
  expect(await from('casso', 'casso:1')).toBe('recorded')
  expect(await from('casso', 'casso:1')).toBe('recorded')
  expect(await from('sepay', 'FT1')).toBe('recorded')
  expect(await balance(an.id)).toBe(500_000n)
  expect(await waiting('0071000888999:casso:1')).toEqual(['500000 maybe_twice'])
  expect(await waiting('0071000888999:FT1')).toEqual(['500000 maybe_twice'])
  // A different amount is a different transfer.
  expect(await from('casso', 'casso:2', 70_000n)).toBe('recorded')
  expect(await balance(an.id)).toBe(570_000n)
  await portal.ledgerHolds()
})

test('a second feed’s word waits also when another transfer came in between', async () => {
  const { an, from } = await transferred()
  await from('sepay', 'sepay:11')
  await from('sepay', 'sepay:12', 70_000n)
  await from('casso', 'casso:11')
  await from('casso', 'casso:12', 70_000n)
  // Reported again, it still waits.
  await from('casso', 'casso:11')
  expect(await balance(an.id)).toBe(570_000n)
  expect(await waiting('0071000888999:casso:1_')).toEqual([
    '500000 maybe_twice',
    '70000 maybe_twice',
  ])
  await portal.ledgerHolds()
})

test('one feed tells of each transfer once: two of one amount are two', async () => {
  const { an, from } = await transferred()
  await from('sepay', 'sepay:21')
  await from('casso', 'casso:21')
  // Casso knows of two, and one of them may be SePay's.
  await from('casso', 'casso:22')
  expect(await balance(an.id)).toBe(1_000_000n)
  await from('sepay', 'sepay:22')
  expect(await balance(an.id)).toBe(1_000_000n)
  await from('sepay', 'sepay:23')
  expect(await balance(an.id)).toBe(1_500_000n)
  expect(await waiting('0071000888999:%:2_')).toEqual(Array(2).fill('500000 maybe_twice'))
  await portal.ledgerHolds()
})

test('transfers with numbers of the bank’s are credited each, of one amount as well', async () => {
  const { an, reference } = await begun(1, 'BANKTRANSFER')
  for (const number of ['FT7', 'FT8'])
    expect(
      await tell(
        'bank',
        update({
          eventId: `sepay:${number}`,
          reference,
          providerTransactionId: `0071000888999:${number}`,
          amount: 500_000n,
        }),
      ),
    ).toBe('recorded')
  expect(await balance(an.id)).toBe(1_000_000n)
  await portal.ledgerHolds()
})
