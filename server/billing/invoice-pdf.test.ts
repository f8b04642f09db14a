/**
 * Reads a PDF's text from its bytes: the font's own table of characters turns its glyphs into text.
 */
import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Invoice } from '../../contract/billing.ts'
import { invoicePdf } from './invoice-pdf.ts'

/** The streams of a PDF, inflated. */
function streamsOf(pdf: Buffer): string[] {
  const text = pdf.toString('latin1')
  return [...text.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].flatMap(([, body = '']) => {
    try {
      return [inflateSync(Buffer.from(body, 'latin1')).toString('latin1')]
    } catch {
      return []
    }
  })
}
/** The text of the document by drawing operation, without spaces, in any of its fonts. */
function lettersOf(pdf: Buffer): string[] {
  const streams = streamsOf(pdf)
  const tables = streams
    .filter((stream) => stream.includes('beginbfrange'))
    .map((stream) => {
      const letters = /\[([^\]]*)\]/.exec(stream)?.[1] ?? ''
      return [...letters.matchAll(/<([0-9a-f]*)>/gi)].map(([, hex = '']) =>
        Buffer.from(hex, 'hex').swap16().toString('utf16le'),
      )
    })
  const drawn = streams.filter((stream) => stream.includes('TJ')).join('\n')
  const glyphs = [...drawn.matchAll(/<([0-9a-f]+)>/gi)]
    .flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? [])
    .map((hex) => Number.parseInt(hex, 16))
  return tables.map((table) =>
    glyphs
      .map((glyph) => table[glyph] ?? '')
      .join('')
      .replace(/\s/g, ''),
  )
}

const invoice: Invoice = {
  id: 'x',
  number: 'VN-2027-000001',
  issuedAt: null,
  lapsesAt: null,
  corrects: null,
  kind: 'renewal',
  status: 'paid',
  currency: 'VND',
  total: 218_000,
  amount_due: 0,
  amount_paid: 218_000,
  tax: { name: 'VAT', rate: 800, amount: 16_148 },
  created: Date.parse('2026-12-31T17:30:00Z') / 1000,
  invoice_pdf: '',
  hosted_invoice_url: '',
  lines: [
    {
      description: 'WordPress',
      quantity: 1,
      unit_price: 218_000,
      amount: 218_000,
      tax: 16_148,
      period_start: '2026-12-31T17:30:00.000Z',
      period_end: '2027-01-31T17:30:00.000Z',
      corrects_line: null,
    },
  ],
}
const seller = { name: 'Công ty Đám Mây', taxCode: '0101234567', address: 'Hà Nội' }
const buyer = {
  name: 'Ánh Dương',
  taxCode: '0312345678',
  address: '1 Tràng Tiền, Huế',
  email: 'an@example.vn',
}

test.each([
  [
    'en',
    [
      '0101234567',
      'HàNội',
      'ÁnhDương',
      '1TràngTiền,Huế',
      'an@example.vn',
      '0312345678',
      'VAT8%included',
      '2027-01-01',
      '2027-02-01',
      'Beforetax',
    ],
  ],
  ['vi', ['0101234567', 'ĐãgồmVAT8%', '2027-01-01', '2027-02-01', 'Trướcthuế', 'CôngtyĐámMây']],
] as const)('names the tax, its code and the days of Vietnam, in %s', async (language, said) => {
  const bytes = await invoicePdf(invoice, { seller, buyer, language, timeZone: 'Asia/Ho_Chi_Minh' })
  expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
  const readings = lettersOf(bytes)
  for (const words of said)
    expect([words, readings.some((reading) => reading.includes(words))]).toEqual([words, true])
})
