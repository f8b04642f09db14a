/**
 * Alepay's own examples (vectors.json: `official` names the page of each; `own` were made with a
 * second program), and cases that the stand-in does not produce: a server answers what each test
 * sets.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sameHash } from '../../../platform/constant-time.ts'
import { ForgedWebhook, type WebhookRequest, type PaymentOrder } from '../../driver.ts'
import { createAlepay } from './index.ts'
import { settings as schema } from './settings.ts'
import {
  canonicalText,
  refundChecksum,
  signature,
  signed,
  webhookChecksum,
  type Fields,
} from './sign.ts'

interface Official {
  readonly checksumKey?: string
  readonly data?: string
  readonly signature?: string
  readonly in?: readonly string[]
  readonly checksum?: string
}
interface Signed {
  readonly body: Record<string, string | number | boolean>
  readonly canonical?: string
  readonly signature: string
}
const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as {
  readonly official: readonly Official[]
  readonly own: {
    readonly checksumKey: string
    readonly tokenKey: string
    readonly requestPayment: Signed
    readonly getTransactionInfo: Signed
    readonly internationalOnly: Signed
    readonly webhook: {
      readonly transactionInfo: Record<string, string | number | boolean>
      readonly checksum: string
    }
    readonly refund: {
      transactionCode: string
      merchantRefundCode: string
      refundAmount: string
      checksum: string
    }
  }
}
const { own } = vectors
const { checksumKey, tokenKey } = own

/** A fake Alepay: answers what `answers` holds for a call's name, and records the calls. */
const answers: Record<string, unknown> = {}
const calls: { call: string; body: Record<string, unknown> }[] = []
let server: Server
let driver: ReturnType<typeof createAlepay>
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = (request.url ?? '').split('/').at(-1) ?? ''
      calls.push({
        call,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      })
      const answer = answers[call]
      if (typeof answer === 'number') response.writeHead(answer).end()
      else response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3/checkout/`
  driver = createAlepay(schema.parse({ tokenKey, checksumKey, baseUrl }))
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  calls.length = 0
})

const order: PaymentOrder = {
  code: 'TOPUP20261121000001',
  reference: 'TOPUP20261121000001',
  transferUrl: 'https://portal.example.vn/transfer',
  amount: 162_000n,
  currency: 'VND',
  channel: '',
  language: 'vi',
  ip: '203.0.113.10',
  returnUrl: 'https://portal.example.vn/api/payments/success?transId=TOPUP20261121000001',
  createdAt: new Date('2026-11-21T03:30:00Z'),
  expiresAt: new Date('2026-11-21T03:45:00Z'),
  providerRef: 'ALE00TEST1',
  buyer: { id: '42', name: 'Nguyễn Văn A', email: 'a@example.vn', phone: '+84 901 234 567' },
}
const info = (changes: Record<string, unknown> = {}) => ({
  code: '000',
  message: 'Thành công',
  transactionCode: 'ALE00TEST1',
  orderCode: order.reference,
  amount: '162000',
  currency: 'VND',
  status: '000',
  method: 'ATM_ON',
  transactionTime: 1_795_231_860_000,
  successTime: 1_795_231_920_000,
  ...changes,
})
const webhook = (body: unknown): WebhookRequest => ({
  method: 'POST',
  headers: {},
  query: new URLSearchParams(),
  rawBody: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

describe('the vectors', () => {
  it("Alepay's own signature, over exactly the text it prints", () => {
    const [{ data = '', checksumKey: key = '', signature: expected } = {}] = vectors.official
    const fields = Object.fromEntries(
      data
        .split('&')
        .map(
          (pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const,
        ),
    )
    expect(canonicalText(fields)).toBe(data)
    expect(signature(fields, key)).toBe(expected)
    expect(signature({ ...fields, signature: 'x', bankCode: null }, key)).toBe(expected)
  })

  it.each(vectors.official.slice(1))(
    "Alepay's own refund checksum $checksum",
    ({ in: parts = [], checksum }) => {
      expect(refundChecksum(parts, vectors.official[0]?.checksumKey ?? '')).toBe(checksum)
    },
  )

  it.each(['requestPayment', 'getTransactionInfo', 'internationalOnly'] as const)(
    'our own of %s',
    (name) => {
      const { body, signature: expected, canonical } = own[name]
      expect(signature(body, checksumKey)).toBe(expected)
      if (canonical !== undefined) expect(canonicalText(body)).toBe(canonical)
    },
  )

  it('our own of the refund and of the webhook', () => {
    const { transactionCode, merchantRefundCode, refundAmount, checksum } = own.refund
    expect(refundChecksum([transactionCode, merchantRefundCode, refundAmount], checksumKey)).toBe(
      checksum,
    )
    expect(webhookChecksum('TOPUP20261121000001', '100000', 'ALE00TEST1', checksumKey)).toBe(
      own.webhook.checksum,
    )
    expect(driver.readWebhook(webhook(own.webhook))).toEqual({
      ask: true,
      eventId: 'notice:ALE00TEST1:000:100000',
      reference: 'TOPUP20261121000001',
      about: 'ALE00TEST1',
    })
  })

  it('a Vietnamese name is sent and signed composed, however it was typed', () => {
    const composed: Fields = { buyerName: 'Nguyễn Văn Ánh'.normalize('NFC') }
    const typed: Fields = { buyerName: 'Nguyễn Văn Ánh'.normalize('NFD') }
    expect(signature(typed, 'k')).not.toBe(signature(composed, 'k'))
    expect(signed(typed, 'k')).toEqual({ ...composed, signature: signature(composed, 'k') })
  })

  it('hashes are compared whole, in either case, and nothing else is equal', () => {
    const hash = webhookChecksum('a', '1', 'b', 'k')
    expect(sameHash(hash, hash.toUpperCase())).toBe(true)
    for (const other of [
      hash.slice(1),
      `${hash}0`,
      hash.replace(/./, 'x'),
      '',
      undefined,
      null,
      7,
      [hash],
    ])
      expect(sameHash(hash, other)).toBe(false)
  })
})

describe('begin', () => {
  it('sends only what Alepay asks for, signed, name composed, phone Vietnamese', async () => {
    answers['request-payment'] = {
      code: '000',
      message: '',
      transactionCode: 'ALE1',
      checkoutUrl: 'https://alepay.vn/pay/1',
      signature: 'x',
    }
    const buyer = { ...order.buyer, name: order.buyer.name.normalize('NFD') }
    expect(await driver.begin({ ...order, buyer })).toEqual({
      checkoutUrl: 'https://alepay.vn/pay/1',
      providerRef: 'ALE1',
    })
    const { signature: given, ...sent } = calls[0]?.body ?? {}
    expect(sent).toEqual({
      tokenKey,
      orderCode: order.reference,
      customMerchantId: '42',
      amount: 162_000,
      currency: 'VND',
      orderDescription: `Nạp ví ${order.reference}`,
      totalItem: 1,
      checkoutType: 4,
      allowDomestic: true,
      installment: false,
      language: 'vi',
      paymentHours: '0.5',
      returnUrl: order.returnUrl,
      cancelUrl: order.returnUrl,
      buyerName: 'Nguyễn Văn A'.normalize('NFC'),
      buyerEmail: 'a@example.vn',
      buyerPhone: '0901234567',
      buyerAddress: 'Việt Nam',
      buyerCity: 'Hà Nội',
      buyerCountry: 'Việt Nam',
    })
    expect(given).toBe(signature(sent as Fields, checksumKey))
  })

  it.each([
    ['another currency', { currency: 'AUD' as const }],
    ['nothing', { amount: 0n }],
    ['a channel it has not', { channel: 'ATM_ON' }],
    ['an end before the beginning', { expiresAt: order.createdAt }],
    ['a telephone number of another country', { buyer: { ...order.buyer, phone: '+61412345678' } }],
  ])('refuses %s, and asks nobody', async (_name, change) => {
    await expect(driver.begin({ ...order, ...change })).rejects.toMatchObject({
      name: 'DriverFailure',
      kind: 'rejected',
    })
    expect(calls).toEqual([])
  })

  it.each([
    [{ code: '101', message: 'x' }, 'rejected'],
    [{ code: '127', message: 'x' }, 'rejected'],
    [{ code: '107', message: 'x' }, 'unavailable'],
    [{ code: '000', message: 'x', transactionCode: 'ALE1' }, 'unavailable'],
    [
      { code: '000', message: 'x', transactionCode: 'ALE1', checkoutUrl: 'javascript:alert(1)' },
      'unavailable',
    ],
    [{}, 'unavailable'],
    ['<html>', 'unavailable'],
    [500, 'unavailable'],
    [429, 'unavailable'],
    [403, 'rejected'],
  ])('an answer of %j is %s, and tells no key', async (answer, kind) => {
    answers['request-payment'] = answer
    const error = await driver.begin(order).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'DriverFailure', kind })
    expect(String(error)).not.toContain(checksumKey)
    expect(String(error)).not.toContain(tokenKey)
  })
})

describe('a webhook', () => {
  const hashed = (amount: string) =>
    webhookChecksum(order.reference, amount, 'ALE00TEST1', checksumKey)
  const body = (amount: string, hashOf: string) =>
    `{"transactionInfo":{"transactionCode":"ALE00TEST1","orderCode":"${order.reference}` +
    `","amount" : ${amount},"customerFeeAmount":7,"status":"000"},"checksum":"` +
    `${hashed(hashOf)}"}`

  it.each([
    ['162000', '162000'],
    ['"162000"', '162000'],
    ['162000.0', '162000.0'],
    ['162000.0', '162000'],
    ['1.62E5', '1.62E5'],
    ['1.62E5', '162000'],
  ])('with the amount %s, hashed as %s, is a hint', (amount, hashOf) => {
    expect(driver.readWebhook(webhook(body(amount, hashOf)))).toMatchObject({
      ask: true,
      reference: order.reference,
      about: 'ALE00TEST1',
    })
  })

  it.each([
    ['another amount than was hashed', body('162001', '162000')],
    ['the hash of nothing', body('162000', '')],
    ['a fraction of a đồng', body('162000.5', '162000.5')],
    ['a linked card only', JSON.stringify({ cardLinkInfo: {}, checksum: hashed('162000') })],
    [
      'a number in place of the order',
      JSON.stringify({
        transactionInfo: { ...own.webhook.transactionInfo, orderCode: 1 },
        checksum: 'x',
      }),
    ],
    ['nothing', ''],
  ])('with %s is forged', (_name, text) => {
    expect(() => driver.readWebhook(webhook(text))).toThrow(ForgedWebhook)
  })

  it('is asked for again only when we could not keep it', () => {
    const status = (outcome: Parameters<typeof driver.answerTo>[0]) =>
      driver.answerTo(outcome).status
    expect(status('error')).toBe(500)
    expect([
      status('recorded'),
      status('already'),
      status('unknown_order'),
      status('wrong_amount'),
    ]).toEqual([200, 200, 200, 200])
    expect(status('forged')).toBe(400)
  })
})

