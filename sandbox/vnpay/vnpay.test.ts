/**
 * Tests of VNPay's stand-in with npm `vnpay` and by hand, so that the portal's driver is not the
 * only client that agrees with it.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VNPay } from 'vnpay'
import { testDatabase } from '../../test/database.ts'
import { startSandbox, type Sandbox } from '../index.ts'
import { withQuery } from '../http.ts'
import { formEncode, pipeHash, signedQuery, vnpayDate, type Fields } from './sign.ts'

const terminal = { tmnCode: 'DEMO0001', secret: 'TESTSECRET0123456789ABCDEFGHIJKL' }
const oracle = new VNPay({
  tmnCode: terminal.tmnCode,
  secureSecret: terminal.secret,
  testMode: true,
})
let database: Awaited<ReturnType<typeof testDatabase>>
let sandbox: Sandbox
let merchant: Server
let merchantUrl = ''
/** The merchant's response code, and the webhooks that it received. */
let rspCode = '00'
const received: URLSearchParams[] = []
let listeners: (() => void)[] = []

const open = (pace = 0.01): Promise<Sandbox> =>
  startSandbox({
    host: '127.0.0.1',
    port: 0,
    databaseUrl: database.url,
    portalUrl: () => `${merchantUrl}/`,
    gateways: { vnpay: terminal },
    esms: { apiKey: 'k', secretKey: 's' },
    log: () => undefined,
    pace,
  })
async function until<T>(found: () => T | undefined): Promise<T> {
  for (;;) {
    const value = found()
    if (value !== undefined) return value
    await new Promise<void>((resolve) => listeners.push(resolve))
  }
}
const webhooksOf = (ref: string): URLSearchParams[] =>
  received.filter((query) => query.get('vnp_TxnRef') === ref)
const webhooks = (ref: string, count: number): Promise<URLSearchParams[]> =>
  until(() => (webhooksOf(ref).length >= count ? webhooksOf(ref) : undefined))

beforeAll(async () => {
  merchant = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://merchant')
    if (url.pathname === '/api/webhooks/vnpay' && request.method === 'GET')
      received.push(url.searchParams)
    response.end(JSON.stringify({ RspCode: rspCode, Message: 'x' }))
    for (const listener of listeners.splice(0)) listener()
  })
  await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve))
  merchantUrl = `http://127.0.0.1:${(merchant.address() as AddressInfo).port}`
  database = await testDatabase()
  sandbox = await open()
})
afterAll(async () => {
  await sandbox?.close()
  await database?.drop()
  merchant.close()
  merchant.closeAllConnections()
  listeners = []
})

const request = (changes: Fields = {}): Fields => ({
  vnp_Version: '2.1.0',
  vnp_Command: 'pay',
  vnp_TmnCode: terminal.tmnCode,
  vnp_Amount: '150000000',
  vnp_CurrCode: 'VND',
  vnp_TxnRef: `S${randomBytes(8).toString('hex')}`,
  vnp_OrderInfo: 'Nap tien vi',
  vnp_OrderType: 'other',
  vnp_Locale: 'vn',
  vnp_IpAddr: '203.0.113.10',
  vnp_ReturnUrl: 'https://portal.example.vn/back?lang=vi#top',
  vnp_CreateDate: vnpayDate(new Date()),
  vnp_ExpireDate: vnpayDate(new Date(Date.now() + 900_000)),
  ...changes,
})
const link = (fields: Fields, secret = terminal.secret): string =>
  `${sandbox.url}/vnpay/paymentv2/vpcpay.html?${signedQuery(fields, secret)}`
const tokenOf = (html: string): string => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
const confirm = (token: string, outcome: string): Promise<Response> =>
  fetch(`${sandbox.url}/vnpay/paymentv2/Transaction/Confirm.html`, {
    method: 'POST',
    body: new URLSearchParams({ token, outcome }),
    redirect: 'manual',
  })
