/** Pay-outs about which gateways do not tell everything, and files with identical rows. */
import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Payout, Question } from '../../contract/operator-money.ts'
import { cardsOf } from '../../test/card-holder.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { stripeBrowser, type Browser } from '../../test/stripe-browser.ts'
import { hours, later } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

/** Since when Stripe was asked for its pay-outs. */
const askedSince: string[] = []
let portal: TestPortal
let browser: Browser
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({
    timing: { askGatewaySeconds: [3600] },
    changeDrivers(drivers) {
      const stripe = drivers.payments.get('stripe')
      if (!stripe?.payouts) throw new Error('Stripe is asked for its pay-outs')
      const { payouts } = stripe
      const noted = {
        ...stripe,
        payouts(since: Date) {
          askedSince.push(since.toISOString())
          return payouts(since)
        },
      }
      return { ...drivers, payments: new Map([...drivers.payments, ['stripe', noted]]) }
    },
  })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())
const { dashboard, paid, balances } = cardsOf(
  () => portal,
  () => browser,
)

const reason = 'the statement of the bank has it'
async function read(): Promise<Payout[]> {
  const wish = { gateway: 'stripe', since: '2020-01-01', reason }
  expect((await finance.act('payout.read', wish)).status).toBe(200)
  await jobsIdle(portal.app.db)
  return (await finance.call<Payout[]>('GET', '/api/operator/payouts')).body.result
}
const linesOf = async ({ id }: Payout) =>
  (
    await finance.call<{ lines: { kind: string; amount: number; fault: string | null }[] }>(
      'GET',
      `/api/operator/payouts/${id}`,
    )
  ).body.result.lines
const itemOf = async (about: string): Promise<Question | undefined> =>
  (
    await finance.call<{ items: Question[] }>('GET', '/api/operator/reconciliation')
  ).body.result.items.find((item) => item.about === about)
const payOut = (manner = '') => dashboard({ action: 'pay_out', currency: 'aud', manner })

const bankBalance = async (): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', 'bank:AUD')
      .executeTakeFirstOrThrow()
  ).balance

describe('Stripe', () => {
  test('is asked back to the day that was named, also while the hourly read waits', async () => {
    const { db } = portal.app
    const hour = later(new Date(), hours(1))
    await transaction(db, (tx) =>
      portal.app.jobs.add(tx, 'read-payouts-stripe', {}, { startAfter: hour }),
    )
    askedSince.length = 0
    const wish = { gateway: 'stripe', since: '2020-01-01', reason }
    expect((await finance.act('payout.read', wish)).status).toBe(200)
    await eventually('the read', async () => askedSince.length > 0)
    expect(askedSince).toEqual(['2020-01-01T00:00:00.000Z'])
    await sql`delete from pgboss.job
      where name = 'read-payouts-stripe' and state = 'created'`.execute(db)
  })

  test('changes dollars of one kind into another: each line is compared in its own', async () => {
    const an = await portal.customer({ region: 'USD' })
    const right = await paid(an, 2000)
    const wrong = await paid(an, 1000)
    await dashboard({ action: 'refund', payment: right.payment, amount: '500' })
    await balances(an, 2500)
    // As at a merchant in Australia whose account holds Australian dollars alone.
    await sql`update sandbox.stripe_objects set data = data || jsonb_build_object(
        'currency', 'aud', 'exchange_rate', 1.5, 'fee', 0,
        'amount', (data->>'amount')::int * 3 / 2, 'net', (data->>'amount')::int * 3 / 2)
      where kind = 'balance_transaction' and data->>'currency' = 'usd'`.execute(portal.app.db)
    await sql`update payment set received = 900 where code = ${wrong.code}`.execute(portal.app.db)
    await payOut()
    const [payout] = await read()
    expect(payout).toMatchObject({ currency: 'AUD', amount: 3000 + 1500 - 750, differences: 1 })
    const lines = payout ? await linesOf(payout) : []
    expect(lines.map(({ kind, amount, fault }) => `${kind} ${amount} ${fault}`).toSorted()).toEqual(
      ['payment 1500 amount', 'payment 3000 null', 'refund -750 null'],
    )
    await sql`update payment set received = 1000 where code = ${wrong.code}`.execute(portal.app.db)
    await portal.ledgerHolds()
  })

  test('does not say what is in a pay-out by hand: its amount is to be explained', async () => {
    await paid(await portal.customer({ region: 'AUD' }), 2000)
    await payOut('manual')
    const [payout] = await read()
    const amount = 2000 - 35 - 30
    expect(payout).toMatchObject({ amount, fees: 0, differences: 1 })
    expect(payout?.postedAt).not.toBeNull()
    expect(await itemOf(payout?.reference ?? '')).toMatchObject({
      kind: 'payout',
      here: 0,
      there: amount,
    })
  })

  test('gives no lines of one: it is to be seen, and keeps no other waiting', async () => {
    await paid(await portal.customer({ region: 'AUD' }), 3000)
    await payOut()
    await paid(await portal.customer({ region: 'AUD' }), 4000)
    await payOut('unreadable')
    const payouts = await read()
    const whole = payouts.find(({ amount }) => amount === 3000 - 53 - 30)
    const withoutLines = payouts.find(({ amount }) => amount === 4000 - 70 - 30)
    expect(whole).toMatchObject({ differences: 0, postedAt: expect.any(String) as string })
    expect(withoutLines).toMatchObject({ fees: 0, postedAt: null })
    const item = await itemOf(withoutLines?.reference ?? '')
    expect(item).toMatchObject({ kind: 'payout_not_posted', here: null, there: 3900 })
    const closed = await finance.act('reconcile.close', { item: item?.id, reason })
    expect(closed.status, closed.text).toBe(200)
    await read()
    expect(await itemOf(withoutLines?.reference ?? '')).toBeUndefined()
  })

  test('pays again what the bank sent back, in a line that is no payment and no fee', async () => {
    await paid(await portal.customer({ region: 'AUD' }), 5000)
    await payOut()
    const [first] = await read()
    await dashboard({ action: 'fail_payout', payout: first?.reference ?? '' })
    await payOut()
    const [second] = await read()
    expect(second?.reference).not.toBe(first?.reference)
    expect(second).toMatchObject({ amount: first?.amount, fees: 0, differences: 1 })
    const lines = second ? await linesOf(second) : []
    expect(lines).toMatchObject([{ kind: 'other', amount: first?.amount, fault: 'unknown' }])
    await portal.ledgerHolds()
  })

  test('has lines that another pay-out had: it is not posted, and to be seen', async () => {
    await paid(await portal.customer({ region: 'AUD' }), 6000)
    await payOut()
    // As if the pay-out had been posted under another name before.
    const [newest] = await read()
    await portal.app.db
      .updateTable('gateway_payout')
      .set({ reference: 'po_of_before' })
      .where('id', '=', newest?.id ?? '')
      .execute()
    const bank = await bankBalance()
    const [again] = await read()
    expect(again).toMatchObject({ reference: newest?.reference, postedAt: null })
    expect(await itemOf(newest?.reference ?? '')).toMatchObject({ kind: 'payout_not_posted' })
    expect(await bankBalance()).toBe(bank)
    await portal.ledgerHolds()
  })
})

