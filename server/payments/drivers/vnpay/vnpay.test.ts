/**
 * VNPay's published codes, test vectors made with two independent programs, and npm `vnpay` where
 * it is right.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { VNPay } from 'vnpay'
import { DriverFailure } from '../../../platform/errors.ts'
import { ForgedWebhook, type WebhookRequest, type PaymentOrder } from '../../driver.ts'
import { createVnpay } from './index.ts'
import {
  fromVnpayAmount,
  fromVnpayDate,
  plainText,
  requestId,
  toVnpayAmount,
  toVnpayDate,
  vnpayIp,
} from './convert.ts'
import { settings as schema } from './settings.ts'
import { sameHash } from '../../../platform/constant-time.ts'
import { apiHash, canonicalQuery, hmac, signedUrl, type Fields } from './sign.ts'

interface Vectors {
  readonly tmnCode: string
  readonly secret: string
  readonly vectors: readonly {
    readonly input?: Record<string, string | number>
    readonly ipn?: Record<string, string>
    readonly signData: string
    readonly secureHash?: string
    readonly url?: string
  }[]
}
const data = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as Vectors
const { secret, tmnCode } = data
const settings = {
  tmnCode,
  secret,
  payUrl: 'https://sandbox.vnpayment.vn/paymentv2/vpcpay.html',
  apiUrl: 'https://sandbox.vnpayment.vn/merchant_webapi/api/transaction',
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
  returnUrl: 'https://portal.example.vn/api/payments/vnpay/return',
  createdAt: new Date('2026-11-21T03:30:00Z'),
  expiresAt: new Date('2026-11-21T03:45:00Z'),
  providerRef: null,
  buyer: { id: '1', name: 'Nguyễn Văn A', email: 'a@example.vn', phone: '+84912345678' },
}
const webhook = (query: string | URLSearchParams): WebhookRequest => ({
  method: 'GET',
  headers: {},
  query: new URLSearchParams(query),
  rawBody: Buffer.alloc(0),
})
const signed = (fields: Fields): URLSearchParams =>
  new URL(signedUrl('http://x/', fields, secret)).searchParams
const ipns = data.vectors.flatMap((vector) => (vector.ipn === undefined ? [] : [vector.ipn]))
const [paid = {}, cancelled = {}] = ipns
const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
const changedWebhook = (changes: Fields): WebhookRequest =>
  webhook(signed({ ...without(paid, 'vnp_SecureHash'), ...changes }))

describe('the vectors', () => {
  it.each(data.vectors.filter((vector) => vector.input !== undefined))(
    'payment URL $input.vnp_TxnRef',
    ({ input = {}, signData, secureHash, url }) => {
      const fields = {
        ...Object.fromEntries(Object.entries(input).map(([key, value]) => [key, String(value)])),
        vnp_Amount: toVnpayAmount(BigInt(input['vnp_Amount'] ?? 0)),
        vnp_Version: '2.1.0',
        vnp_Command: 'pay',
        vnp_TmnCode: tmnCode,
        vnp_CurrCode: 'VND',
      }
      expect(canonicalQuery(fields)).toBe(signData)
      expect(hmac(secret, signData)).toBe(secureHash)
      expect(signedUrl(settings.payUrl, fields, secret)).toBe(url)
    },
  )

  it.each(data.vectors.filter((vector) => vector.ipn !== undefined))(
    'notice $ipn.vnp_ResponseCode',
    ({ ipn = {}, signData }) => {
      expect(hmac(secret, signData)).toBe(ipn['vnp_SecureHash'])
      expect(canonicalQuery(without(ipn, 'vnp_SecureHash'))).toBe(signData)
    },
  )

  it('querydr and refund requests', () => {
    const common = {
      vnp_RequestId: 'REQ1',
      vnp_Version: '2.1.0',
      vnp_TmnCode: tmnCode,
      vnp_TxnRef: 'TOPUP20261121000001',
      vnp_TransactionDate: '20261121103000',
      vnp_CreateDate: '20261121110000',
      vnp_IpAddr: '203.0.113.10',
    }
    expect(
      apiHash(
        'queryRequest',
        { ...common, vnp_Command: 'querydr', vnp_OrderInfo: 'Truy van GD' },
        secret,
      ),
    ).toBe(
      'ad726cf5d172e4d5688aaa6285069e842e3201abdbad71206fe39a234a068342699094b676413d534a07b54' +
        'c1f267d816ea1d31f85939e72b44f446bf5a10eee',
    )
    expect(
      apiHash(
        'refundRequest',
        {
          ...common,
          vnp_Command: 'refund',
          vnp_TransactionType: '02',
          vnp_Amount: '10000000',
          vnp_TransactionNo: '14226112',
          vnp_CreateBy: 'ops',
          vnp_OrderInfo: 'Hoan tien',
        },
        secret,
      ),
    ).toBe(
      '794bc8c6d4adb80d7c404870e1a5cbe3f14c1164599c090e83995c942fe6009d1bfb59ec1cb548825e74452' +
        '42adbd065cc9829ab194729229c9f1215af9b51c2',
    )
  })

  it('the driver itself makes the first one', async () => {
    const { checkoutUrl } = await driver.begin(order)
    expect(checkoutUrl).toBe(data.vectors[0]?.url)
  })
})

describe('begin', () => {
  it('agrees with npm vnpay on every payment in the restricted alphabet', async () => {
    const oracle = new VNPay({ tmnCode, secureSecret: secret, testMode: true })
    const chars = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789']
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(...chars), minLength: 1, maxLength: 32 }),
        fc.bigInt({ min: 1n, max: 9_999_999_999n }),
        fc.constantFrom('', 'VNBANK', 'INTCARD', 'VNPAYQR'),
        fc.constantFrom('vi', 'en'),
        fc.oneof(fc.ipV4(), fc.constant('2001:db8::1')),
        fc
          .webUrl({ withQueryParameters: true })
          .filter((url) => url.length >= 10 && url.length <= 255 && /^[\w:/.?&=-]+$/.test(url)),
        fc.date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        async (code, amount, channel, language, ip, returnUrl, createdAt) => {
          const expiresAt = new Date(createdAt.getTime() + 900_000)
          const { checkoutUrl } = await driver.begin({
            ...order,
            reference: code,
            amount,
            channel,
            language: language as 'vi' | 'en',
            ip,
            returnUrl,
            createdAt,
            expiresAt,
          })
          const theirs = oracle.buildPaymentUrl({
            vnp_Amount: Number(amount),
            vnp_IpAddr: ip,
            vnp_ReturnUrl: returnUrl,
            vnp_TxnRef: code,
            vnp_OrderInfo: language === 'vi' ? `Nap tien vi ${code}` : `Wallet top-up ${code}`,
            vnp_OrderType: 'other' as never,
            vnp_Locale: (language === 'vi' ? 'vn' : 'en') as never,
            ...(channel === '' ? {} : { vnp_BankCode: channel }),
            vnp_CreateDate: Number(toVnpayDate(createdAt)),
            vnp_ExpireDate: Number(toVnpayDate(expiresAt)),
          })
          expect(checkoutUrl).toBe(theirs)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('begins no second payment: the same order gives the same URL', async () => {
    expect(await driver.begin(order)).toEqual(await driver.begin({ ...order }))
  })

  it.each([
    ['another currency', { currency: 'AUD' as const }],
    ['nothing', { amount: 0n }],
    ['less than nothing', { amount: -1n }],
    ['13 digits', { amount: 10_000_000_000n }],
    ['a channel it has not', { channel: 'ALEPAY' }],
    ['a code with other signs', { reference: 'A&B' }],
    ['an end before the beginning', { expiresAt: order.createdAt }],
    ['an endless return URL', { returnUrl: `https://p.vn/${'x'.repeat(250)}` }],
  ])('refuses %s', async (_name, change) => {
    await expect(driver.begin({ ...order, ...change })).rejects.toMatchObject({
      name: 'DriverFailure',
      kind: 'rejected',
    })
  })
})

describe('readWebhook', () => {
  it('reads the payment and the cancellation of the vectors', () => {
    expect(driver.readWebhook(webhook(new URLSearchParams(paid)))).toMatchObject({
      reference: 'TOPUP20261121000001',
      status: 'succeeded',
      amount: 100_000n,
      currency: 'VND',
      providerTransactionId: '14226112',
      occurredAt: new Date('2026-11-21T03:32:15Z'),
    })
    expect(driver.readWebhook(webhook(new URLSearchParams(cancelled)))).toMatchObject({
      status: 'failed',
      providerTransactionId: null,
    })
  })

  it("ignores what is not VNPay's, empty values, the hash type and the case of the hash", () => {
    const query = new URLSearchParams(paid)
    query.set('utm_source', 'x')
    query.set('vnp_SecureHashType', 'HmacSHA512')
    query.set('vnp_SecureHash', (paid['vnp_SecureHash'] ?? '').toUpperCase())
    query.set('vnp_Empty', '')
    expect(driver.readWebhook(webhook(query)).status).toBe('succeeded')
  })

  it.each([
    ['00', '00', 'succeeded'],
    ['00', '01', 'pending'],
    ['00', '02', 'failed'],
    ['00', '04', 'pending'],
    ['00', '07', 'pending'],
    ['00', '09', 'pending'],
    ['00', '', 'forged'],
    ['07', '00', 'pending'],
    ['07', '07', 'pending'],
    ['07', '02', 'pending'],
    ['24', '02', 'failed'],
    ['24', '01', 'failed'],
    ['24', '00', 'pending'],
    ['51', '02', 'failed'],
    ['11', '02', 'failed'],
    ['09', '02', 'failed'],
    ['10', '02', 'failed'],
    ['12', '02', 'failed'],
    ['13', '02', 'failed'],
    ['65', '02', 'failed'],
    ['75', '02', 'failed'],
    ['79', '02', 'failed'],
    ['99', '02', 'failed'],
    ['99', '01', 'pending'],
    ['42', '42', 'pending'],
    ['00', '05', 'refunded'],
    ['00', '06', 'refunded'],
  ])(
    'ResponseCode %s with TransactionStatus %s is %s',
    (responseCode, transactionStatus, status) => {
      const read = (): string =>
        driver.readWebhook(
          changedWebhook({
            vnp_ResponseCode: responseCode,
            vnp_TransactionStatus: transactionStatus,
          }),
        ).status
      if (status === 'forged')
        expect(() =>
          driver.readWebhook(
            webhook(signed(without(paid, 'vnp_SecureHash', 'vnp_TransactionStatus'))),
          ),
        ).toThrow(ForgedWebhook)
      else expect(read()).toBe(status)
    },
  )

  it('gives the same word the same id, and another word another', () => {
    const first = driver.readWebhook(webhook(new URLSearchParams(paid)))
    expect(driver.readWebhook(webhook(new URLSearchParams(paid))).eventId).toBe(first.eventId)
    const others = [
      { vnp_TransactionNo: '14226113' },
      { vnp_ResponseCode: '07' },
      { vnp_TxnRef: 'X' },
      { vnp_Amount: '10000100' },
    ]
    expect(
      new Set(others.map((change) => driver.readWebhook(changedWebhook(change)).eventId)).add(
        first.eventId,
      ).size,
    ).toBe(5)
  })

  it('refuses every single changed character', () => {
    const original = canonicalQuery(paid).replace(/&vnp_SecureHash=[^&]*/, '')
    const whole = `${original}&vnp_SecureHash=${paid['vnp_SecureHash']}`
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.constantFrom(...'0123456789abcdefXYZ._-:'),
        (at, char) => {
          const changed = whole.slice(0, at) + char + whole.slice(at + 1)
          // only the hash may differ in case
          const inHash = at > original.length
          fc.pre(inHash ? changed.toLowerCase() !== whole.toLowerCase() : changed !== whole)
          expect(() => driver.readWebhook(webhook(changed))).toThrow(ForgedWebhook)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('refuses a missing, short, doubled or foreign hash, doubled values, another terminal', () => {
    const query = new URLSearchParams(paid)
    const forgeries = [
      webhook(new URLSearchParams(without(paid, 'vnp_SecureHash'))),
      webhook(`${query}&vnp_Amount=10000000`),
      webhook(`${query}&vnp_SecureHash=${paid['vnp_SecureHash']}`),
      webhook(
        new URLSearchParams({
          ...paid,
          vnp_SecureHash: (paid['vnp_SecureHash'] ?? '').slice(0, 126),
        }),
      ),
      webhook(''),
      webhook(
        new URL(signedUrl('http://x/', without(paid, 'vnp_SecureHash'), 'another secret'))
          .searchParams,
      ),
      changedWebhook({ vnp_TmnCode: 'OTHER001' }),
    ]
    for (const forgery of forgeries)
      expect(() => driver.readWebhook(forgery)).toThrow(ForgedWebhook)
  })

  it('takes our own payment URL for no notice', async () => {
    const { checkoutUrl } = await driver.begin(order)
    expect(() => driver.readWebhook(webhook(new URL(checkoutUrl).search))).toThrow(ForgedWebhook)
  })

  it('refuses an amount that is no whole number of đồng', () => {
    for (const amount of ['10000001', '1e7', '-100', '10000000.00', ''])
      expect(() => driver.readWebhook(changedWebhook({ vnp_Amount: amount }))).toThrow(
        DriverFailure,
      )
  })

  it("answers in VNPay's words, always with status 200", () => {
    const codes = {
      recorded: '00',
      already: '02',
      unknown_order: '01',
      wrong_amount: '04',
      forged: '97',
      error: '99',
    } as const
    for (const [outcome, code] of Object.entries(codes)) {
      const answer = driver.answerTo(outcome as keyof typeof codes)
      expect(answer).toMatchObject({
        status: 200,
        contentType: expect.stringContaining('application/json') as string,
      })
      expect(JSON.parse(answer.body)).toMatchObject({
        RspCode: code,
        Message: expect.any(String) as string,
      })
    }
  })
})