async function pay(fields: Fields, outcome: string): Promise<URL> {
  const response = await confirm(tokenOf(await (await fetch(link(fields))).text()), outcome)
  expect(response.status).toBe(303)
  return new URL(response.headers.get('location') ?? '')
}
async function api(fields: Fields, secret = terminal.secret): Promise<Fields> {
  const names =
    fields['vnp_Command'] === 'refund'
      ? 'RequestId Version Command TmnCode TransactionType TxnRef Amount TransactionNo ' +
        'TransactionDate CreateBy CreateDate IpAddr OrderInfo'
      : 'RequestId Version Command TmnCode TxnRef TransactionDate CreateDate IpAddr OrderInfo'
  const body = JSON.stringify({ ...fields, vnp_SecureHash: pipeHash(secret, fields, names) })
  return (await (
    await fetch(`${sandbox.url}/vnpay/merchant_webapi/api/transaction`, { method: 'POST', body })
  ).json()) as Fields
}
const question = (of: Fields, changes: Fields = {}): Fields => ({
  vnp_RequestId: randomBytes(16).toString('hex'),
  vnp_Version: '2.1.0',
  vnp_Command: 'querydr',
  vnp_TmnCode: terminal.tmnCode,
  vnp_TxnRef: of['vnp_TxnRef'] ?? '',
  vnp_OrderInfo: 'Truy van',
  vnp_TransactionDate: of['vnp_CreateDate'] ?? '',
  vnp_CreateDate: vnpayDate(new Date()),
  vnp_IpAddr: '203.0.113.10',
  ...changes,
})

describe('the payment page', () => {
  it('shows what is paid, in the asked language, as sandbox, by a strict policy', async () => {
    for (const [locale, language, button] of [
      ['vn', 'vi', 'Huỷ giao dịch'],
      ['en', 'en', 'Cancel'],
    ] as const) {
      const fields = request({ vnp_Locale: locale })
      const response = await fetch(link(fields))
      const html = await response.text()
      for (const text of [
        `<html lang="${language}">`,
        'SANDBOX',
        '1.500.000\u00a0đ',
        fields['vnp_TxnRef'] ?? '',
        'Nap tien vi',
        button,
        'portal.example.vn',
      ])
        expect(html).toContain(text)
      expect(html).not.toMatch(/<script>|style="|onclick/)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("form-action 'self' https://portal.example.vn;")
      expect(policy).not.toContain('unsafe')
    }
  })

  it('opens links made by npm vnpay', async () => {
    const url = oracle.buildPaymentUrl({
      vnp_Amount: 20_000,
      vnp_IpAddr: '127.0.0.1',
      vnp_ReturnUrl: 'http://localhost:3000/return',
      vnp_TxnRef: `O${randomBytes(6).toString('hex')}`,
      vnp_OrderInfo: 'x',
      vnp_CreateDate: Number(vnpayDate(new Date())),
      vnp_ExpireDate: Number(vnpayDate(new Date(Date.now() + 60_000))),
    })
    expect(
      tokenOf(
        await (
          await fetch(`${sandbox.url}/vnpay/paymentv2/vpcpay.html${new URL(url).search}`)
        ).text(),
      ),
    ).not.toBe('')
  })

  it.each([
    ['70', 'another key', (fields: Fields) => link(fields, 'other')],
    ['70', 'a changed amount', (fields: Fields) => link(fields).replace('150000000', '100000000')],
    ['72', 'an unknown terminal', (fields: Fields) => link({ ...fields, vnp_TmnCode: 'OTHER001' })],
    [
      '15',
      'a past time',
      (fields: Fields) =>
        link({ ...fields, vnp_ExpireDate: vnpayDate(new Date(Date.now() - 1000)) }),
    ],
    ['03', 'no end', (fields: Fields) => link({ ...fields, vnp_ExpireDate: '' })],
    ['03', 'diacritics', (fields: Fields) => link({ ...fields, vnp_OrderInfo: 'Nạp tiền' })],
    ['03', 'a fraction', (fields: Fields) => link({ ...fields, vnp_Amount: '100.5' })],
    [
      '03',
      'no web address to return to',
      (fields: Fields) => link({ ...fields, vnp_ReturnUrl: 'javascript:alert(1)' }),
    ],
  ])('answers error %s to a link with %s', async (code, _name, make) => {
    const response = await fetch(make(request()))
    expect(new URL(response.url).searchParams.get('code')).toBe(code)
    expect(await response.text()).toContain(`<p class="code">${code}</p>`)
  })

  it('shows one link until it is decided, and no second payment per reference', async () => {
    const fields = request()
    expect(tokenOf(await (await fetch(link(fields))).text())).toBe(
      tokenOf(await (await fetch(link(fields))).text()),
    )
    expect((await fetch(link({ ...fields, vnp_Amount: '200000000' }))).url).toContain('code=01')
    await pay(fields, 'paid')
    expect((await fetch(link(fields))).url).toContain('code=01')
  })

  it('escapes what it is given', async () => {
    const html = await (
      await fetch(link(request({ vnp_TxnRef: '<script>alert(1)</script>' })))
    ).text()
    expect(html).not.toContain('<script>alert')
  })
})

describe('the choice', () => {
  it.each([
    ['paid', '00', '00'],
    ['insufficient', '51', '02'],
    ['cancelled', '24', '02'],
    ['suspicious', '07', '07'],
    ['wrong_otp', '13', '02'],
    ['maintenance', '75', '02'],
  ])(
    '%s: tells the merchant first, then sends the browser back with the same signed words',
    async (outcome, responseCode, transactionStatus) => {
      const fields = request()
      const landed = await pay(fields, outcome)
      const [webhook] = webhooksOf(fields['vnp_TxnRef'] ?? '')
      const query = Object.fromEntries(webhook ?? [])
      expect(query).toMatchObject({
        vnp_ResponseCode: responseCode,
        vnp_TransactionStatus: transactionStatus,
        vnp_Amount: '150000000',
      })
      expect(oracle.verifyIpnCall(query as never).isVerified).toBe(true)
      expect(landed.href.startsWith('https://portal.example.vn/back?lang=vi&vnp_Amount=')).toBe(
        true,
      )
      expect(landed.hash).toBe('#top')
      landed.searchParams.delete('lang')
      expect(Object.fromEntries(landed.searchParams)).toEqual(query)
    },
  )

  it('counts once, however often and fast it is made', async () => {
    const fields = request()
    const token = tokenOf(await (await fetch(link(fields))).text())
    const landed = await Promise.all(
      ['paid', 'cancelled', 'paid', 'insufficient'].map(async (outcome) =>
        (await confirm(token, outcome)).headers.get('location'),
      ),
    )
    expect(new Set(landed).size).toBe(1)
    expect(webhooksOf(fields['vnp_TxnRef'] ?? '')).toHaveLength(1)
  })

  it("is too late after the payment's time", async () => {
    const fields = request()
    const token = tokenOf(await (await fetch(link(fields))).text())
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      `update sandbox.vnpay_payments set expires_at = now() - interval '1 second' where token = $1`,
      [token],
    )
    await client.end()
    expect((await api(question(fields)))['vnp_TransactionStatus']).toBe('02')
    expect(
      new URL((await confirm(token, 'paid')).headers.get('location') ?? '').searchParams.get(
        'vnp_ResponseCode',
      ),
    ).toBe('11')
  })

  it('refuses an unknown token and an unknown outcome', async () => {
    const token = tokenOf(await (await fetch(link(request()))).text())
    for (const response of [
      await confirm('x', 'paid'),
      await confirm(token, 'constructor'),
      await confirm(token, ''),
    ])
      expect(response.headers.get('location')).toContain('code=03')
  })

  it('may be told late, or never', async () => {
    const [late, lost] = [request(), request()]
    await pay(lost, 'lost')
    await pay(late, 'late')
    await webhooks(late['vnp_TxnRef'] ?? '', 1)
    expect(webhooksOf(lost['vnp_TxnRef'] ?? '')).toHaveLength(0)
    expect((await api(question(lost)))['vnp_TransactionStatus']).toBe('00')
  })
})