describe('a file', () => {
  const importing = (file: string, more: object = {}) =>
    finance.act<ActOutcome>('payout.import', {
      gateway: 'vnpay',
      reference: `VNP-${randomUUID().slice(0, 8)}`,
      currency: 'VND',
      amount: 50_000,
      arrivedOn: '2026-11-24',
      fileName: 'doi-soat.csv',
      file,
      reason,
      ...more,
    })

  test('of each month has the same fee, and a payment that is refunded in parts', async () => {
    const head = 'transaction,amount,type\n'
    const rows = 'P-1,-10000,refund\nP-1,-10000,refund\nMONTHLY,-5500,fee\n'
    const october = await importing(`${head}P-1,100000,payment\n${rows}`)
    const november = await importing(`${head}P-2,100000,payment\n${rows}`)
    expect([october.status, november.status], november.text).toEqual([200, 200])
    const twice = await importing(`${head}P-2,100000,payment\nP-3,100000,payment\n`)
    expect(twice.body.error?.fields?.['file']).toContain('P-2')
    await portal.ledgerHolds()
  })

  test('is of a gateway that is not asked by a call, and is in the trail by its hash', async () => {
    const file = 'transaction,amount\nA-STRIPE-1,20.00\n'
    const stripe = await importing(file, { gateway: 'stripe', currency: 'AUD' })
    expect([stripe.status, Object.keys(stripe.body.error?.fields ?? {})]).toEqual([
      409,
      ['gateway'],
    ])
    const kept = 'transaction,amount\nA-NAME-THAT-NO-TRAIL-NEEDS,20000\n'
    const { body } = await importing(kept)
    const act = await portal.app.db
      .selectFrom('operator_act')
      .select('input')
      .where('seq', '=', BigInt(body.result.act ?? 0))
      .executeTakeFirstOrThrow()
    expect(act.input).toMatchObject({
      characters: kept.length,
      sha256: createHash('sha256').update(kept).digest('hex'),
    })
    expect(act.input).not.toHaveProperty('file')
  })

  test('may have the name that another gateway gave: the amount tells which is meant', async () => {
    const reference = `SAME-${randomUUID().slice(0, 8)}`
    const named = (gateway: string, amount: number) =>
      importing(`transaction,amount\n${gateway}-${amount},${amount}\n`, {
        gateway,
        reference,
        amount,
      })
    expect((await named('vnpay', 61_000)).status).toBe(200)
    expect((await named('alepay', 62_000)).status).toBe(200)
    for (const amount of [62_000n, 61_000n]) {
      const movement = `FT-${amount}`
      await portal.app.topUps.settlement.settle(
        { name: 'bank', displayName: 'Bank', credits: 'received' },
        {
          eventId: movement,
          reference: null,
          providerTransactionId: movement,
          status: 'succeeded',
          amount,
          currency: 'VND',
          occurredAt: null,
          detail: 'CHI TRA',
        },
      )
      const suspense = Number((await itemOf(movement))?.id.split(':')[1])
      const matched = await finance.act('payout.match', { suspense, payout: reference, reason })
      expect(matched.status, matched.text).toBe(200)
    }
    await portal.ledgerHolds()
  })
})