describe('looking up', () => {
  it.each([
    ['000', 'succeeded'],
    ['111', 'failed'],
    ['135', 'failed'],
    ['154', 'failed'],
    ['107', 'pending'],
    ['150', 'pending'],
    ['155', 'pending'],
    ['999', 'pending'],
    ['', 'pending'],
  ])('status %s is %s', async (status, expected) => {
    answers['get-transaction-info'] = info({ status })
    expect(await driver.lookUp(order)).toMatchObject({
      status: expected,
      amount: 162_000n,
      providerTransactionId: expected === 'succeeded' ? 'ALE00TEST1' : null,
    })
  })

  it('signs its question, names the moment, takes the amount as text or number', async () => {
    for (const amount of ['162000', 162_000, '162000.0', '1.62E5']) {
      answers['get-transaction-info'] = info({ amount })
      expect(await driver.lookUp(order)).toMatchObject({
        amount: 162_000n,
        occurredAt: new Date(1_795_231_920_000),
      })
    }
    expect(calls[0]?.body).toEqual({
      ...own.getTransactionInfo.body,
      signature: own.getTransactionInfo.signature,
    })
  })

  it('tells of another amount as it is: the settlement parks it', async () => {
    answers['get-transaction-info'] = info({ amount: '1000' })
    expect(await driver.lookUp(order)).toMatchObject({ status: 'succeeded', amount: 1000n })
  })

  it('finds money that came after the payment had expired here', async () => {
    answers['get-transaction-info'] = info()
    expect(await driver.lookUp({ ...order, expiresAt: new Date(0) })).toMatchObject({
      status: 'succeeded',
    })
  })

  it('asks about what the hint names, before its own memory', async () => {
    answers['get-transaction-info'] = info({ transactionCode: 'ALE00TEST2' })
    expect(await driver.lookUp(order, 'ALE00TEST2')).toMatchObject({
      providerTransactionId: 'ALE00TEST2',
    })
    expect(await driver.lookUp({ ...order, providerRef: null }, 'ALE00TEST2')).toMatchObject({
      status: 'succeeded',
    })
  })

  it('of a forged hint, says what Alepay says: nothing is paid', async () => {
    // MD5 of a key that leaked: the webhook passes, and the question shows that the payment is open
    const event = driver.readWebhook(
      webhook({ transactionInfo: own.webhook.transactionInfo, checksum: own.webhook.checksum }),
    )
    answers['get-transaction-info'] = info({ status: '107' })
    expect(event).toMatchObject({ ask: true })
    expect(await driver.lookUp(order, event.about)).toMatchObject({
      status: 'pending',
      providerTransactionId: null,
    })
  })

  it.each([
    ['another order', info({ orderCode: 'OTHER' }), 'unavailable'],
    ['another transaction', info({ transactionCode: 'ALE00OTHER' }), 'unavailable'],
    ['no amount', info({ amount: 'much' }), 'unavailable'],
    ['another currency', info({ currency: 'USD' }), 'rejected'],
    ['a wrong signature', { code: '101' }, 'rejected'],
    ['"later"', { code: '107' }, 'unavailable'],
  ])('an answer of %s is a failure', async (_name, answer, kind) => {
    answers['get-transaction-info'] = answer
    await expect(driver.lookUp(order)).rejects.toMatchObject({ name: 'DriverFailure', kind })
  })

  it('knows nothing of what Alepay does not know, nor of what was never begun', async () => {
    answers['get-transaction-info'] = { code: '136', message: 'x' }
    expect(await driver.lookUp(order)).toBeNull()
    calls.length = 0
    expect(await driver.lookUp({ ...order, providerRef: null })).toBeNull()
    expect(calls).toEqual([])
  })
})

