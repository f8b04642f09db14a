/**
 * payOS's published sample and our own vectors (vectors.json names their sources), the SDK as a
 * second opinion, and a server that answers what each test says.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { PayOS } from '@payos/node'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ForgedWebhook, type WebhookRequest, type PaymentOrder } from '../../driver.ts'
import { createPayos, divide, momentOf } from './index.ts'
import { settings as schema } from './settings.ts'
import { holds, signature, type Data } from './sign.ts'

interface Vector {
  readonly checksumKey: string
  readonly data: Record<string, string | number | null>
  readonly signature: string
}
const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as {
  readonly official: Vector
  readonly own: Vector & {
    readonly request: { readonly body: Record<string, string | number>; readonly signature: string }
  }
}
const { checksumKey } = vectors.own
const channel = { clientId: 'test-client', apiKey: 'test-api-key', checksumKey }

/** A fake payOS: answers what a test sets, and records the requests. */
let answer: { status?: number; headers?: Record<string, string>; body: unknown } = { body: {} }
let created: typeof answer | undefined
const requests: {
  method: string
  url: string
  headers: Record<string, unknown>
  body: Record<string, unknown>
}[] = []
let server: Server
let driver: ReturnType<typeof createPayos>
let baseUrl = ''
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>
      requests.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
      })
      const said = request.method === 'POST' ? (created ?? answer) : answer
      response.writeHead(said.status ?? 200, said.headers)
      response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  driver = createPayos(
    schema.parse({ ...channel, baseUrl, pageUrl: 'https://pay.payos.vn/web', timeoutMs: 2000 }),
  )
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  requests.length = 0
  created = undefined
})

const reference = '20261121000001'
const order: PaymentOrder = {
  code: '0123456789ABCDEFGHJKMNPQRS',
  reference,
  transferUrl: 'https://portal.example.vn/transfer',
  amount: 100_000n,
  currency: 'VND',
  channel: '',
  language: 'vi',
  ip: '203.0.113.10',
  returnUrl: 'https://portal.example.vn/api/payments/success?transId=0123456789ABCDEFGHJKMNPQRS',
  createdAt: new Date('2026-11-21T03:30:00Z'),
  expiresAt: new Date('2026-11-21T03:45:00Z'),
  providerRef: null,
  buyer: { id: '42', name: 'Nguyễn Văn A', email: 'a@example.vn', phone: '+84901234567' },
}
const transfer = (name: string, amount: number, at = '2026-11-21T10:31:00+07:00') => ({
  reference: name,
  amount,
  accountNumber: '12345678',
  description: 'NAPMNPQRS',
  transactionDateTime: at,
  virtualAccountName: null,
  virtualAccountNumber: null,
  counterAccountBankId: null,
  counterAccountBankName: null,
  counterAccountName: null,
  counterAccountNumber: null,
})
const link = (changes: Record<string, unknown> = {}) => ({
  id: 'link1',
  orderCode: Number(reference),
  amount: 100_000,
  amountPaid: 0,
  amountRemaining: 100_000,
  status: 'PENDING',
  createdAt: '2026-11-21T10:30:00+07:00',
  transactions: [] as ReturnType<typeof transfer>[],
  cancellationReason: null,
  canceledAt: null,
  ...changes,
})
const signed = (data: Data) => ({
  body: { code: '00', desc: 'success', data, signature: signature(data, checksumKey) },
})
const paid = (...transfers: ReturnType<typeof transfer>[]) => {
  const amountPaid = transfers.reduce((sum, { amount }) => sum + amount, 0)
  return link({ status: 'PAID', amountPaid, amountRemaining: 0, transactions: transfers })
}
const webhook = (body: unknown): WebhookRequest => ({
  method: 'POST',
  headers: {},
  query: new URLSearchParams(),
  rawBody: Buffer.from(JSON.stringify(body)),
})

