/** Letters to customers about money that reaches the wallet or leaves it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { refundsThrough } from '../../test/refunding-gateway.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { PaymentUpdate } from './driver.ts'

let refuses = false
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({
    changeDrivers: refundsThrough(async (refund, ...asked) => {
      if (refuses) throw new DriverFailure('rejected', 'vnpay: no')
      return await refund(...asked)
    }),
  })
})
afterAll(() => portal.close())

const letter = (to: TestCustomer, text: RegExp) =>
  eventually(`a letter ${text}`, async () =>
    (await portal.inbox(to.email))
      // Amounts are printed with spaces that do not break.
      .map((message) => message.text.replaceAll('\u00A0', ' '))
      .find((read) => text.test(read)),
  )
const notificationsOf = async ({ token }: TestCustomer, event: string) =>
  (
    await portal.call<{ data: { event: string; title: string; payload: object }[] }>(
      'GET',
      '/api/notifications',
      { token, headers: { 'accept-language': 'en' } },
    )
  ).body.result.data.filter((one) => one.event === event)
const tell = (
  update: Partial<PaymentUpdate> & Pick<PaymentUpdate, 'reference' | 'status' | 'amount'>,
) =>
  portal.app.topUps.settlement.settle(
    { name: 'vnpay', displayName: 'VNPay', credits: 'exact' },
    {
      eventId: `${update.status}:${update.reference}`,
      providerTransactionId: `dispute-${update.reference}`,
      currency: 'VND',
      occurredAt: null,
      detail: update.status,
      ...update,
    },
  )

test("a top-up has a receipt, in the customer's language, once", async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 300_000)
  const receipt = await letter(an, /Biên nhận/)
  expect(receipt).toContain(`đã nhận 300.000 đ qua VNPay`)
  expect(receipt).toContain(transactionCode)
  expect(receipt).toContain('Số dư ví là 300.000 đ')
  await portal.call('PUT', '/api/v1/account', { token: an.token, body: { language: 'en' } })
  await portal.topUp(an, 50_000)
  expect(await letter(an, /Receipt/)).toContain('Your balance is')
  await jobsIdle(portal.app.db)
  const receipts = (await portal.inbox(an.email)).filter(({ text }) =>
    /Biên nhận|Receipt/.test(text),
  )
  expect(receipts).toHaveLength(2)
})

test('a refund to its source is told when it is made, and when it is refused', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 300_000)
  await letter(an, /Biên nhận/)
  refuses = true
  await portal.app.topUps.refunds.begin(transactionCode, 100_000n, 'asked for')
  expect(await letter(an, /từ chối hoàn/)).toContain('số dư ví là 300.000 đ')
  refuses = false
  await portal.app.topUps.refunds.begin(transactionCode, 100_000n, 'asked for')
  expect(await letter(an, /đang hoàn .* qua VNPay/)).toContain('Số dư ví là 200.000 đ')
  const wallet = { amount: 100_000, currency: 'VND', provider: 'VNPay', transactionCode }
  await eventually(
    'both notifications',
    async () => (await notificationsOf(an, 'wallet.refunded')).length > 0,
  )
  expect(
    (await notificationsOf(an, 'wallet.refund_failed')).map(({ payload }) => payload),
  ).toMatchObject([{ wallet }])
  expect(
    (await notificationsOf(an, 'wallet.refunded')).map(({ payload, title }) => [title, payload]),
  ).toEqual([
    [expect.stringMatching(/to the original payment method$/), expect.objectContaining({ wallet })],
  ])
})

test('a chargeback is told with what it leaves owed, and so is one that is won', async () => {
  const an = await portal.customer()
  const { transactionCode } = await portal.topUp(an, 300_000)
  await letter(an, /Biên nhận/)
  await portal.app.topUps.refunds.begin(transactionCode, 100_000n, 'spent elsewhere')
  await letter(an, /đang hoàn .* qua VNPay/)
  const of = { reference: transactionCode, amount: 300_000n } as const
  await Promise.all([tell({ ...of, status: 'reversed' }), tell({ ...of, status: 'reversed' })])
  const taken = await letter(an, /đã thu hồi 300\.000 đ/)
  expect(taken).toContain('bạn còn nợ 100.000 đ')
  expect(taken).toContain('gửi yêu cầu hỗ trợ tại: http')
  await tell({ ...of, status: 'restored' })
  await letter(an, /đã trả lại 300\.000 đ/)
  await eventually(
    'both',
    async () => (await notificationsOf(an, 'wallet.chargeback_returned')).length > 0,
  )
  expect(
    (await notificationsOf(an, 'wallet.chargeback')).map(({ payload }) => payload),
  ).toMatchObject([{ wallet: { amount: 300_000, owed: 100_000 } }])
  await jobsIdle(portal.app.db)
  const letters = (await portal.inbox(an.email)).filter(({ text }) => /thu hồi/.test(text))
  expect(letters).toHaveLength(2)
  await portal.ledgerHolds()
})