describe('the notice', () => {
  it('comes again until 00 or 02, ten times at most, and survives a restart', async () => {
    rspCode = '99'
    const fields = request()
    const ref = fields['vnp_TxnRef'] ?? ''
    await pay(fields, 'paid')
    await webhooks(ref, 3)
    await sandbox.close()
    const before = webhooksOf(ref).length
    sandbox = await open()
    await webhooks(ref, before + 1)
    rspCode = '02'
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const left = async (): Promise<number> =>
      (await client.query('select from sandbox.notices where done_at is null')).rowCount ?? 0
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    const { rows } = await client.query<{ attempts: number }>(
      'select max(attempts) as attempts from sandbox.notices',
    )
    expect(rows[0]?.attempts).toBeLessThanOrEqual(10)
    await client.end()
    expect(new Set(webhooksOf(ref).map(String)).size).toBe(1)
    rspCode = '00'
  })

  it('is given up after ten calls', async () => {
    rspCode = '97'
    const fields = request()
    await pay(fields, 'cancelled')
    await webhooks(fields['vnp_TxnRef'] ?? '', 10)
    rspCode = '00'
    const next = request()
    await pay(next, 'late')
    await webhooks(next['vnp_TxnRef'] ?? '', 1)
    expect(webhooksOf(fields['vnp_TxnRef'] ?? '')).toHaveLength(10)
  })
})

