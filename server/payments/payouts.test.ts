/**
 * Pay-outs of gateways: read by a call or imported as a file, posted once to bank and fees, and
 * compared line by line with what the portal knows.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Payout } from '../../contract/operator-money.ts'
import { cardsOf } from '../../test/card-holder.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { stripeBrowser, type Browser } from '../../test/stripe-browser.ts'
import { transaction } from '../platform/db.ts'
import { readCsv } from '../platform/csv-reader.ts'
import { linesOfFile } from './payout-file.ts'
import { recordPayout } from './payouts.ts'

interface Whole extends Payout {
  lineSum: number | null
  lines: {
    kind: string
    amount: number
    fee: number
    code: string | null
    fault: string | null
    expected: number | null
  }[]
}

let portal: TestPortal
let browser: Browser
let finance: TestMember
let readOnly: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ timing: { askGatewaySeconds: [3600] } })
  browser = stripeBrowser(portal.sandboxUrl, portal.keysOf('stripe')['publishableKey'] ?? '')
  finance = await newMember(portal, 'finance')
  readOnly = await newMember(portal, 'read_only')
})
afterAll(() => portal.close())
const { balances, dashboard, paid } = cardsOf(
  () => portal,
  () => browser,
)

const reason = 'the statement of the bank has it'
const read = (gateway: string) =>
  finance.act('payout.read', { gateway, since: '2020-01-01', reason })
const payouts = async (): Promise<Payout[]> =>
  (await readOnly.call<Payout[]>('GET', '/api/operator/payouts')).body.result
const newest = (gateway: string, wished: (one: Payout) => boolean = () => true) =>
  eventually(`a pay-out of ${gateway}`, async () =>
    (await payouts()).find((one) => one.gateway === gateway && wished(one)),
  )
const wholeOf = async ({ id }: { id: string }): Promise<Whole> =>
  (await readOnly.call<Whole>('GET', `/api/operator/payouts/${id}`)).body.result
const balanceOf = async (code: string): Promise<number> =>
  Number(
    (
      await portal.app.db
        .selectFrom('ledger_account')
        .select('balance')
        .where('code', '=', code)
        .executeTakeFirstOrThrow()
    ).balance,
  )
const square = (fields: Record<string, string>) =>
  fetch(`${portal.sandboxUrl}/square/dashboard`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
  })

describe('Stripe', () => {
  test('pays out; bank and fees are posted once, and the gateway owes nothing more', async () => {
    const an = await portal.customer({ region: 'AUD' })
    const first = await paid(an, 2000)
    const second = await paid(an, 3000)
    await dashboard({ action: 'refund', payment: first.payment, amount: '500' })
    await balances(an, 4500)
    await dashboard({ action: 'dispute', payment: second.payment })
    await balances(an, 1500)
    await dashboard({ action: 'fee', amount: '77' })
    await dashboard({ action: 'pay_out', currency: 'aud' })
    await read('stripe')
    const payout = await newest('Stripe', ({ postedAt }) => postedAt !== null)
    const whole = await wholeOf(payout)
    // 1.75 % and 30 per charge; 1500 for the dispute; and Stripe's own 77.
    const fees = 35 + 30 + (53 + 30) + 1500 + 77
    expect(whole).toMatchObject({ fees, amount: 1500 - fees, differences: 0, file: null })
    expect(whole.lineSum).toBe(whole.amount)
    const kinds = whole.lines.map(({ kind, amount, code }) => `${kind} ${amount} ${code}`)
    expect(kinds.toSorted()).toEqual(
      [
        `payment 2000 ${first.code}`,
        `payment 3000 ${second.code}`,
        `refund -500 ${first.code}`,
        `dispute -3000 ${second.code}`,
        'fee -77 null',
      ].toSorted(),
    )
    expect(await balanceOf('gateway:stripe:AUD')).toBe(0)
    expect(await balanceOf('bank:AUD')).toBe(-whole.amount)
    expect(await balanceOf('fee:stripe:AUD')).toBe(-fees)

    await Promise.all([read('stripe'), read('stripe')])
    const after = await paid(an, 1000)
    await read('stripe')
    await jobsIdle(portal.app.db)
    expect(after.code).not.toBe(first.code)
    expect(await balanceOf('bank:AUD')).toBe(-whole.amount)
    await portal.ledgerHolds()

    const held = await readOnly.call<{ gateways: { name: string; waiting: number }[] }>(
      'GET',
      '/api/operator/holdings',
    )
    expect(held.body.result.gateways.find(({ name }) => name === 'stripe')?.waiting).toBe(1000)
  })

  test('whose pay-out the bank sends back holds the money again, and keeps its fees', async () => {
    const an = await portal.customer({ region: 'AUD' })
    await paid(an, 4000)
    await dashboard({ action: 'pay_out', currency: 'aud' })
    await read('stripe')
    const posted = await newest(
      'Stripe',
      ({ postedAt, amount }) => postedAt !== null && amount > 4000,
    )
    const [bank, fees] = [await balanceOf('bank:AUD'), await balanceOf('fee:stripe:AUD')]
    await dashboard({ action: 'fail_payout', payout: posted.reference })
    await read('stripe')
    await newest('Stripe', ({ id, status }) => id === posted.id && status === 'failed')
    expect(await balanceOf('bank:AUD')).toBe(bank + posted.amount)
    expect(await balanceOf('gateway:stripe:AUD')).toBe(-posted.amount)
    expect(await balanceOf('fee:stripe:AUD')).toBe(fees)
    await read('stripe')
    await jobsIdle(portal.app.db)
    expect(await balanceOf('gateway:stripe:AUD')).toBe(-posted.amount)
    await portal.ledgerHolds()
  })
})

test('Square pays out, and a payment that the portal never had is a difference', async () => {
  const an = await portal.customer({ region: 'AUD' })
  const locationId = portal.keysOf('square')['locationId'] ?? ''
  await portal.call('POST', '/api/payments/square/checkout', {
    token: an.token,
    body: { amount: 5000, locationId, source_id: 'cnon:card-nonce-ok' },
  })
  await balances(an, 5000)
  // The seller's till took this one.
  const till = await fetch(`${portal.sandboxUrl}/square/v2/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${portal.keysOf('square')['accessToken']}` },
    body: JSON.stringify({
      source_id: 'cnon:card-nonce-ok',
      idempotency_key: randomUUID(),
      amount_money: { amount: 700, currency: 'AUD' },
      location_id: locationId,
    }),
  })
  expect(till.status).toBe(200)
  await square({ action: 'pay_out' })
  const bank = await balanceOf('bank:AUD')
  await read('square')
  const payout = await newest('Square', ({ postedAt }) => postedAt !== null)
  expect(payout).toMatchObject({ amount: 5700 - 110 - 15, fees: 125, differences: 1 })
  const { lines } = await wholeOf(payout)
  expect(lines[0]).toMatchObject({ amount: 700, fault: 'unknown', code: null })
  expect(lines[1]).toMatchObject({ amount: 5000, fault: null })
  expect(await balanceOf('bank:AUD')).toBe(bank - payout.amount)
  // The gateway's account differs by the 700 that were paid at the till.
  expect(await balanceOf('gateway:square:AUD')).toBe(700)
  await portal.ledgerHolds()
})

describe('a file', () => {
  const codeOf = async (amount: number): Promise<string> => {
    const an = await portal.customer()
    await portal.topUp(an, amount)
    const row = await portal.app.db
      .selectFrom('payment')
      .select('code')
      .where('customer_id', '=', an.id)
      .executeTakeFirstOrThrow()
    return row.code
  }
  const importing = (by: TestMember, file: string, more: object = {}) =>
    by.act<ActOutcome>('payout.import', {
      gateway: 'vnpay',
      reference: `VNP-${randomUUID().slice(0, 8)}`,
      currency: 'VND',
      amount: 98_900,
      arrivedOn: '2026-11-24',
      fileName: 'doi-soat.csv',
      file,
      reason,
      ...more,
    })

  test('is posted once, in Vietnamese too, and says what does not agree', async () => {
    const [one, other] = [await codeOf(100_000), await codeOf(50_000)]
    const file =
      `\uFEFFSTT;Mã giao dịch;Loại giao dịch;Số tiền;Phí\r\n` +
      `1;${one};Thanh toán;100000;1100\r\n2;${other};Thanh toán;49000;500\r\n` +
      `3;NOBODY;Thanh toán;7000;0\r\n`
    expect((await importing(readOnly, file)).status).toBe(403)
    const wish = { amount: 154_400, reference: 'VNP-2026-11-24' }
    const before = await balanceOf('gateway:vnpay:VND')
    const done = await importing(finance, file, wish)
    expect(done.body.result.after).toMatchObject({ fees: 1600, lineSum: 154_400 })
    expect(await balanceOf('fee:vnpay:VND')).toBe(-1600)
    expect(await balanceOf('bank:VND')).toBe(-154_400)
    expect(await balanceOf('gateway:vnpay:VND')).toBe(before + 156_000)
    const payout = await newest('VNPay')
    expect(payout).toMatchObject({ file: 'doi-soat.csv', differences: 2 })
    const { lines } = await wholeOf(payout)
    expect(lines.map(({ fault, expected }) => [fault, expected])).toEqual([
      ['amount', 50_000],
      ['unknown', null],
      [null, 100_000],
    ])

    const again = await importing(finance, file, { ...wish, reference: 'VNP-again' })
    expect(again.body.error?.fields).toEqual({ file: expect.any(String) as string })
    // The same lines in another file, and the same name.
    const changed = await importing(finance, `${file}4;X;Thanh toán;1;0\r\n`)
    expect(changed.body.error?.fields?.['file']).toContain(one)
    const named = await importing(finance, 'transaction,amount\nOTHER,5000\n', wish)
    expect(named.body.error?.fields).toHaveProperty('reference')
    expect(await balanceOf('bank:VND')).toBe(-154_400)
    await portal.ledgerHolds()
  })

  test('that cannot be read is refused with its row, and nothing is posted', async () => {
    const bank = await balanceOf('bank:VND')
    const wrong = [
      'amount,fee\n5000,0\n',
      'transaction,amount\nA,5.000\n',
      'transaction,amount\nA,lots\n',
      'transaction,amount\n\n',
      'transaction,amount\nA,1\nA,1\n',
    ]
    for (const file of wrong) {
      const { status, body } = await importing(finance, file)
      expect([status, Object.keys(body.error?.fields ?? {})]).toEqual([409, ['file']])
    }
    const unknown = await importing(finance, 'transaction,amount\nA,1\n', { gateway: 'nobody' })
    expect(unknown.body.error?.fields?.['gateway']).toContain('vnpay')
    expect(
      (await finance.act('payout.read', { gateway: 'vnpay', since: '2026-11-01', reason })).status,
    ).toBe(409)
    expect(await balanceOf('bank:VND')).toBe(bank)
  })

  test('is imported by a command, which tries it first', async () => {
    const code = await codeOf(60_000)
    const file = path.join(portal.dataDir, 'payos.csv')
    writeFileSync(file, `transaction,amount,fee\n${code},60000,400\n`)
    const bank = await balanceOf('bank:VND')
    const words = ['act', 'payout.import', '--gateway', 'vnpay', '--reference', 'by-command']
    const rest = ['--currency', 'VND', '--amount', '59600', '--arrivedOn', '2026-11-25']
    const all = [...words, ...rest, '--fileName', 'payos.csv', '--file', `@${file}`]
    const tried = await runCommand(portal, {}, ...all, '--reason', reason, '--dry-run', '--json')
    expect(JSON.parse(tried.said)).toMatchObject({ dryRun: true, after: { fees: 400 } })
    expect(await balanceOf('bank:VND')).toBe(bank)
    const done = await runCommand(portal, {}, ...all, '--reason', reason, '--json')
    expect(JSON.parse(done.said)).toMatchObject({ state: 'done', after: { lineSum: 59_600 } })
    expect(await balanceOf('bank:VND')).toBe(bank - 59_600)
  })
})

test('generated pay-outs move what they say between gateway, bank and fees, once', async () => {
  const line = fc.record({
    kind: fc.constantFrom('payment', 'refund', 'dispute', 'fee', 'other'),
    amount: fc.bigInt(-1_000_000n, 1_000_000n),
    fee: fc.bigInt(-5000n, 5000n),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.bigInt(-10_000n, 10_000n),
      fc.constantFrom('paid', 'failed', 'on_its_way'),
      async (made, off, status) => {
        const id = randomUUID()
        const lines = made.map((each, n) => ({ ...each, id: `${id}:${n}`, movement: null }))
        const fees = lines.reduce(
          (sum, { kind, amount, fee }) => sum + fee - (kind === 'fee' ? amount : 0n),
          0n,
        )
        // `off`: the bank got another sum than the lines say.
        const amount = lines.reduce((sum, each) => sum + each.amount - each.fee, 0n) + off
        const codes = ['gateway:alepay:VND', 'bank:VND', 'fee:alepay:VND']
        const all = () => Promise.all(codes.map(balanceOf))
        const before = await all()
        const payout = { id, currency: 'VND', amount, arrivesAt: new Date(), lines } as const
        const record = (now: 'paid' | 'failed' | 'on_its_way') =>
          transaction(portal.app.db, (tx) =>
            recordPayout(
              tx,
              { clock: { now: () => new Date() }, ledger: portal.app.ledger },
              { name: 'alepay', displayName: 'Alepay' },
              { ...payout, status: now },
            ),
          )
        const outcomes = [(await record(status)).outcome, (await record(status)).outcome]
        const isPosted = status === 'paid'
        expect(outcomes).toEqual(isPosted ? ['posted', 'already'] : ['waits', 'waits'])
        const moved = (await all()).map((balance, index) => balance - (before[index] ?? 0))
        expect(moved).toEqual(
          isPosted
            ? [Number(amount + fees), -Number(amount), -Number(fees)].map((n) => n + 0)
            : [0, 0, 0],
        )
        if (!isPosted) return
        expect([(await record('failed')).outcome, (await record('failed')).outcome]).toEqual([
          'undone',
          'already',
        ])
        const left = (await all()).map((balance, index) => balance - (before[index] ?? 0))
        expect(left.map((n) => n + 0)).toEqual([Number(fees), 0, -Number(fees)].map((n) => n + 0))
      },
    ),
    { numRuns: 60 },
  )
  await portal.ledgerHolds()
})

test('cells with separators, quotes and line breaks are read as written', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 4 }), { minLength: 1 }),
      (rows) => {
        // Spaces around a cell are not part of its value.
        const trimmed = rows.map((row) => row.map((cell) => `x${cell}`.trim()))
        const text = trimmed
          .map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
          .join('\r\n')
        // The separator is taken from the first line.
        fc.pre(!/[;\t]/.test(text.split(/\r?\n/, 1)[0] ?? ''))
        expect(readCsv(text)).toEqual(trimmed)
      },
    ),
  )
  expect(
    linesOfFile('Transaction,Amount,Fee,Type\nA,-12.50,,refund\nB,20.00,-0.5,\n', 'AUD', 'P'),
  ).toEqual([
    { id: 'refund:A:P:2', kind: 'refund', amount: -1250n, fee: 0n, movement: 'A' },
    { id: 'payment:B', kind: 'payment', amount: 2000n, fee: 50n, movement: 'B' },
  ])
})
