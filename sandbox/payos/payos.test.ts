/**
 * Tests of payOS's stand-in with payOS's own SDK and by hand, so that the portal's driver is not
 * the only client that agrees with it.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomInt } from 'node:crypto'
import { PayOS, type CreatePaymentLinkRequest, type Webhook } from '@payos/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../test/database.ts'
import { startSandbox, type Sandbox } from '../index.ts'
import { vietQr } from './qr.ts'
import { requestSignature } from './sign.ts'

const channel = {
  clientId: 'test-client',
  apiKey: 'Test-api-key',
  checksumKey: '0123456789abcdef'.repeat(4),
}
let database: Awaited<ReturnType<typeof testDatabase>>
let sandbox: Sandbox
let sdk: PayOS
let shop: Server
/** The merchant's response status, and the webhooks that it received. */
let status = 200
const received: Webhook[] = []
let listeners: (() => void)[] = []

beforeAll(async () => {
  shop = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'POST' && request.url === '/api/webhooks/payos')
        received.push(JSON.parse(Buffer.concat(chunks).toString()) as Webhook)
      response.writeHead(status).end()
      for (const listener of listeners.splice(0)) listener()
    })
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  database = await testDatabase()
  sandbox = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    portalUrl: `http://127.0.0.1:${(shop.address() as AddressInfo).port}`,
    gateways: { payos: channel },
    esms: { apiKey: 'k', secretKey: 's' },
    log: () => undefined,
    pace: 0.01,
  })
  sdk = new PayOS({ ...channel, baseURL: sandbox.url, maxRetries: 0 })
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
  shop.close()
  shop.closeAllConnections()
  listeners = []
})

