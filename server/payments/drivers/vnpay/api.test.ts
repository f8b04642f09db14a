/** A fake VNPay whose answers each test sets. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { PaymentOrder } from '../../driver.ts'
import { createVnpay } from './index.ts'
import { settings as schema } from './settings.ts'
import { apiHash, type Fields } from './sign.ts'

const tmnCode = 'DEMO0001'
const secret = 'TESTSECRET0123456789ABCDEFGHIJKL'
const settings = {
  tmnCode,
  secret,
  payUrl: 'https://vnpay.example/pay',
  apiUrl: 'https://vnpay.example/api',
}
const driver = createVnpay(schema.parse(settings))
const order: PaymentOrder = {
  code: 'TOPUP20261121000001',
  reference: 'TOPUP20261121000001',
  transferUrl: 'https://portal.example.vn/transfer',
  amount: 100_000n,
  currency: 'VND',
  channel: '',
  language: 'vi',
  ip: '203.0.113.10',
  returnUrl: 'https://portal.example.vn/back',
  createdAt: new Date('2026-11-21T03:30:00Z'),
  expiresAt: new Date('2026-11-21T03:45:00Z'),
  providerRef: null,
  buyer: { id: '1', name: '', email: '', phone: '' },
}
const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

describe('answers of the API that must not be believed', () => {
  const closers: (() => void)[] = []
  afterEach(() => closers.splice(0).forEach((close) => close()))

  const honest = (question: Fields): Record<string, string> => ({
    vnp_ResponseId: 'r1',
    vnp_Command: question['vnp_Command'] ?? '',
    vnp_ResponseCode: '00',
    vnp_Message: 'ok',
    vnp_TmnCode: tmnCode,
    vnp_TxnRef: question['vnp_TxnRef'] ?? '',
    vnp_Amount: '10000000',
    vnp_OrderInfo: question['vnp_OrderInfo'] ?? '',
    vnp_BankCode: 'NCB',
    vnp_PayDate: '20261121103215',
    vnp_TransactionNo: '14226112',
    vnp_TransactionType: '01',
    vnp_TransactionStatus: '00',
  })
  const sign = (fields: Fields): Fields => ({
    ...fields,
    vnp_SecureHash: apiHash(
      fields['vnp_Command'] === 'refund' ? 'refundAnswer' : 'queryAnswer',
      fields,
      secret,
    ),
  })
  async function driverAgainst(answer: (question: Fields) => unknown): Promise<typeof driver> {
    const server = createServer((request, response) => {
      let body = ''
      request
        .on('data', (chunk: Buffer) => (body += chunk.toString()))
        .on('end', () => {
          const said = answer(JSON.parse(body) as Fields)
          response.writeHead(typeof said === 'number' ? said : 200).end(JSON.stringify(said))
        })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => {
      server.close()
      server.closeAllConnections()
    })
    return createVnpay(
      schema.parse({
        ...settings,
        apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      }),
    )
  }
  const refund = {
    refundId: 'R1',
    amount: 100_000n,
    reason: 'test',
    providerTransactionId: '14226112',
  }
  const isRefund = (question: Fields): boolean => question['vnp_Command'] === 'refund'

  it('believes a signed one, also when the amount comes as a number', async () => {
    const notice = await (
      await driverAgainst((question) => ({ ...sign(honest(question)), vnp_Amount: 10_000_000 }))
    ).lookUp(order)
    expect(notice).toMatchObject({
      status: 'succeeded',
      amount: 100_000n,
      providerTransactionId: '14226112',
      reference: order.reference,
    })
  })

  it.each([
    ['has no hash', (question: Fields) => honest(question)],
    [
      'has a wrong hash',
      (question: Fields) => ({ ...sign(honest(question)), vnp_TransactionStatus: '02' }),
    ],
    [
      'is about another payment',
      (question: Fields) => sign({ ...honest(question), vnp_TxnRef: 'OTHER' }),
    ],
    [
      "is another terminal's",
      (question: Fields) => sign({ ...honest(question), vnp_TmnCode: 'OTHER001' }),
    ],
    ['has no amount', (question: Fields) => sign(without(honest(question), 'vnp_Amount'))],
    ['is a list', () => []],
    ['is null', () => null],
  ])('lookUp fails when the answer %s', async (_name, answer) => {
    await expect((await driverAgainst(answer)).lookUp(order)).rejects.toMatchObject({
      kind: 'unavailable',
    })
  })

  it.each([
    ['has no hash', (question: Fields) => honest(question)],
    [
      'has a wrong hash',
      (question: Fields) => ({ ...sign(honest(question)), vnp_TransactionNo: '1' }),
    ],
    [
      'is about another payment',
      (question: Fields) => sign({ ...honest(question), vnp_TxnRef: 'OTHER' }),
    ],
    [
      'names another amount',
      (question: Fields) => sign({ ...honest(question), vnp_Amount: '5000000' }),
    ],
    [
      'says it was asked before',
      (question: Fields) => sign({ ...honest(question), vnp_ResponseCode: '94' }),
    ],
    ['is a broken gateway', () => 502],
    [
      'says other error',
      (question: Fields) => sign({ ...honest(question), vnp_ResponseCode: '99' }),
    ],
  ])('refund is unclear when the answer %s', async (_name, answer) => {
    const driver = await driverAgainst((question) =>
      isRefund(question) ? answer(question) : sign(honest(question)),
    )
    await expect(driver.refund(order, refund)).rejects.toMatchObject({ kind: 'unclear' })
  })

  it.each([
    ['02', 'rejected'],
    ['03', 'rejected'],
    ['97', 'rejected'],
    ['94', 'unavailable'],
    ['99', 'unavailable'],
  ])('lookUp: signed answer code %s is %s', async (code, kind) => {
    await expect(
      (
        await driverAgainst((question) => sign({ ...honest(question), vnp_ResponseCode: code }))
      ).lookUp(order),
    ).rejects.toMatchObject({
      kind,
    })
  })

  it('never asks for a refund where no money is, or where it went back already', async () => {
    const asked: string[] = []
    const facingStatus = (status: string): Promise<typeof driver> =>
      driverAgainst((question) => {
        asked.push(question['vnp_Command'] ?? '')
        return sign({ ...honest(question), vnp_TransactionStatus: status })
      })
    await expect((await facingStatus('02')).refund(order, refund)).rejects.toMatchObject({
      kind: 'rejected',
    })
    await expect((await facingStatus('01')).refund(order, refund)).rejects.toMatchObject({
      kind: 'rejected',
    })
    expect(await (await facingStatus('06')).refund(order, refund)).toMatchObject({
      status: 'refunded',
    })
    expect(asked).toEqual(['querydr', 'querydr', 'querydr'])
    await expect(driver.refund(order, { ...refund, amount: 100_001n })).rejects.toMatchObject({
      kind: 'rejected',
    })
  })
})
