/**
 * An invoice as a PDF, in English or Vietnamese. The font is complete: subsets lack letters that
 * Vietnamese needs.
 */
import { createRequire } from 'node:module'
import path from 'node:path'
import type * as pdfMake from 'pdfmake'
import type { Content, TDocumentDefinitions } from 'pdfmake/interfaces.js'
import type { Invoice } from '../../contract/billing.ts'
import type { Language } from '../../contract/errors.ts'
import { formatMoney } from '../../contract/money.ts'
import { dayIn } from './period.ts'

export interface Party {
  readonly name: string
  readonly email?: string
  readonly taxCode?: string
  readonly address?: string
}

const labels = {
  en: {
    invoice: 'Invoice',
    credit: 'Credit note',
    draft: 'Draft',
    corrects: (number: string) => `Corrects invoice ${number}`,
    correctsLine: (line: number) => `Corrects line ${line}`,
    lapses: 'Pay until',
    beginsPaid: 'The month begins with the payment.',
    beforeTax: 'Before tax',
    contained: (name: string, rate: string) => `${name} ${rate} % included`,
    from: 'From',
    to: 'To',
    taxCode: 'Tax code',
    date: 'Date',
    status: 'Status',
    description: 'Description',
    quantity: 'Quantity',
    unitPrice: 'Unit price',
    amount: 'Amount',
    period: 'Period',
    total: 'Total',
    paid: 'Paid',
    due: 'Amount due',
    statuses: { open: 'Unpaid', paid: 'Paid', void: 'Void', refunded: 'Refunded' },
    note: 'This document is a receipt of the prepaid wallet, not an e-invoice for the tax office.',
    draftNote: 'A draft: the invoice has its number and its period from the moment it is paid.',
  },
  vi: {
    invoice: 'Hoá đơn',
    credit: 'Phiếu hoàn tiền',
    draft: 'Bản nháp',
    corrects: (number: string) => `Điều chỉnh hoá đơn ${number}`,
    correctsLine: (line: number) => `Điều chỉnh dòng ${line}`,
    lapses: 'Hạn thanh toán',
    beginsPaid: 'Kỳ dịch vụ bắt đầu khi thanh toán.',
    beforeTax: 'Trước thuế',
    contained: (name: string, rate: string) => `Đã gồm ${name} ${rate.replace('.', ',')} %`,
    from: 'Bên bán',
    to: 'Bên mua',
    taxCode: 'Mã số thuế',
    date: 'Ngày',
    status: 'Trạng thái',
    description: 'Nội dung',
    quantity: 'Số lượng',
    unitPrice: 'Đơn giá',
    amount: 'Thành tiền',
    period: 'Kỳ',
    total: 'Tổng cộng',
    paid: 'Đã thanh toán',
    due: 'Còn phải trả',
    statuses: {
      open: 'Chưa thanh toán',
      paid: 'Đã thanh toán',
      void: 'Đã huỷ',
      refunded: 'Đã hoàn tiền',
    },
    note: 'Chứng từ này là phiếu thu từ ví trả trước, không phải hoá đơn điện tử.',
    draftNote: 'Bản nháp: hoá đơn có số và kỳ dịch vụ kể từ lúc được thanh toán.',
  },
} as const

let made: typeof pdfMake | undefined

/** Loaded with the first PDF, because most processes never make one. */
async function maker(): Promise<typeof pdfMake> {
  if (made) return made
  const loaded = (await import('pdfmake')) as unknown as { default: typeof pdfMake }
  const folder = path.dirname(
    createRequire(import.meta.url).resolve('@expo-google-fonts/be-vietnam-pro/package.json'),
  )
  const regular = path.join(folder, '400Regular', 'BeVietnamPro_400Regular.ttf')
  const bold = path.join(folder, '700Bold', 'BeVietnamPro_700Bold.ttf')
  loaded.default.setFonts({
    BeVietnamPro: { normal: regular, bold, italics: regular, bolditalics: bold },
  })
  // A document may read no file except the two fonts, and no address.
  loaded.default.setUrlAccessPolicy(() => false)
  loaded.default.setLocalAccessPolicy((file) => file === regular || file === bold)
  made = loaded.default
  return made
}

function party(heading: string, of: Party, taxLabel: string): Content {
  return {
    stack: [
      { text: heading, style: 'quiet' },
      { text: of.name.normalize('NFC'), bold: true },
      ...(of.address ? [{ text: of.address.normalize('NFC') }] : []),
      ...(of.email ? [{ text: of.email }] : []),
      ...(of.taxCode ? [{ text: `${taxLabel}: ${of.taxCode}` }] : []),
    ],
  }
}

interface Print {
  readonly seller: Party
  readonly buyer: Party
  readonly language: Language
  /** The time zone of the dates. */
  readonly timeZone: string
}