describe('querydr and refund', () => {
  it("answers in VNPay's codes", async () => {
    const fields = request()
    const code = async (asked: Fields, secret?: string): Promise<string | undefined> =>
      (await api(asked, secret))['vnp_ResponseCode']
    expect(await code(question(fields))).toBe('91')
    await pay(fields, 'paid')
    const asked = question(fields)
    expect(await code(asked)).toBe('00')
    expect(await code(asked)).toBe('94')
    expect(await code(question(fields), 'other')).toBe('97')
    expect(await code(question(fields, { vnp_TmnCode: 'OTHER001' }))).toBe('02')
    expect(await code(question(fields, { vnp_CreateDate: 'x' }))).toBe('03')
    expect(await code(question(fields, { vnp_TransactionDate: '20200101000000' }))).toBe('91')
    expect(await code({ vnp_Command: 'else' })).toBe('03')
  })

  it('gives back no more than was paid', async () => {
    const fields = request()
    const refundFields = (amount: string, type: string, changes: Fields = {}): Fields =>
      question(fields, {
        vnp_Command: 'refund',
        vnp_TransactionType: type,
        vnp_Amount: amount,
        vnp_TransactionNo: '0',
        vnp_CreateBy: 'ops',
        ...changes,
      })
    const code = async (asked: Fields): Promise<string | undefined> =>
      (await api(asked))['vnp_ResponseCode']
    await fetch(link(fields))
    expect(await code(refundFields('150000000', '02'))).toBe('95')
    await pay(fields, 'paid')
    expect(await code(refundFields('150000100', '03'))).toBe('99')
    expect(await code(refundFields('100000000', '02'))).toBe('99')
    expect(await code(refundFields('100000000', '03', { vnp_TransactionNo: '1' }))).toBe('91')
    const part = refundFields('100000000', '03')
    expect(
      await Promise.all([code(part), code(part), code(part)]).then((codes) =>
        codes.toSorted((a, b) => (a ?? '').localeCompare(b ?? '')),
      ),
    ).toEqual(['00', '94', '94'])
    expect(await code(refundFields('60000000', '03'))).toBe('99')
    expect(await code(refundFields('50000000', '03'))).toBe('00')
    expect(await code(refundFields('100', '03'))).toBe('94')
    expect((await api(question(fields)))['vnp_TransactionStatus']).toBe('06')
  })

  it('npm vnpay verifies its answers', async () => {
    const client = new VNPay({
      tmnCode: terminal.tmnCode,
      secureSecret: terminal.secret,
      vnpayHost: sandbox.url,
      queryDrAndRefundHost: sandbox.url,
      endpoints: { queryDrRefundEndpoint: 'vnpay/merchant_webapi/api/transaction' },
    })
    const fields = request()
    await pay(fields, 'paid')
    const answer = await client.queryDr({
      vnp_RequestId: randomBytes(8).toString('hex'),
      vnp_IpAddr: '127.0.0.1',
      vnp_TxnRef: fields['vnp_TxnRef'] ?? '',
      vnp_OrderInfo: 'x',
      vnp_TransactionNo: 0,
      vnp_TransactionDate: Number(fields['vnp_CreateDate']),
      vnp_CreateDate: Number(vnpayDate(new Date())),
    })
    expect(answer).toMatchObject({ isVerified: true, isSuccess: true, vnp_TransactionStatus: '00' })
  })
})

it('joins a query to any return URL', () => {
  expect(
    [
      'https://a.vn/b',
      'https://a.vn/b?c=1',
      'https://a.vn/b?',
      'https://a.vn/b?c=1&',
      'https://a.vn/b#d',
      'https://a.vn/b?c=1#d',
    ].map((url) => withQuery(url, 'x=1')),
  ).toEqual([
    'https://a.vn/b?x=1',
    'https://a.vn/b?c=1&x=1',
    'https://a.vn/b?x=1',
    'https://a.vn/b?c=1&x=1',
    'https://a.vn/b?x=1#d',
    'https://a.vn/b?c=1&x=1#d',
  ])
})

it('writes forms as PHP does', () => {
  expect(formEncode({ b: 'x y*~', a: 'đ&=', c: '' })).toBe('a=%C4%91%26%3D&b=x+y%2A%7E')
})
