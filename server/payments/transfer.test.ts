/**
 * Transfers to the provider's own account: each arriving transfer is credited once, whatever the
 * customer typed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ timing: { askGatewaySeconds: [1, 1, 1, 1, 1, 1, 1, 1] } })
})
afterAll(() => portal.close())

interface Transfer {
  transactionCode: string
  amount: number
  received: number
  status: string
  accountNumber: string
  content: string
  qr: string
  appUrl: string
}

async function begun(amount = 200_000): Promise<{ an: TestCustomer; of: Transfer }> {
  const an = await portal.customer()
  const { body } = await portal.call<{ checkoutUrl: string; transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    {
      token: an.token,
      body: { amount, type: 1, method: 'BANKTRANSFER' },
    },
  )
  const { checkoutUrl, transactionCode } = body.result
  expect(checkoutUrl).toBe(`${portal.url}/payment/transfer/${transactionCode}`)
  return { an, of: await shown(an, transactionCode) }
}
const shown = async (an: TestCustomer, code: string): Promise<Transfer> =>
  (
    await portal.call<Transfer>('GET', `/api/payments/transfer?transactionCode=${code}`, {
      token: an.token,
    })
  ).body.result
const send = async (fields: Record<string, string>): Promise<void> => {
  const answer = await fetch(`${portal.sandboxUrl}/bank/app`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  })
  expect(answer.status).toBe(200)
}
const wallet = async ({ token }: TestCustomer): Promise<number[]> =>
  (await portal.call<{ amount: number }[]>('GET', '/api/payments/stripe', { token })).body.result
    .map(({ amount }) => amount)
    .toReversed()
const suspense = () =>
  portal.app.db.selectFrom('payment_suspense').selectAll().where('driver', '=', 'bank').execute()

test('of what was asked for: the wallet holds it, and both pages say so', async () => {
  const { an, of } = await begun()
  expect(of).toMatchObject({
    amount: 200_000,
    received: 0,
    status: 'pending',
    accountNumber: portal.keysOf('bank')['accountNumber'],
  })
  expect(of.appUrl).toContain('/bank/app?qr=')
  await send({ account: of.accountNumber, amount: '200000', content: of.content })
  expect(await wallet(an)).toEqual([200_000])
  expect(await shown(an, of.transactionCode)).toMatchObject({
    received: 200_000,
    status: 'succeeded',
  })
  const found = await portal.call(
    'GET',
    `/api/payments/get-transaction?transactionCode=${of.transactionCode}`,
    { token: an.token },
  )
  expect(found.body.result).toMatchObject({
    amount: 200_000,
    status: 'succeeded',
    description: 'Top-up via Vietcombank',
  })
})

test('begun and left, it is found until its money has come; nobody else sees it', async () => {
  const waiting = async ({ token }: TestCustomer) =>
    (
      await portal.call<{ transactionCode: string; amount: number }[]>(
        'GET',
        '/api/payments/transfers',
        { token },
      )
    ).body.result
  const { an, of } = await begun()
  const { body } = await portal.call<{ transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    {
      token: an.token,
      body: { amount: 300_000, type: 1, method: 'BANKTRANSFER' },
    },
  )
  await portal.topUp(an, 100_000, 'late')
  const newest = {
    transactionCode: body.result.transactionCode,
    amount: 300_000,
    currency: 'VND',
    expiresAt: expect.any(String) as string,
  }
  expect(await waiting(an)).toEqual([
    newest,
    expect.objectContaining({ transactionCode: of.transactionCode, amount: 200_000 }),
  ])
  expect(await waiting(await portal.customer())).toEqual([])
  await send({ account: of.accountNumber, amount: '200000', content: of.content })
  expect(await waiting(an)).toEqual([newest])
})

test.each([
  ['too much', '250000', 'sepay', 'plain'],
  ['too little', '1000', 'sepay', 'prefixed'],
  ['told by Casso', '200000', 'casso', 'glued'],
])('of %s: what arrived is credited', async (_what, amount, feed, manner) => {
  const { an, of } = await begun()
  await send({
    account: of.accountNumber,
    amount,
    content: `nap vi ${of.content.toLowerCase()}`,
    feed,
    manner,
  })
  expect(await wallet(an)).toEqual([Number(amount)])
})

test('made twice: both are credited, each once', async () => {
  const { an, of } = await begun()
  await send({ account: of.accountNumber, amount: '200000', content: of.content })
  await send({ account: of.accountNumber, amount: '300000', content: of.content, feed: 'casso' })
  expect(await wallet(an)).toEqual([200_000, 300_000])
  expect(await shown(an, of.transactionCode)).toMatchObject({ received: 500_000 })
  await portal.ledgerHolds()
})

test('whose notice is lost is found by asking', async () => {
  const { an, of } = await begun()
  await send({ account: of.accountNumber, amount: '120000', content: of.content, notice: 'lost' })
  await eventually('the lost transfer', async () => (await wallet(an)).length > 0)
  expect(await wallet(an)).toEqual([120_000])
})

test('made twice, and both notices are lost: both are found by asking', async () => {
  const { an, of } = await begun()
  await send({ account: of.accountNumber, amount: '150000', content: of.content, notice: 'lost' })
  await send({ account: of.accountNumber, amount: '50000', content: of.content, notice: 'lost' })
  await eventually('the lost transfers', async () => (await wallet(an)).length === 2)
  expect((await wallet(an)).toSorted((a, b) => a - b)).toEqual([50_000, 150_000])
  expect(await shown(an, of.transactionCode)).toMatchObject({
    received: 200_000,
    status: 'succeeded',
  })
  await portal.ledgerHolds()
})

test('without a code, or to our other account: it waits in suspense, uncredited', async () => {
  const { an, of } = await begun()
  const before = (await suspense()).length
  await send({ account: of.accountNumber, amount: '77000', content: 'chuc mung sinh nhat' })
  await send({ account: '0999', amount: '88000', content: of.content })
  expect(await wallet(an)).toEqual([])
  expect(
    (await suspense()).slice(before).map(({ amount, reason }) => `${amount} ${reason}`),
  ).toEqual(['77000 unknown_order', '88000 unknown_order'])
  await portal.ledgerHolds()
})

describe('told by two feeds', () => {
  const bank = { name: 'bank', displayName: 'Vietcombank', credits: 'received' } as const
  let numbers = 0
  /** A feed's webhook about a movement; a text that the feed cut contains no code. */
  const tell = async (
    feed: string,
    reference: string | null,
    amount: bigint,
    bankReference: string,
  ): Promise<string> =>
    (
      await portal.app.topUps.settlement.settle(bank, {
        eventId: `${feed}:${bankReference}`,
        reference,
        providerTransactionId: `0071:${bankReference}`,
        status: 'succeeded',
        amount,
        currency: 'VND',
        occurredAt: null,
        detail: bankReference,
      })
    ).outcome
  const newReference = (): string => `FT${++numbers}`
  const waiting = async (bankReference: string): Promise<string[]> =>
    (await suspense())
      .filter((row) => row.provider_transaction_id.endsWith(`:${bankReference}`))
      .map((row) => `${row.amount} ${row.reason}${row.resolved_at === null ? '' : ', resolved'}`)
  const inSuspense = async (): Promise<bigint> =>
    (
      await portal.app.db
        .selectFrom('ledger_account')
        .select('balance')
        .where('code', '=', 'suspense:bank:VND')
        .executeTakeFirstOrThrow()
    ).balance

  test('unreadable first: what waited is credited, and waits no more', async () => {
    const { an, of } = await begun()
    const [reference, before] = [newReference(), await inSuspense()]
    expect(await tell('casso', null, 90_000n, reference)).toBe('unknown_order')
    expect((await inSuspense()) - before).toBe(90_000n)
    expect(await tell('sepay', of.content, 90_000n, reference)).toBe('recorded')
    expect(await wallet(an)).toEqual([90_000])
    expect(await waiting(reference)).toEqual(['90000 unknown_order, resolved'])
    expect([
      await tell('casso', null, 90_000n, reference),
      await tell('sepay', of.content, 90_000n, reference),
    ]).toEqual(['unknown_order', 'already'])
    expect(await wallet(an)).toEqual([90_000])
    expect(await inSuspense()).toBe(before)
    await portal.ledgerHolds()
  })

  test('readable first: nothing waits', async () => {
    const { an, of } = await begun()
    const [reference, before] = [newReference(), await inSuspense()]
    expect(await tell('sepay', of.content, 90_000n, reference)).toBe('recorded')
    expect(await tell('casso', null, 90_000n, reference)).toBe('unknown_order')
    expect(await wallet(an)).toEqual([90_000])
    expect(await waiting(reference)).toEqual([])
    expect(await inSuspense()).toBe(before)
  })

  test('at once, many times: credited once, and nothing waits', async () => {
    const { an, of } = await begun()
    const before = await inSuspense()
    const references = Array.from({ length: 6 }, newReference)
    await Promise.all(
      references.flatMap((reference) => [
        tell('casso', null, 1_000n, reference),
        tell('sepay', of.content, 1_000n, reference),
      ]),
    )
    expect(await wallet(an)).toEqual(Array<number>(6).fill(1_000))
    expect(await inSuspense()).toBe(before)
    await portal.ledgerHolds()
  })

  test("a bank's reference that another transfer has already waits in suspense, once", async () => {
    const [mine, theirs] = [await begun(), await begun()]
    const reference = newReference()
    expect(await tell('sepay', mine.of.content, 90_000n, reference)).toBe('recorded')
    expect(await tell('sepay-2', mine.of.content, 91_000n, reference)).toBe('recorded')
    expect(await tell('sepay-2', mine.of.content, 91_000n, reference)).toBe('recorded')
    expect(await tell('sepay-3', theirs.of.content, 90_000n, reference)).toBe('recorded')
    expect(await tell('sepay-4', null, 92_000n, reference)).toBe('unknown_order')
    expect([await wallet(mine.an), await wallet(theirs.an)]).toEqual([[90_000], []])
    expect(await waiting(reference)).toEqual([
      '91000 reference_reused',
      '90000 reference_reused',
      '92000 reference_reused',
    ])
    await portal.ledgerHolds()
  })
})

test('is shown to its owner only, and only of payments that are transfers', async () => {
  const { an, of } = await begun()
  const other = await portal.customer()
  expect(
    (
      await portal.call('GET', `/api/payments/transfer?transactionCode=${of.transactionCode}`, {
        token: other.token,
      })
    ).status,
  ).toBe(404)
  const { transactionCode } = await portal.topUp(an, 50_000)
  expect(
    (
      await portal.call('GET', `/api/payments/transfer?transactionCode=${transactionCode}`, {
        token: an.token,
      })
    ).status,
  ).toBe(404)
})