/** Hundredths of a percent as 8 or 8.25. */
const percent = (rate: number): string => String(rate / 100)

/** The bytes of the document. */
export async function invoicePdf(
  invoice: Invoice,
  { seller, buyer, language, timeZone }: Print,
): Promise<Buffer> {
  const t = labels[language]
  const { tax } = invoice
  const title = invoice.kind === 'credit' ? t.credit : t.invoice
  const isDraft = invoice.number === null
  const name = invoice.number ?? t.draft
  const day = (at: string | number): string => dayIn(timeZone, new Date(at))
  const money = (amount: number): string => formatMoney(amount, invoice.currency, language)
  const right = (text: string): Content => ({ text, bold: true, alignment: 'right', noWrap: true })
  const document: TDocumentDefinitions = {
    info: { title: `${title} ${name}`, author: seller.name },
    pageSize: 'A4',
    pageMargins: [48, 56, 48, 56],
    defaultStyle: { font: 'BeVietnamPro', fontSize: 10, lineHeight: 1.3, color: '#10172a' },
    styles: { quiet: { color: '#5f6a81', fontSize: 9 } },
    content: [
      {
        columns: [
          { text: title, fontSize: 22, bold: true },
          {
            text: name,
            fontSize: 14,
            bold: true,
            alignment: 'right',
            margin: [0, 8, 0, 0],
          },
        ],
      },
      {
        columns: [
          {
            text: `${t.date}: ${day(invoice.issuedAt ?? invoice.created * 1000)}`,
            style: 'quiet',
          },
          ...(invoice.lapsesAt === null
            ? []
            : [{ text: `${t.lapses}: ${day(invoice.lapsesAt)}`, style: 'quiet' }]),
          {
            text: `${t.status}: ${t.statuses[invoice.status]}`,
            style: 'quiet',
            alignment: 'right',
          },
        ],
        margin: [0, 2, 0, 20],
      },
      {
        text: invoice.corrects === null ? '' : t.corrects(invoice.corrects.number),
        margin: [0, invoice.corrects === null ? 0 : -14, 0, invoice.corrects === null ? 0 : 20],
      },
      {
        columns: [party(t.from, seller, t.taxCode), party(t.to, buyer, t.taxCode)],
        columnGap: 24,
        margin: [0, 0, 0, 24],
      },
      {
        layout: 'lightHorizontalLines',
        table: {
          headerRows: 1,
          widths: ['*', 'auto', 'auto', 'auto'],
          body: [
            [
              { text: t.description, bold: true },
              right(t.quantity),
              right(t.unitPrice),
              right(t.amount),
            ],
            ...invoice.lines.map((line): Content[] => [
              {
                stack: [
                  { text: line.description.normalize('NFC') },
                  ...(line.period_start && line.period_end
                    ? [
                        {
                          text: isDraft
                            ? t.beginsPaid
                            : `${t.period}: ${day(line.period_start)} – ${day(line.period_end)}`,
                          style: 'quiet',
                        },
                      ]
                    : []),
                  ...(line.corrects_line === null
                    ? []
                    : [{ text: t.correctsLine(line.corrects_line), style: 'quiet' }]),
                  ...(tax
                    ? [
                        {
                          text: `${t.contained(tax.name, percent(tax.rate))}: ${money(line.tax)}`,
                          style: 'quiet',
                        },
                      ]
                    : []),
                ],
              },
              { text: String(line.quantity), alignment: 'right' },
              { text: money(line.unit_price), alignment: 'right', noWrap: true },
              { text: money(line.amount), alignment: 'right', noWrap: true },
            ]),
          ],
        },
      },
      {
        margin: [0, 16, 0, 0],
        columns: [
          { width: '*', text: '' },
          {
            width: 220,
            layout: 'noBorders',
            table: {
              widths: ['*', 'auto'],
              body: [
                [
                  { text: t.total, bold: true },
                  { text: money(invoice.total), bold: true, alignment: 'right' },
                ],
                ...(tax
                  ? [
                      [
                        t.beforeTax,
                        { text: money(invoice.total - tax.amount), alignment: 'right' as const },
                      ],
                      [
                        t.contained(tax.name, percent(tax.rate)),
                        { text: money(tax.amount), alignment: 'right' as const },
                      ],
                    ]
                  : []),
                [t.paid, { text: money(invoice.amount_paid), alignment: 'right' }],
                [
                  { text: t.due, bold: true },
                  { text: money(invoice.amount_due), bold: true, alignment: 'right' },
                ],
              ],
            },
          },
        ],
      },
      { text: isDraft ? t.draftNote : t.note, style: 'quiet', margin: [0, 40, 0, 0] },
    ],
  }
  return await (await maker()).createPdf(document).getBuffer()
}