async function webhooks(orderCode: number, count: number): Promise<Webhook[]> {
  for (;;) {
    const found = received.filter(({ data }) => data.orderCode === orderCode)
    if (found.length >= count) return found
    await new Promise<void>((resolve) => listeners.push(resolve))
  }
}
const request = (changes: Partial<CreatePaymentLinkRequest> = {}): CreatePaymentLinkRequest => ({
  orderCode: randomInt(1, 2 ** 47),
  amount: 1_500_000,
  description: 'NAP12345',
  returnUrl: 'https://portal.example.vn/back?lang=vi#top',
  cancelUrl: 'https://portal.example.vn/cancelled',
  expiredAt: Math.ceil(Date.now() / 1000) + 900,
  ...changes,
})
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => '00',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  )
const post = async (body: unknown): Promise<unknown> => {
  const headers = { 'x-client-id': channel.clientId, 'x-api-key': channel.apiKey }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${sandbox.url}/v2/payment-requests`, {
    method: 'POST',
    headers,
    body: text,
  })
  return ((await response.json()) as { code: string }).code
}
async function choose(url: string, outcome: string): Promise<URL> {
  const token = /name="token" value="([^"]+)"/.exec(await (await fetch(url)).text())?.[1] ?? ''
  const body = new URLSearchParams({ token, outcome })
  const response = await fetch(`${sandbox.url}/payos/web/confirm`, {
    method: 'POST',
    body,
    redirect: 'manual',
  })
  return new URL(response.headers.get('location') ?? '', sandbox.url)
}
async function chosen(outcome: string): Promise<{ orderCode: number; landed: URL; url: string }> {
  const { checkoutUrl, orderCode } = await sdk.paymentRequests.create(request())
  return { orderCode, landed: await choose(checkoutUrl, outcome), url: checkoutUrl }
}

describe('payment links', () => {
  it('are made once for one order code, and known by it and by their id', async () => {
    const input = request()
    const made = await sdk.paymentRequests.create(input)
    expect(made).toMatchObject({
      orderCode: input.orderCode,
      amount: 1_500_000,
      status: 'PENDING',
      currency: 'VND',
      expiredAt: input.expiredAt,
    })
    expect(made.checkoutUrl).toBe(`${sandbox.url}/payos/web/${made.paymentLinkId}`)
    expect(await codeOf(sdk.paymentRequests.create(input))).toBe('231')
    const link = await sdk.paymentRequests.get(input.orderCode)
    expect(link).toMatchObject({
      id: made.paymentLinkId,
      amountPaid: 0,
      amountRemaining: 1_500_000,
      status: 'PENDING',
      transactions: [],
    })
    expect(await sdk.paymentRequests.get(made.paymentLinkId)).toEqual(link)
    expect(await codeOf(sdk.paymentRequests.get(7))).toBe('101')
    expect(await codeOf(sdk.paymentRequests.get('nonsense'))).toBe('101')
  })

  it('can be cancelled while they are open', async () => {
    const { orderCode, checkoutUrl } = await sdk.paymentRequests.create(request())
    expect(await sdk.paymentRequests.cancel(orderCode, 'changed my mind')).toMatchObject({
      status: 'CANCELLED',
      cancellationReason: 'changed my mind',
    })
    expect(await codeOf(sdk.paymentRequests.cancel(orderCode))).toBe('20')
    expect(await codeOf(sdk.paymentRequests.cancel(7))).toBe('101')
    expect((await fetch(checkoutUrl)).status).toBe(404)
  })

  it.each([
    ['20', 'no amount', { amount: 0 }],
    ['20', 'a fraction', { amount: 1.5 }],
    ['20', 'an order code beyond 2^53', { orderCode: 2 ** 53 }],
    ['20', 'diacritics', { description: 'Nạp ví' }],
    ['20', 'a long description', { description: 'x'.repeat(26) }],
    ['20', 'no web address', { returnUrl: 'javascript:alert(1)' }],
    ['20', 'an end in the past', { expiredAt: 1 }],
    ['20', 'a field it does not know', { nonsense: 1 } as object],
  ])('are refused with %s for %s', async (code, _name, changes) => {
    expect(await codeOf(sdk.paymentRequests.create(request(changes)))).toBe(code)
  })

  it('are refused to wrong keys and signatures, and to what is no object', async () => {
    const input = request()
    expect(
      await codeOf(
        new PayOS({ ...channel, baseURL: sandbox.url, apiKey: 'x' }).paymentRequests.create(input),
      ),
    ).toBe('214')
    expect(
      await codeOf(
        new PayOS({ ...channel, baseURL: sandbox.url, clientId: 'x' }).paymentRequests.get(1),
      ),
    ).toBe('214')
    expect(
      await codeOf(
        new PayOS({ ...channel, baseURL: sandbox.url, checksumKey: 'x' }).paymentRequests.create(
          input,
        ),
      ),
    ).toBe('201')
    const signature = requestSignature({ ...input }, channel.checksumKey)
    expect(await post({ ...input, amount: 1, signature })).toBe('201')
    for (const body of ['', 'null', '[]', '{', input]) expect(await post(body)).toBe('20')
    expect(await post({ ...input, signature })).toBe('00')
  })
})

describe('the payment page', () => {
  it.each([
    ['vi', 'Huỷ giao dịch'],
    ['en', 'Cancel'],
  ])(
    'in %s shows what to transfer and where, marked as sandbox, under a strict policy',
    async (language, button) => {
      const { checkoutUrl, qrCode } = await sdk.paymentRequests.create(request())
      const response = await fetch(checkoutUrl, { headers: { 'accept-language': language } })
      const html = await response.text()
      for (const text of [
        `<html lang="${language}">`,
        'SANDBOX',
        '1.500.000\u00a0đ',
        button,
        'NAP12345',
        'MB Bank',
        qrCode,
      ])
        expect(html).toContain(text)
      expect(html).not.toMatch(/<script>|style="|onclick/)
      expect(response.headers.get('content-security-policy')).toContain(
        "form-action 'self' https://portal.example.vn;",
      )
    },
  )

  it.each([
    ['paid', 'PAID', 1_500_000, 1],
    ['parts', 'PAID', 1_500_000, 2],
    ['more', 'PAID', 1_510_000, 1],
    ['twice', 'PAID', 3_000_000, 2],
    ['late', 'PAID', 1_500_000, 1],
    ['after_expiry', 'PAID', 1_500_000, 1],
    ['lost', 'PAID', 1_500_000, 0],
    ['expired', 'EXPIRED', 0, 0],
    ['cancelled', 'CANCELLED', 0, 0],
  ])(
    '%s: %s, with %i đ, told of in %i words that the SDK believes',
    async (outcome, expected, came, count) => {
      const { orderCode, landed } = await chosen(outcome)
      const link = await sdk.paymentRequests.get(orderCode)
      expect(link).toMatchObject({ status: expected, amountPaid: came })
      expect(landed.pathname).toBe(outcome === 'cancelled' ? '/cancelled' : '/back')
      expect(Object.fromEntries(landed.searchParams)).toMatchObject({
        code: '00',
        id: link.id,
        status: expected,
        orderCode: String(orderCode),
        cancel: String(outcome === 'cancelled'),
      })
      const webhooksOfLink = await webhooks(orderCode, count)
      expect(webhooksOfLink.map(({ data }) => data.reference).toSorted()).toEqual(
        count === 0 ? [] : link.transactions.map((transfer) => transfer.reference).toSorted(),
      )
      for (const webhook of webhooksOfLink)
        expect((await sdk.webhooks.verify(webhook)).paymentLinkId).toBe(link.id)
    },
  )

  it('stays open for the rest when half has come, and closes then', async () => {
    const { orderCode, landed, url } = await chosen('half')
    expect(landed.href).toBe(url)
    expect(await sdk.paymentRequests.get(orderCode)).toMatchObject({
      status: 'UNDERPAID',
      amountPaid: 750_000,
      amountRemaining: 750_000,
    })
    expect(await (await fetch(url)).text()).toContain('750.000\u00a0đ')
    await choose(url, 'paid')
    expect(await sdk.paymentRequests.get(orderCode)).toMatchObject({
      status: 'PAID',
      amountPaid: 1_500_000,
    })
    expect((await fetch(url)).status).toBe(404)
  })

  it.each([
    ['expired', 'EXPIRED'],
    ['cancelled', 'CANCELLED'],
  ])('%s after half has come, it says so, and how much came', async (outcome, expected) => {
    const { orderCode, url } = await chosen('half')
    await choose(url, outcome)
    expect(await sdk.paymentRequests.get(orderCode)).toMatchObject({
      status: expected,
      amountPaid: 750_000,
    })
    expect((await fetch(url)).status).toBe(404)
  })

  it('takes one of many clicks, and nothing it does not know', async () => {
    const { checkoutUrl, orderCode } = await sdk.paymentRequests.create(request())
    await Promise.all(
      ['paid', 'paid', 'paid', 'cancelled'].map((outcome) => choose(checkoutUrl, outcome)),
    )
    expect([0, 1_500_000]).toContain((await sdk.paymentRequests.get(orderCode)).amountPaid)
    for (const [token, outcome] of [
      ['x', 'paid'],
      ['x', 'constructor'],
    ] as const) {
      const body = new URLSearchParams({ token, outcome })
      expect(
        (
          await fetch(`${sandbox.url}/payos/web/confirm`, {
            method: 'POST',
            body,
            redirect: 'manual',
          })
        ).status,
      ).toBe(404)
    }
  })

  it('its word comes again until it is taken', async () => {
    status = 500
    const { orderCode } = await chosen('paid')
    await webhooks(orderCode, 2)
    status = 200
  })
})

describe('the VietQR text', () => {
  // The published example of the transfer QR ("Chuyen tien" to 257678859), and three that two
  // encoders agree on.
  it.each([
    [
      '970416',
      '257678859',
      10_000n,
      'Chuyen tien',
      '00020101021238530010A0000007270123000697041601092576788590208QRIBFTTA530370454051000058' +
        '02VN62150811Chuyen tien630453E6',
    ],
    [
      '970436',
      '0123456789',
      100_000n,
      'NAPVI T7K2M9QX',
      '00020101021238540010A00000072701240006970436011001234567890208QRIBFTTA53037045406100000' +
        '5802VN62180814NAPVI T7K2M9QX63049C2B',
    ],
    [
      '970422',
      '0345678901234',
      5_000_000n,
      'TOPUP 01JD8Z3K4P',
      '00020101021238570010A00000072701270006970422011303456789012340208QRIBFTTA53037045407500' +
        '00005802VN62200816TOPUP 01JD8Z3K4P6304D16B',
    ],
    [
      '970407',
      '19031234567890',
      10_000_000n,
      'ICH0000123',
      '00020101021238580010A000000727012800069704070114190312345678900208QRIBFTTA5303704540810' +
        '0000005802VN62140810ICH00001236304D645',
    ],
  ])('to %s %s of %i đ, "%s"', (bin, account, amount, content, expected) => {
    expect(vietQr({ bin, account, amount, content })).toBe(expected)
  })
})