describe('the vectors', () => {
  it.each(['official', 'own'] as const)('the %s webhook', (name) => {
    const { data, signature: expected, checksumKey: key } = vectors[name]
    expect(signature(data, key)).toBe(expected)
    expect(holds(data, expected.toUpperCase(), key)).toBe(true)
    const reader = createPayos(
      schema.parse({ ...channel, checksumKey: key, baseUrl, pageUrl: baseUrl }),
    )
    expect(
      reader.readWebhook(
        webhook({ code: '00', desc: 'success', success: true, data, signature: expected }),
      ),
    ).toEqual({
      ask: true,
      eventId: '124c33293c43417ab7879e14c8d9eb18:TF230204212323',
      reference: String(data['orderCode']),
      about: 'TF230204212323',
    })
  })

  it("the creation's signature, as the SDK makes it", async () => {
    const { body, signature: expected } = vectors.own.request
    answer = { body: { code: '20', desc: 'x' } }
    await new PayOS({ ...channel, baseURL: baseUrl, maxRetries: 0 }).paymentRequests
      .create(body as never)
      .catch((error: unknown) => error)
    expect(requests[0]?.body['signature']).toBe(expected)
  })

  it('agrees with the SDK on whatever data', async () => {
    const sdk = new PayOS({ ...channel, baseURL: baseUrl })
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom(null, 'null', 'undefined'),
    )
    const row = fc.dictionary(fc.stringMatching(/^[a-zA-Z]\w{0,8}$/), value)
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.stringMatching(/^[a-zA-Z]\w{0,8}$/),
          fc.oneof(value, fc.array(row, { maxLength: 3 })),
        ),
        async (data) => {
          expect(signature(data, checksumKey)).toBe(
            await sdk.crypto.createSignatureFromObj(data, checksumKey),
          )
        },
      ),
    )
  })
})

describe('the order code', () => {
  it('is a positive whole number below 2^53, one for one code, another for another', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/), (code) => {
        const made = driver.referenceOf(code)
        expect(made).toMatch(/^[1-9]\d{0,15}$/)
        expect(Number.isSafeInteger(Number(made))).toBe(true)
        expect(driver.referenceOf(code)).toBe(made)
        seen.add(`${code}:${made}`)
      }),
      { numRuns: 500 },
    )
    expect(new Set([...seen].map((pair) => pair.split(':')[1])).size).toBe(seen.size)
  })
})