describe('a refund', () => {
  const input = {
    refundId: 'RF1',
    amount: 62_000n,
    reason: 'Khách yêu cầu',
    providerTransactionId: 'ALE00TEST1',
  }
  const refundAnswer = (order_: readonly string[], changes: Record<string, unknown> = {}) => {
    const data: Record<string, unknown> = {
      transactionCode: 'ALE00TEST1',
      orderCode: order.reference,
      merchantRefundCode: 'RF1',
      refundAmount: '62000',
      refundStatus: '000',
      refundTime: 1_795_231_999_000,
      ...changes,
    }
    return {
      code: '000',
      message: '',
      data: {
        ...data,
        checksum: refundChecksum(
          order_.map((name) => String(data[name])),
          checksumKey,
        ),
      },
    }
  }
  const asAnswer = ['transactionCode', 'orderCode', 'refundAmount', 'merchantRefundCode']
  const asInfo = ['transactionCode', 'orderCode', 'merchantRefundCode', 'refundAmount']
  beforeEach(() => {
    answers['get-refund-info'] = { code: '109' }
    answers['get-transaction-info'] = info()
    answers['merchant-request-refund'] = refundAnswer(asAnswer)
  })

  it('is looked for, then asked for, with the checksum over the amount as it is sent', async () => {
    expect(await driver.refund(order, input)).toMatchObject({
      status: 'refunded',
      amount: 62_000n,
      refundId: 'RF1',
    })
    expect(calls.map(({ call }) => call)).toEqual([
      'get-refund-info',
      'get-transaction-info',
      'merchant-request-refund',
    ])
    expect(calls[2]?.body).toEqual({
      tokenKey,
      data: {
        transactionCode: 'ALE00TEST1',
        merchantRefundCode: 'RF1',
        refundAmount: '62000',
        reason: 'Khách yêu cầu',
      },
      checksum: refundChecksum(['ALE00TEST1', 'RF1', '62000'], checksumKey),
    })
  })

  it('whose answer was lost is found, and not made twice', async () => {
    answers['merchant-request-refund'] = 502
    await expect(driver.refund(order, input)).rejects.toMatchObject({ kind: 'unclear' })
    answers['get-refund-info'] = refundAnswer(asInfo)
    calls.length = 0
    expect(await driver.refund(order, input)).toMatchObject({ status: 'refunded', amount: 62_000n })
    expect(calls.map(({ call }) => call)).toEqual(['get-refund-info'])
  })

  it.each([
    ['its parts in the wrong order', refundAnswer(asInfo), 'unclear'],
    [
      'no checksum',
      { code: '000', data: { ...refundAnswer(asAnswer).data, checksum: undefined } },
      'unclear',
    ],
    ['another amount', refundAnswer(asAnswer, { refundAmount: '1' }), 'unclear'],
    ['a failure', refundAnswer(asAnswer, { refundStatus: '111' }), 'rejected'],
    ['"later"', { code: '107' }, 'unclear'],
    ['a code nobody knows', { code: '777' }, 'unclear'],
    ['a refusal', { code: '156' }, 'rejected'],
    ['no JSON', '<html>', 'unclear'],
  ])('answered with %s is %s', async (_name, answer, kind) => {
    answers['merchant-request-refund'] = answer
    await expect(driver.refund(order, input)).rejects.toMatchObject({ name: 'DriverFailure', kind })
  })
})
