/** Transfer codes, QR codes and the two feeds. Vectors' sources are named beside them. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { QRPay } from 'vietnam-qr-pay'
import { ForgedWebhook, type PaymentUpdate, type WebhookRequest } from '../../driver.ts'
import { findTransferCode, transferCode } from './code.ts'
import { fromVietnam } from '../../../platform/vietnam-time.ts'
import { dong, readCasso, readSepay } from './feeds.ts'
import { createBank } from './index.ts'
import { crc16, vietQr } from './qr.ts'
import { settings } from './settings.ts'

const posted = (body: string, headers: Record<string, string>): WebhookRequest => ({
  method: 'POST',
  headers,
  query: new URLSearchParams(),
  rawBody: Buffer.from(body),
})

describe('the QR code', () => {
  const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as {
    bin: string
    acct: string
    amount?: string
    purpose?: string
    service?: 'QRIBFTTA' | 'QRIBFTTC'
    payload: string
  }[]

  it('has the checksum that everybody has', () => {
    expect(crc16('123456789')).toBe('29B1')
  })

  it.each(vectors)(
    'is the one of the examples of NAPAS and vietnam-qr-pay: $payload',
    ({ bin, acct, amount, purpose, service, payload }) => {
      const made = vietQr({
        bin,
        account: acct,
        ...(amount !== undefined && { amount: BigInt(amount) }),
        ...(purpose !== undefined && { content: purpose }),
        ...(service !== undefined && { service }),
      })
      expect(made).toBe(payload)
    },
  )

  it('agrees with npm vietnam-qr-pay on every payment in plain ASCII', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('970436', '970407', '970422'),
        fc.stringMatching(/^\d{6,19}$/),
        fc.integer({ min: 1, max: 500_000_000 }),
        fc.stringMatching(/^[A-Z0-9]{1,25}$/),
        (bin, account, amount, content) => {
          const theirs = QRPay.initVietQR({
            bankBin: bin,
            bankNumber: account,
            amount: String(amount),
            purpose: content,
          })
          expect(vietQr({ bin, account, amount: BigInt(amount), content })).toBe(theirs.build())
        },
      ),
    )
  })

  it('refuses what it cannot hold', () => {
    expect(() => vietQr({ bin: '970436', account: '1', content: 'Nạp ví' })).toThrow(RangeError)
    expect(() => vietQr({ bin: '970436', account: '1', content: 'x'.repeat(100) })).toThrow(
      RangeError,
    )
  })
})

const codes = fc.string({ minLength: 26, maxLength: 26 }).map(transferCode)
const alphabet = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ']

describe('the transfer code', () => {
  it('is the same for the same payment, and short enough for every bank', () => {
    fc.assert(
      fc.property(fc.string(), (code) => {
        expect(transferCode(code)).toBe(transferCode(code))
        expect(transferCode(code)).toMatch(/^NPX[0-9A-HJKMNP-TV-Z]{9}$/)
      }),
    )
  })

  it('with one wrong character, or two exchanged, is no code', () => {
    fc.assert(
      fc.property(
        codes,
        fc.integer({ min: 3, max: 11 }),
        fc.constantFrom(...alphabet),
        (code, at, other) => {
          fc.pre(code[at] !== other)
          expect(findTransferCode(code.slice(0, at) + other + code.slice(at + 1))).toBeUndefined()
        },
      ),
      { numRuns: 5000 },
    )
    fc.assert(
      fc.property(
        codes,
        fc.integer({ min: 3, max: 11 }),
        fc.integer({ min: 3, max: 11 }),
        (code, a, b) => {
          fc.pre(code[a] !== code[b])
          const letters = [...code]
          ;[letters[a], letters[b]] = [letters[b] ?? '', letters[a] ?? '']
          expect(findTransferCode(letters.join(''))).toBeUndefined()
        },
      ),
      { numRuns: 5000 },
    )
  })

  it('is found in what banks make of it: 10 000 ways, at least 99.9 %, and never another', () => {
    const bankWords = fc.constantFrom(
      '',
      'MBVCB.3278907687.',
      'MBVCB.3278907687.067871.',
      'IBFT ',
      'CT DEN:632519201654 ',
      'QR - ',
      'Chuyen tien ',
      'NGUYEN VAN AN chuyen tien nap vi ',
      'Nạp tiền ví ',
      'ND:',
      '020097040506201114332024',
    )
    const tails = fc.constantFrom(
      '',
      '.CT tu 0071000123456 NGUYEN VAN AN toi 0123499999',
      ' FT24123456789012',
      '-CHUYEN TIEN-OQCH0001',
      ' GD 123456-011225',
      '; thanh toan NAP tien',
    )
    const spaced = fc.constantFrom<(code: string) => string>(
      (code) => code,
      (code) => code.toLowerCase(),
      (code) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code) => code.replaceAll(/(.{4})/g, '$1 '),
      (code) => code.replaceAll(/(.{4})/g, '$1-'),
      (code) => [...code].join(' '),
      (code) => `${code.slice(0, 7)}\n${code.slice(7)}`,
      (code) => code.replaceAll('0', 'O'),
      (code) => code.replaceAll('1', 'I'),
      (code) => code.replaceAll('1', 'l'),
      (code) => `${code} ${code}`,
      (code) => `${code}.${code.toLowerCase()}`,
    )
    const ends = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => text.normalize('NFD').replaceAll(/\p{M}/gu, ''),
      (text) => text.replaceAll(/\s/g, ''),
      (text) => text.replaceAll(/[^\w ]/g, ' '),
      (text) => text.slice(0, 140),
    )
    let matched = 0
    let wrong = 0
    let all = 0
    fc.assert(
      fc.property(codes, bankWords, spaced, tails, ends, (code, words, manner, tail, end) => {
        const found = findTransferCode(end(words + manner(code) + tail))
        all += 1
        if (found === code) matched += 1
        else if (found !== undefined) wrong += 1
      }),
      { numRuns: 10_000, seed: 20_261_121 },
    )
    process.stdout.write(
      `transfer texts: ${matched} of ${all} matched, ${wrong} to a wrong code (seed 20261121)\n`,
    )
    expect(wrong).toBe(0)
    expect(matched / all).toBeGreaterThanOrEqual(0.999)
  })

  it('of two payments in one text is nobody’s: a person must decide', () => {
    expect(findTransferCode(`${transferCode('A')} ${transferCode('B')}`)).toBeUndefined()
    expect(findTransferCode('')).toBeUndefined()
    expect(findTransferCode('NPX tien cho toi 12345678')).toBeUndefined()
  })
})

describe('the feeds', () => {
  // Own vector, computed apart with openssl: `timestamp.body` under HMAC-SHA256; header names from
  // SePay's documentation.
  const sepayBody =
    '{"id":92704,"gateway":"Vietcombank","transactionDate":"2026-11-21 10:31:00","accountNumbe' +
    'r":"0123499999","code":"NAPVIT7K2M9QX","content":"NAPVI T7K2M9QX","transferType":"in","tr' +
    'ansferAmount":100000,"accumulated":19077000,"subAccount":null,"referenceCode":"MBVCB.3278' +
    '907687","description":""}'
  const sepayAt = new Date(1_795_231_860_000)
  const sepaySigned = {
    'x-sepay-timestamp': '1795231860',
    'x-sepay-signature': 'sha256=c5d587b5aa1ad7439bdc45e7f5cc4c872489790837587e9b3f596d429fc9fc92',
  }
  // Casso's documentation of webhook V2 (developer.casso.vn/webhook): its key, body and signature.
  const cassoKey = 'mgExMrjj4i7a1p8Cs6LmFbpCd8lbw4sSX4LZXPag7TKazeIogtR90tvWYTkwQbvs'
  const cassoWebhook =
    '{"error":0,"data":{"id":0,"reference":"MA_GIAO_DICH_THU_NGHIEM","description":"giao dich ' +
    'thu nghiem","amount":599000,"runningBalance":25000000,"transactionDateTime":"2024-10-03 1' +
    '5:06:37","accountNumber":"88888888","bankName":"VPBank","bankAbbreviation":"VPB","virtual' +
    'AccountNumber":"","virtualAccountName":"","counterAccountName":"NGUYEN VAN A","counterAcc' +
    'ountNumber":"8888888888","counterAccountBankId":"970415","counterAccountBankName":"Vietin' +
    'Bank"}}'
  const cassoAt = new Date(1_727_948_258_788)
  const cassoSigned = {
    'x-casso-signature':
      't=1727948258788,v1=ed0a4bd2e826d5cb69988cdb141e6c1a080e21f3b57eb72cd78192220042b9e7dde0' +
      '868fc667faea8e224900fa7904e7c88dfa098032fb2d6b6996856e8b7ff3',
  }

  it('SePay’s word is read', () => {
    expect(readSepay(posted(sepayBody, sepaySigned), 'sepay_test_secret', sepayAt)).toEqual({
      eventId: 'sepay:92704',
      bankReference: 'MBVCB.3278907687',
      accountNumber: '0123499999',
      arrived: 100_000n,
      text: 'NAPVI T7K2M9QX',
      at: new Date('2026-11-21T03:31:00Z'),
    })
  })

  it('Casso’s word is read, whatever the order of its keys', () => {
    const expected = {
      eventId: 'casso:0',
      bankReference: 'MA_GIAO_DICH_THU_NGHIEM',
      accountNumber: '88888888',
      arrived: 599_000n,
    }
    expect(readCasso(posted(cassoWebhook, cassoSigned), cassoKey, cassoAt)).toMatchObject(expected)
    const { error, data } = JSON.parse(cassoWebhook) as { error: number; data: object }
    const turned = JSON.stringify(
      { data: Object.fromEntries(Object.entries(data).toReversed()), error },
      null,
      2,
    )
    expect(readCasso(posted(turned, cassoSigned), cassoKey, cassoAt)).toMatchObject(expected)
  })

  it.each([
    ['a changed amount', sepayBody.replace('100000', '900000'), sepaySigned, sepayAt],
    [
      'another secret',
      sepayBody,
      { ...sepaySigned, 'x-sepay-signature': `sha256=${'0'.repeat(64)}` },
      sepayAt,
    ],
    ['another moment', sepayBody, { ...sepaySigned, 'x-sepay-timestamp': '1795231861' }, sepayAt],
    ['no signature', sepayBody, {}, sepayAt],
    ['six minutes of age', sepayBody, sepaySigned, new Date(sepayAt.getTime() + 360_000)],
    ['six minutes of haste', sepayBody, sepaySigned, new Date(sepayAt.getTime() - 360_000)],
  ])('SePay’s word with %s is forged', (_what, body, headers, at) => {
    expect(() => readSepay(posted(body, headers), 'sepay_test_secret', at)).toThrow(ForgedWebhook)
  })

  it.each([
    ['a changed amount', cassoWebhook.replace('599000', '999000'), cassoSigned, cassoAt],
    ['no signature', cassoWebhook, {}, cassoAt],
    ['six minutes of age', cassoWebhook, cassoSigned, new Date(cassoAt.getTime() + 360_000)],
  ])('Casso’s word with %s is forged', (_what, body, headers, at) => {
    expect(() => readCasso(posted(body, headers), cassoKey, at)).toThrow(ForgedWebhook)
  })

  it('an amount is whole đồng, and never a float', () => {
    expect([dong(100_000), dong('100000.00'), dong('18067000.0'), dong(-5)]).toEqual([
      100_000n,
      100_000n,
      18_067_000n,
      -5n,
    ])
    expect([dong('1.5'), dong(1.5), dong('1e6'), dong(''), dong(null), dong('1,000')]).toEqual(
      Array(6).fill(undefined),
    )
  })

  it('a moment is Vietnam’s, whatever the zone of this process', () => {
    expect(fromVietnam('2026-11-21 10:31:00')).toEqual(new Date('2026-11-21T03:31:00Z'))
    expect(fromVietnam('never')).toBeNull()
  })

  const bank = createBank(
    settings.parse({
      bankName: 'Vietcombank',
      bankBin: '970436',
      accountNumber: '0123499999',
      accountName: 'CONG TY LETS PANEL',
      sepaySecret: 's',
      sepayUrl: 'https://my.sepay.vn/userapi',
    }),
  )
  const webhook = (changes: object): WebhookRequest => {
    const body = JSON.stringify({
      ...(JSON.parse(sepayBody) as object),
      content: transferCode('X'),
      ...changes,
    })
    const now = String(Math.floor(Date.now() / 1000))
    const mac = createHmac('sha256', 's').update(`${now}.${body}`).digest('hex')
    return posted(body, { 'x-sepay-timestamp': now, 'x-sepay-signature': `sha256=${mac}` })
  }

  it('money that leaves is no notice; money on another account is nobody’s', () => {
    expect(bank.readWebhook(webhook({}))).toMatchObject({
      reference: transferCode('X'),
      status: 'succeeded',
      amount: 100_000n,
    })
    expect(bank.readWebhook(webhook({ transferType: 'out' }))).toBeNull()
    expect(bank.readWebhook(webhook({ accountNumber: '999' }))).toMatchObject({ reference: null })
  })

  it('a feed that is not configured is not believed', () => {
    expect(() => bank.readWebhook(posted(cassoWebhook, cassoSigned))).toThrow(ForgedWebhook)
  })

  it('two feeds’ own numbers may be one transfer, whichever way SePay tells', () => {
    const ours = { bankName: 'V', bankBin: '970436', accountNumber: '1', accountName: 'A' }
    const feeds = (of: object) => {
      const { mayBeOne } = createBank(settings.parse({ ...ours, sepayUrl: 'https://s.vn', ...of }))
      return (one: string, two: string): boolean => mayBeOne(`1:${one}`, `1:${two}`)
    }
    for (const sepay of [{ sepaySecret: 's' }, { sepayToken: 't' }]) {
      const both = feeds({ ...sepay, cassoSecret: 'c' })
      expect(both('casso:77', 'sepay:9001')).toBe(true)
      expect(both('casso:77', 'FT1')).toBe(true)
      expect(both('casso:77', 'casso:78')).toBe(false)
      expect(both('FT1', 'FT2')).toBe(false)
    }
    // With one configured feed, its number and a bank's reference are two transfers. A number of a
    // former feed may still name the same transfer.
    const one = feeds({ sepaySecret: 's', sepayToken: 't' })
    expect(one('sepay:9001', 'FT1')).toBe(false)
    expect(one('sepay:9001', 'casso:77')).toBe(true)
  })

  it.each([
    ['no feed', { sepaySecret: undefined }],
    ['a blank secret', { sepaySecret: '  ' }],
    ['a name with marks', { accountName: 'Công ty' }],
    ['a BIN of five digits', { bankBin: '97043' }],
  ])('settings with %s are refused', (_what, change) => {
    const given = {
      bankName: 'Vietcombank',
      bankBin: '970436',
      accountNumber: '0123499999',
      accountName: 'CONG TY',
      sepaySecret: 's',
      sepayUrl: 'https://my.sepay.vn/userapi',
      ...change,
    }
    expect(settings.safeParse(given).success).toBe(false)
  })
})

describe('the list', () => {
  const [from, to] = [new Date('2026-11-20T00:00:00Z'), new Date('2026-11-21T00:00:00Z')]

  /**
   * A SePay with one movement every `seconds`. It shows the newest 5000 of the requested span;
   * `blind`: the newest 5000 of all, whatever span is requested.
   */
  async function listOf(
    seconds: number,
    blind = false,
  ): Promise<{ updates: () => Promise<PaymentUpdate[]>; asked: () => number; close: () => void }> {
    let asked = 0
    const server = createServer((request, response) => {
      asked += 1
      const { searchParams } = new URL(request.url ?? '', 'http://sepay')
      const at = (name: string): number =>
        (fromVietnam(searchParams.get(name) ?? '')?.getTime() ?? 0) / 1000
      const [first, last] = blind
        ? [from.getTime() / 1000, to.getTime() / 1000]
        : [at('transaction_date_min'), at('transaction_date_max')]
      const transactions = []
      for (
        let time = last - (last % seconds);
        time >= first && transactions.length < 5000;
        time -= seconds
      )
        transactions.push({
          id: time,
          transaction_date: new Date((time + 25_200) * 1000)
            .toISOString()
            .slice(0, 19)
            .replace('T', ' '),
          account_number: '0123499999',
          amount_in: '1000.00',
          transaction_content: '',
          reference_number: `FT${time}`,
        })
      response.end(JSON.stringify({ transactions }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bank = createBank(
      settings.parse({
        bankName: 'Vietcombank',
        bankBin: '970436',
        accountNumber: '0123499999',
        accountName: 'CONG TY LETS PANEL',
        sepaySecret: 's',
        sepayToken: 't',
        sepayUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      }),
    )
    return {
      updates: async () => (await bank.movements?.({ from, to })) ?? [],
      asked: () => asked,
      close: () => server.close(),
    }
  }

  it.each([
    [60, 1441, 1],
    // 86 401 seconds: a list that comes back full is queried again in halves.
    [7, 12_343, 7],
  ])(
    'with one movement every %i seconds holds all %i, in %i questions',
    async (seconds, movements, questions) => {
      const { updates, asked, close } = await listOf(seconds)
      const found = await updates()
      expect(new Set(found.map(({ eventId }) => eventId)).size).toBe(movements)
      expect(found.length).toBe(movements)
      expect(asked()).toBe(questions)
      close()
    },
  )

  it('of a feed that is full whatever it is asked for is given up', async () => {
    const { updates, asked, close } = await listOf(1, true)
    await expect(updates()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(asked()).toBeLessThanOrEqual(64)
    close()
  })
})