describe('dates, amounts, texts', () => {
  it('writes dates in GMT+7 in every zone of the process', () => {
    const file = fileURLToPath(new URL('convert.ts', import.meta.url))
    const script =
      `import(${JSON.stringify(file)}).then(({ toVnpayDate: to, fromVnpayDate: from }) => ` +
      "console.log(to(new Date('2026-11-21T03:30:00Z')), to(new Date('2026-12-31T18:00:00Z')), " +
      "from('20261121103000').toISOString()))"
    for (const TZ of ['UTC', 'Asia/Ho_Chi_Minh', 'Australia/Sydney', 'America/Los_Angeles']) {
      const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, TZ },
        encoding: 'utf8',
      })
      expect(text.trim(), TZ).toBe('20261121103000 20270101010000 2026-11-21T03:30:00.000Z')
    }
  })

  it('reads back what it wrote, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          expect(fromVnpayDate(toVnpayDate(date))?.getTime()).toBe(
            Math.floor(date.getTime() / 1000) * 1000,
          )
        },
      ),
    )
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 9_999_999_999_999n }),
        (amount) => fromVnpayAmount(toVnpayAmount(amount)) === amount,
      ),
    )
    for (const text of [
      '',
      '2026',
      '20261321103000',
      '20260231000000',
      '2026112110300x',
      undefined,
    ])
      expect(fromVnpayDate(text)).toBeNull()
  })

  it('folds any text into the alphabet on which all encoders agree', () => {
    expect(plainText('Nạp tiền ví: Đặng Thị Hường (mã #A-2)')).toBe(
      'Nap tien vi: Dang Thi Huong ma A-2',
    )
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) =>
        /^[A-Za-z0-9 .:_-]{0,255}$/.test(plainText(text)),
      ),
    )
  })

  it('writes addresses in 7 to 45 characters', () => {
    expect(
      [
        '203.0.113.10',
        '::1',
        '::ffff:10.0.0.1',
        '2001:db8::1',
        'a::b',
        'fe80::1%eth0',
        'unix',
        '',
      ].map(vnpayIp),
    ).toEqual([
      '203.0.113.10',
      '0:0:0:0:0:0:0:1',
      '10.0.0.1',
      '2001:db8::1',
      'a:0:0:0:0:0:0:b',
      'fe80::1',
      '127.0.0.1',
      '127.0.0.1',
    ])
  })

  it('makes one request id of one idempotency key', () => {
    expect(requestId('refund1')).toBe('refund1')
    const long = requestId('refund:0198c2f0-5d0b-7cc1-8d0e-6b1c2f9f9d11')
    expect(long).toMatch(/^[0-9a-f]{32}$/)
    expect(requestId('refund:0198c2f0-5d0b-7cc1-8d0e-6b1c2f9f9d11')).toBe(long)
  })

  it('compares hashes safely', () => {
    const hash = hmac('k', 'x')
    expect(
      [hash, hash.toUpperCase(), hash.slice(1), '', undefined, `${hash}00`, 'g'.repeat(128)].map(
        (given) => sameHash(hash, given),
      ),
    ).toEqual([true, true, false, false, false, false, false])
  })
})

describe('settings', () => {
  it.each([
    ['tmnCode', 'SHORT'],
    ['secret', '  '],
    ['payUrl', 'ftp://x.vn/'],
    ['payUrl', 'https://x.vn/?a=1'],
    ['apiUrl', 'nonsense'],
  ])('refuse %s = "%s"', (name, value) => {
    expect(schema.safeParse(settings).success).toBe(true)
    const outcome = schema.safeParse({ ...settings, [name]: value })
    expect(outcome.error?.issues.map((issue) => issue.path[0])).toContain(name)
  })
})