describe('begin', () => {
  const made = {
    paymentLinkId: 'link1',
    checkoutUrl: 'https://pay.payos.vn/web/link1',
    status: 'PENDING',
    orderCode: Number(reference),
  }

  it('sends the keys in headers and nothing of the customer', async () => {
    answer = signed(made)
    expect(await driver.begin(order)).toEqual({
      checkoutUrl: 'https://pay.payos.vn/web/link1',
      providerRef: 'link1',
    })
    expect(requests[0]).toMatchObject({ method: 'POST', url: '/v2/payment-requests' })
    expect(requests[0]?.headers).toMatchObject({
      'x-client-id': 'test-client',
      'x-api-key': 'test-api-key',
    })
    expect(requests[0]?.body).toEqual({
      orderCode: Number(reference),
      amount: 100_000,
      description: 'NAPMNPQRS',
      returnUrl: order.returnUrl,
      cancelUrl: order.returnUrl,
      expiredAt: order.expiresAt.getTime() / 1000,
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('finds the link that was begun before', async () => {
    created = { body: { code: '231', desc: 'Đơn thanh toán đã tồn tại', data: null } }
    answer = signed(link())
    expect(await driver.begin(order)).toEqual({
      checkoutUrl: 'https://pay.payos.vn/web/link1',
      providerRef: 'link1',
    })
    answer = signed(link({ amount: 1 }))
    await expect(driver.begin(order)).rejects.toMatchObject({ kind: 'rejected' })
    answer = { body: { code: '101', desc: 'x', data: null } }
    await expect(driver.begin(order)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it.each([
    ['another currency', { currency: 'AUD' as const }],
    ['nothing', { amount: 0n }],
    ['a channel it has not', { channel: 'VISA' }],
    ['an end before the beginning', { expiresAt: order.createdAt }],
  ])('refuses %s, and asks nobody', async (_name, change) => {
    await expect(driver.begin({ ...order, ...change })).rejects.toMatchObject({
      name: 'DriverFailure',
      kind: 'rejected',
    })
    expect(requests).toEqual([])
  })
})

describe('trouble', () => {
  const wrong = { code: '00', desc: 'success', data: link(), signature: '0'.repeat(64) }
  it.each([
    ['an answer signed with another key', { body: wrong }, 'unavailable'],
    ['an answer without a signature', { body: { ...wrong, signature: undefined } }, 'unavailable'],
    ['no JSON', { body: '<html>' }, 'unavailable'],
    ['nothing', { body: '' }, 'unavailable'],
    ['more than anybody needs', { body: 'x'.repeat(1_100_000) }, 'unavailable'],
    ['500', { status: 500, body: '' }, 'unavailable'],
    ['429', { status: 429, body: { code: '429', desc: 'x' } }, 'unavailable'],
    ['408', { status: 408, body: '' }, 'unavailable'],
    ['401', { status: 401, body: { code: '401', desc: 'x' } }, 'rejected'],
    [
      'a redirection',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
      'rejected',
    ],
    ['wrong keys', { body: { code: '214', desc: 'x', data: null } }, 'rejected'],
    [
      'fields it does not like',
      { body: { code: '20', desc: 'test-api-key is what you sent', data: null } },
      'rejected',
    ],
    ['another order', signed(link({ orderCode: 7 })), 'unavailable'],
    ['a fraction', signed(link({ amountPaid: 0.5 })), 'unavailable'],
    ['no transfers at all', signed(link({ transactions: undefined })), 'unavailable'],
  ])('%s is a failure, asked once, and tells no key', async (_name, said, kind) => {
    answer = said
    const error = await driver.lookUp(order).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'DriverFailure', kind })
    expect(String(error)).not.toMatch(/test-api-key|0123456789abcdef/)
    expect(requests).toHaveLength(1)
  })
})

it('an answer that begins and never ends is given up in time', async () => {
  const dripping = createServer(
    (_request, response) => void response.writeHead(200).write('{"code":'),
  )
  await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(dripping.address() as AddressInfo).port}`
  const slow = createPayos(schema.parse({ ...channel, baseUrl: at, pageUrl: at, timeoutMs: 100 }))
  await expect(slow.lookUp(order)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'payos: get: no answer in time',
  })
  dripping.close()
  dripping.closeAllConnections()
})

describe('looking up', () => {
  it.each([
    ['PENDING', 0, 'pending'],
    ['PROCESSING', 100_000, 'pending'],
    ['UNDERPAID', 40_000, 'pending'],
    ['PAID', 100_000, 'succeeded'],
    ['EXPIRED', 0, 'failed'],
    ['CANCELLED', 0, 'failed'],
    ['FAILED', 0, 'failed'],
    // A link with money at payOS is never called failed. Once the link is over, no more money will
    // come.
    ['EXPIRED', 40_000, 'succeeded'],
    ['CANCELLED', 40_000, 'succeeded'],
    ['CANCELLED', 100_000, 'succeeded'],
    ['SOMETHING_NEW', 0, 'pending'],
  ])('%s with %i is %s', async (status, came, expected) => {
    answer = signed(
      link({ status, amountPaid: came, transactions: came > 0 ? [transfer('FT1', came)] : [] }),
    )
    expect(await driver.lookUp(order)).toMatchObject({
      reference,
      status: expected,
      amount: expected === 'succeeded' ? BigInt(came) : 100_000n,
      providerTransactionId: expected === 'succeeded' ? 'link1' : null,
    })
  })

  it('says how much of an underpaid one came', async () => {
    answer = signed(
      link({ status: 'UNDERPAID', amountPaid: 40_000, transactions: [transfer('FT1', 40_000)] }),
    )
    expect((await driver.lookUp(order))?.detail).toBe('UNDERPAID, 40000 of 100000 came')
    answer = signed(
      link({ status: 'EXPIRED', amountPaid: 40_000, transactions: [transfer('FT1', 40_000)] }),
    )
    expect((await driver.lookUp(order))?.detail).toBe('EXPIRED, 40000 of 100000 came')
  })

  it('tells what really came, in one transfer or in several, before or after the end', async () => {
    answer = signed(paid(transfer('FT1', 110_000)))
    expect(await driver.lookUp(order)).toMatchObject({ amount: 110_000n })
    answer = signed(
      paid(transfer('FT2', 60_000, '2026-11-21T10:33:00+07:00'), transfer('FT1', 40_000)),
    )
    expect(await driver.lookUp(order)).toMatchObject({
      amount: 100_000n,
      occurredAt: new Date('2026-11-21T03:33:00Z'),
    })
    answer = signed(paid(transfer('FT1', 100_000, '2026-11-22 08:00:00')))
    expect(await driver.lookUp({ ...order, expiresAt: new Date(0) })).toMatchObject({
      status: 'succeeded',
      amount: 100_000n,
    })
    // a list that lags behind the sum
    answer = signed({ ...paid(transfer('FT1', 100_000)), transactions: [] })
    expect(await driver.lookUp(order)).toMatchObject({
      amount: 100_000n,
      providerTransactionId: 'link1',
      occurredAt: null,
    })
  })

  it('tells of a transfer on top by its number to its own hint, else of the payment', async () => {
    answer = signed(
      paid(transfer('FT1', 100_000), transfer('FT2', 25_000, '2026-11-21T10:40:00+07:00')),
    )
    const first = await driver.lookUp(order, 'FT1')
    expect(first).toMatchObject({ amount: 100_000n, providerTransactionId: 'link1' })
    expect(await driver.lookUp(order)).toEqual(first)
    expect(await driver.lookUp(order, 'FT2')).toMatchObject({
      status: 'succeeded',
      amount: 25_000n,
      providerTransactionId: 'link1:FT2',
    })
    expect(await driver.lookUp(order, 'FT9')).toEqual(first)
    expect(await driver.extras(order)).toEqual([await driver.lookUp(order, 'FT2')])
    answer = signed(
      link({ status: 'UNDERPAID', amountPaid: 40_000, transactions: [transfer('FT1', 40_000)] }),
    )
    expect(await driver.extras(order)).toEqual([])
  })

  it('knows nothing of a link that payOS does not know', async () => {
    answer = { body: { code: '101', desc: 'Mã thanh toán không tồn tại', data: null } }
    expect(await driver.lookUp(order)).toBeNull()
    expect(await driver.extras(order)).toEqual([])
  })
})

describe('a webhook', () => {
  const { data } = vectors.own
  const changedWebhook = (changes: Data) => {
    const told = { ...data, ...changes }
    return webhook({
      code: '00',
      success: true,
      data: told,
      signature: signature(told, checksumKey),
    })
  }

  it.each([
    ['no order code', { orderCode: null }],
    ['an order code in text', { orderCode: reference }],
    ['no number of the transfer', { reference: null }],
    ['no link', { paymentLinkId: 7 }],
  ])('signed but with %s is no word about a transfer', (_name, changes) => {
    expect(() => driver.readWebhook(changedWebhook(changes))).toThrow(ForgedWebhook)
  })

  it('with a changed amount is forged, also where another number reads alike', () => {
    for (const amount of [99_999, '100000.0', 1e21, null])
      expect(() =>
        driver.readWebhook(
          webhook({ data: { ...data, amount }, signature: vectors.own.signature }),
        ),
      ).toThrow(ForgedWebhook)
  })

  it('is answered with 2xx unless it is forged or could not be kept', () => {
    const status = (outcome: Parameters<typeof driver.answerTo>[0]) =>
      driver.answerTo(outcome).status
    expect([
      status('recorded'),
      status('already'),
      status('unknown_order'),
      status('wrong_amount'),
    ]).toEqual([200, 200, 200, 200])
    expect([status('forged'), status('error')]).toEqual([400, 500])
  })
})

describe('moments and sums', () => {
  it.each([
    ['2026-11-21 10:31:00', '2026-11-21T03:31:00.000Z'],
    ['2026-11-21T10:31:00+07:00', '2026-11-21T03:31:00.000Z'],
    ['2026-11-21T03:31:00.000Z', '2026-11-21T03:31:00.000Z'],
  ])('%s is %s', (text, expected) => expect(momentOf(text)?.toISOString()).toBe(expected))

  it('what is no moment is none', () => {
    for (const text of ['', 'today', '2026-13-41 10:00:00', null, 7])
      expect(momentOf(text)).toBeNull()
  })

  it('no transfer is lost or counted twice; the payment takes only what it needs', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 6 }), (amounts) => {
        const transfers = amounts.map((amount, index) =>
          transfer(`FT${index}`, amount, `2026-11-21 10:3${index}:00`),
        )
        const { made, extra } = divide(transfers.toReversed(), 100_000n)
        expect([...made, ...extra]).toEqual(transfers)
        const sum = (of: typeof made) => of.reduce((total, { amount }) => total + amount, 0)
        expect(sum(made.slice(0, -1))).toBeLessThan(100_000)
        if (extra.length > 0) expect(sum(made)).toBeGreaterThanOrEqual(100_000)
      }),
    )
  })
})
