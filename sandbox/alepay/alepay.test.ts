/**
 * Tests of Alepay's stand-in with checksums that are computed here, so that the portal's driver is
 * not the only client that agrees with it.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../../test/database.ts'
import { startSandbox, type Sandbox } from '../index.ts'

const merchant = {
  tokenKey: 'TESTTOKENKEY0123456789ABCDEFGH',
  checksumKey: 'TESTCHECKSUMKEY0123456789ABCDEF',
}
interface Webhook {
  transactionInfo: Record<string, unknown>
  checksum: string
}
let database: Awaited<ReturnType<typeof testDatabase>>
let sandbox: Sandbox
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
      if (request.method === 'POST' && request.url === '/api/webhooks/alepay')
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
    gateways: { alepay: merchant },
    esms: { apiKey: 'k', secretKey: 's' },
    log: () => undefined,
    pace: 0.01,
  })
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
  shop.close()
  shop.closeAllConnections()
  listeners = []
})

async function webhooks(orderCode: unknown, count: number): Promise<Webhook[]> {
  for (;;) {
    const found = received.filter(
      ({ transactionInfo }) => transactionInfo['orderCode'] === orderCode,
    )
    if (found.length >= count) return found
    await new Promise<void>((resolve) => listeners.push(resolve))
  }
}
type Fields = Record<string, unknown>
const sign = (fields: Fields, key = merchant.checksumKey): Fields => ({
  ...fields,
  signature: createHmac('sha256', key)
    .update(
      Object.keys(fields)
        .sort()
        .map((name) => `${name}=${String(fields[name])}`)
        .join('&'),
    )
    .digest('hex'),
})
const sha = (...parts: string[]): string =>
  createHash('sha256')
    .update([...parts, merchant.checksumKey].join(''))
    .digest('hex')
async function call(name: string, body: unknown): Promise<Fields> {
  const response = await fetch(`${sandbox.url}/alepay/api/v3/checkout/${name}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Fields
}
const request = (changes: Fields = {}): Fields => ({
  tokenKey: merchant.tokenKey,
  orderCode: `S${randomBytes(8).toString('hex')}`,
  customMerchantId: '42',
  amount: 1_500_000,
  currency: 'VND',
  orderDescription: 'Nạp ví',
  totalItem: 1,
  checkoutType: 4,
  allowDomestic: true,
  installment: false,
  language: 'vi',
  paymentHours: '0.5',
  returnUrl: 'https://portal.example.vn/back?lang=vi#top',
  cancelUrl: 'https://portal.example.vn/cancelled',
  buyerName: 'Nguyễn Văn A',
  buyerEmail: 'a@example.vn',
  buyerPhone: '0901234567',
  buyerAddress: '12 Trường Chinh',
  buyerCity: 'Hà Nội',
  buyerCountry: 'Việt Nam',
  ...changes,
})
const begin = (fields: Fields): Promise<Fields> => call('request-payment', sign(fields))
const info = (transactionCode: unknown): Promise<Fields> =>
  call('get-transaction-info', sign({ tokenKey: merchant.tokenKey, transactionCode }))
const tokenOf = async (checkoutUrl: unknown): Promise<string> =>
  /name="token" value="([^"]+)"/.exec(await (await fetch(String(checkoutUrl))).text())?.[1] ?? ''
const confirm = (token: string, outcome: string): Promise<Response> =>
  fetch(`${sandbox.url}/alepay/checkout/confirm`, {
    method: 'POST',
    body: new URLSearchParams({ token, outcome }),
    redirect: 'manual',
  })
async function paid(
  outcome = 'paid',
  fields = request(),
): Promise<{ code: string; fields: Fields; checkoutUrl: string }> {
  const { transactionCode, checkoutUrl } = await begin(fields)
  await confirm(await tokenOf(checkoutUrl), outcome)
  return { code: String(transactionCode), fields, checkoutUrl: String(checkoutUrl) }
}
const back = (
  transactionCode: string,
  merchantRefundCode: string,
  refundAmount: string,
): Promise<Fields> =>
  call('merchant-request-refund', {
    tokenKey: merchant.tokenKey,
    data: { transactionCode, merchantRefundCode, refundAmount, reason: 'x' },
    checksum: sha(transactionCode, merchantRefundCode, refundAmount),
  })

describe('request-payment', () => {
  it.each([
    ['105', 'an unknown token key', { tokenKey: 'OTHER' }],
    ['104', 'a field it does not know', { nonsense: true }],
    ['104', 'a code with a space', { orderCode: 'A B' }],
    ['104', 'instalments', { installment: true }],
    ['120', 'no amount', { amount: 0 }],
    ['120', 'an amount in text', { amount: '1500000' }],
    ['120', 'a fraction', { amount: 1.5 }],
    ['121', 'another currency', { currency: 'USD' }],
    ['124', 'no web address', { returnUrl: 'javascript:alert(1)' }],
    ['125', 'no name', { buyerName: '' }],
    ['126', 'no e-mail', { buyerEmail: 'a' }],
    ['127', 'an international number', { buyerPhone: '+84901234567' }],
    ['128', 'no address', { buyerAddress: '' }],
    ['131', 'no hours', { paymentHours: '0' }],
    ['131', 'hours as a number', { paymentHours: 0.5 }],
  ])('answers %s to %s', async (code, _name, changes) => {
    expect(await begin(request(changes))).toMatchObject({
      code,
      message: expect.stringMatching(/./),
    })
  })

  it('answers 101 to another key or a changed field, and 104 to what is no object', async () => {
    expect((await call('request-payment', sign(request(), 'other')))['code']).toBe('101')
    expect((await call('request-payment', { ...sign(request()), amount: 1 }))['code']).toBe('101')
    const { buyerCity: _city, ...without } = request()
    expect((await begin(without))['code']).toBe('129')
    for (const body of ['', 'null', '[]', '7', '{'])
      expect((await call('request-payment', body))['code']).toBe('104')
  })

  it('begins one payment for one order code', async () => {
    const fields = request()
    const first = await begin(fields)
    expect(first).toMatchObject({
      code: '000',
      transactionCode: expect.stringMatching(/^ALE[0-9A-Z]{7}$/),
    })
    expect(await begin(fields)).toEqual(first)
    expect((await begin({ ...fields, amount: 1 }))['code']).toBe('104')
    await confirm(await tokenOf(first['checkoutUrl']), 'paid')
    expect((await begin(fields))['code']).toBe('104')
  })
})

describe('the payment page', () => {
  it.each([
    ['vi', 'Huỷ giao dịch'],
    ['en', 'Cancel'],
  ])(
    'in %s shows what is paid, marked as sandbox, under a strict policy',
    async (language, button) => {
      const { checkoutUrl } = await begin(request({ language, buyerName: '<i>A</i>' }))
      const response = await fetch(String(checkoutUrl))
      const html = await response.text()
      for (const text of [
        `<html lang="${language}">`,
        'SANDBOX',
        '1.500.000\u00a0đ',
        button,
        'portal.example.vn',
        '&lt;i&gt;A&lt;/i&gt;',
      ])
        expect(html).toContain(text)
      expect(html).not.toMatch(/<script>|style="|onclick|<i>/)
      expect(response.headers.get('content-security-policy')).toContain(
        "form-action 'self' https://portal.example.vn;",
      )
    },
  )

  it('is closed for what is unknown, decided or over', async () => {
    const { checkoutUrl } = await paid()
    for (const url of [
      checkoutUrl,
      `${sandbox.url}/alepay/checkout/pay?token=x`,
      `${sandbox.url}/alepay/checkout/pay`,
    ])
      expect((await fetch(url)).status).toBe(404)
    const over = await begin(request())
    const token = await tokenOf(over['checkoutUrl'])
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      `update sandbox.alepay_payments set expires_at = now() - interval '1 second'
        where token = $1`,
      [token],
    )
    await client.end()
    expect((await fetch(String(over['checkoutUrl']))).status).toBe(404)
    expect((await info(over['transactionCode']))['status']).toBe('111')
    expect(
      new URL((await confirm(token, 'paid')).headers.get('location') ?? '').searchParams.get(
        'errorCode',
      ),
    ).toBe('111')
  })

  it('counts one choice, however often and fast it is made', async () => {
    const fields = request()
    const token = await tokenOf((await begin(fields))['checkoutUrl'])
    const landed = await Promise.all(
      ['paid', 'cancelled', 'paid', 'declined'].map(async (outcome) =>
        (await confirm(token, outcome)).headers.get('location'),
      ),
    )
    expect(new Set(landed).size).toBe(1)
    expect(await webhooks(fields['orderCode'], 1)).toHaveLength(1)
    for (const [token_, outcome] of [
      ['x', 'paid'],
      [await tokenOf((await begin(request()))['checkoutUrl']), 'constructor'],
    ] as const)
      expect((await confirm(token_, outcome)).status).toBe(404)
  })
})

describe('the webhook', () => {
  it.each([
    ['paid', '000', '/back'],
    ['declined', '135', '/back'],
    ['cancelled', '111', '/cancelled'],
    ['review', '150', '/back'],
  ])(
    '%s: tells the merchant %s first, with its checksum, then sends the browser to %s',
    async (outcome, code, path) => {
      const fields = request()
      const { transactionCode, checkoutUrl } = await begin(fields)
      const landed = new URL(
        (await confirm(await tokenOf(checkoutUrl), outcome)).headers.get('location') ?? '',
      )
      expect(landed.pathname).toBe(path)
      expect([
        landed.searchParams.get('transactionCode'),
        landed.searchParams.get('errorCode'),
      ]).toEqual([transactionCode, code])
      const [webhook] = await webhooks(fields['orderCode'], 1)
      expect(webhook?.transactionInfo).toMatchObject({
        transactionCode,
        status: code,
        amount: 1_500_000,
        currency: 'VND',
      })
      const summed =
        `${String(fields['orderCode'])}1500000` +
        `${String(transactionCode)}${merchant.checksumKey}`
      expect(webhook?.checksum).toBe(createHash('md5').update(summed).digest('hex'))
      expect(await info(transactionCode)).toMatchObject({
        code: '000',
        status: code,
        amount: '1500000',
        orderCode: fields['orderCode'],
      })
    },
  )

  it('comes late or never, again until it is taken, once more after a review', async () => {
    const [lost, late] = [await paid('lost'), await paid('late')]
    await webhooks(late.fields['orderCode'], 1)
    expect(
      received.some(
        ({ transactionInfo }) => transactionInfo['orderCode'] === lost.fields['orderCode'],
      ),
    ).toBe(false)
    expect((await info(lost.code))['status']).toBe('000')
    status = 500
    const again = await paid()
    await webhooks(again.fields['orderCode'], 2)
    status = 200
    const review = await paid('review')
    await confirm(await tokenOf(review.checkoutUrl), 'approved')
    const both = await webhooks(review.fields['orderCode'], 2)
    expect(both.map(({ transactionInfo }) => transactionInfo['status'])).toEqual(['150', '000'])
  })
})

describe('questions and refunds', () => {
  it('are refused with a wrong sum, a wrong key or a field too many', async () => {
    const { code } = await paid()
    const question = { tokenKey: merchant.tokenKey, transactionCode: code }
    expect((await call('get-transaction-info', sign(question, 'other')))['code']).toBe('101')
    expect((await call('get-transaction-info', sign({ ...question, more: 1 })))['code']).toBe('104')
    expect((await call('get-transaction-info', sign({ ...question, tokenKey: 'x' })))['code']).toBe(
      '105',
    )
    expect((await info('ALE0000000'))['code']).toBe('136')
    const data = { transactionCode: code, merchantRefundCode: 'X', refundAmount: '1', reason: 'x' }
    for (const [body, expected] of [
      [{ tokenKey: merchant.tokenKey, data, checksum: sha(code, 'X', '2') }, '101'],
      [{ tokenKey: 'x', data, checksum: sha(code, 'X', '1') }, '105'],
      [
        {
          tokenKey: merchant.tokenKey,
          data: { ...data, more: 'x' },
          checksum: sha(code, 'X', '1'),
        },
        '104',
      ],
      [
        {
          tokenKey: merchant.tokenKey,
          data: { ...data, refundAmount: 1 },
          checksum: sha(code, 'X', '1'),
        },
        '104',
      ],
      [{ tokenKey: merchant.tokenKey, data: null, checksum: 'x' }, '104'],
    ] as const)
      expect((await call('merchant-request-refund', body))['code']).toBe(expected)
  })

  it('give back each code once, never more than came, with the published sums', async () => {
    const { code, fields } = await paid()
    const refundCode = `R${code}`
    const given = await back(code, refundCode, '500000')
    const order = String(fields['orderCode'])
    expect(given).toMatchObject({
      code: '000',
      data: {
        refundAmount: '500000',
        refundStatus: '000',
        checksum: sha(code, order, '500000', refundCode),
      },
    })
    expect((await back(code, refundCode, '500000'))['code']).toBe('111')
    expect((await back(code, `${refundCode}2`, '1000001'))['code']).toBe('156')
    expect((await back(code, `${refundCode}3`, '1000000'))['code']).toBe('000')
    expect((await back((await paid('declined')).code, 'RX', '1'))['code']).toBe('111')
    expect((await back('ALE0000000', 'RY', '1'))['code']).toBe('136')
    const asked = await call('get-refund-info', {
      tokenKey: merchant.tokenKey,
      data: { transactionCode: code, merchantRefundCode: refundCode },
      checksum: sha(code, refundCode),
    })
    expect(asked).toMatchObject({
      code: '000',
      data: { checksum: sha(code, order, refundCode, '500000') },
    })
  })
})
