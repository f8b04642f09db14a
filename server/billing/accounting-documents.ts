/**
 * Exports for accounting that list what was sold: tax by document, and documents by line, as an
 * e-invoice is issued from. Both read the ledger's revenue accounts, so their sums are the ledger's
 * and each other's. Amounts are major units.
 */
import { sql } from 'kysely'
import { exponents, toMajor, type Currency } from '../../contract/money.ts'
import type { Queryable } from '../platform/db.ts'
import { byteOrderMark, csvRow, revenueEntries, type Span } from '../wallet/index.ts'
import type { Party } from './invoice-pdf.ts'
import { dayIn } from './period.ts'

export interface ExportOf {
  readonly db: Queryable
  /** The time zone of the days. */
  readonly zone: string
}

/** Minor units as a cell with major units. */
export const moneyCell = (amount: bigint, currency: Currency) => ({
  number: toMajor(Number(amount), currency),
})
/** In percent; the rate has hundredths. */
const rateOf = (found: Document | undefined) =>
  found ? { number: toMajor(found.tax_rate, 'AUD') } : ''

interface Document {
  readonly number: string
  readonly kind: string
  readonly corrects: string | null
  readonly buyer: Partial<Party>
  readonly region_code: string
  readonly tax_name: string
  readonly tax_rate: number
  readonly tax: bigint
}

/** Invoices and credit notes by number, each with the tax contained in its lines. */
async function documentsOf(
  db: Queryable,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Document>> {
  const { rows } = await sql<Document>`
    select i.number, i.kind, c.number as corrects, i.buyer, i.region_code, i.tax_name, i.tax_rate,
      (select sum(l.tax)::bigint from invoice_line l where l.invoice_id = i.id) as tax
    from invoice i left join invoice c on c.id = i.corrects_id
    where i.number = any (${[...numbers]}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.number, row]))
}

/** One line per document that was paid or credited in the span. */
export async function* tax({ db, zone }: ExportOf, span: Span): AsyncIterable<string> {
  yield (
    byteOrderMark +
      csvRow([
        'Date',
        'Document',
        'Kind',
        'Corrects',
        'Buyer',
        'Tax code',
        'Region',
        'Product',
        'Currency',
        'Total',
        'Net',
        'Tax name',
        'Rate %',
        'Tax',
      ])
  )
  for await (const entries of revenueEntries(db, span)) {
    const numbers = entries.flatMap(({ document }) => (document === null ? [] : [document]))
    const documents = await documentsOf(db, numbers)
    yield entries
      .map((entry) => {
        const found = documents.get(entry.document ?? '')
        const contained = found?.tax ?? 0n
        return csvRow([
          dayIn(zone, entry.at),
          entry.document ?? '',
          found?.kind ?? '',
          found?.corrects ?? '',
          found?.buyer.name ?? '',
          found?.buyer.taxCode ?? '',
          found?.region_code ?? '',
          entry.product,
          entry.currency,
          moneyCell(entry.amount, entry.currency),
          moneyCell(entry.amount - contained, entry.currency),
          found?.tax_name ?? '',
          rateOf(found),
          moneyCell(contained, entry.currency),
        ])
      })
      .join('')
  }
}

interface DocumentLine {
  readonly number: string
  readonly item: string
  readonly quantity: bigint
  readonly amount: bigint
  readonly tax: bigint
}

/** The lines of invoices and credit notes, by their numbers, in the order of the documents. */
async function linesOf(
  db: Queryable,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, DocumentLine[]>> {
  const { rows } = await sql<DocumentLine>`
    select i.number, l.description_vi as item, l.quantity, l.amount, l.tax
    from invoice i join invoice_line l on l.invoice_id = i.id
    where i.number = any (${[...numbers]}::text[])
    order by i.number, l.position`.execute(db)
  return Map.groupBy(rows, ({ number }) => number)
}

/** Decimals of a unit price that is no whole number of minor units. */
const unitDecimals = 6

/**
 * `net` minor units by `quantity`, as major units: exact where minor units can say it, otherwise
 * rounded to six decimals, half away from zero.
 */
export function unitPrice(net: bigint, quantity: bigint, currency: Currency): string {
  if (net % quantity === 0n) return toMajor(Number(net / quantity), currency)
  const scale = 10n ** BigInt(unitDecimals - exponents[currency])
  const [top, bottom] = [(net < 0n ? -net : net) * scale, quantity < 0n ? -quantity : quantity]
  const rounded = (2n * top + bottom) / (2n * bottom)
  const digits = String(rounded).padStart(unitDecimals + 1, '0')
  const sign = net < 0n === quantity < 0n ? '' : '-'
  return `${sign}${digits.slice(0, -unitDecimals)}.${digits.slice(-unitDecimals)}`
}

/** Documents whose lines are read at once: a day of renewals may have very many. */
const documentsAtOnce = 500

/** One row per line of each document that was paid or credited in the span. */
export async function* documents({ db, zone }: ExportOf, span: Span): AsyncIterable<string> {
  yield (
    byteOrderMark +
      csvRow([
        'Date',
        'Kind',
        'Document',
        'Corrects',
        'Line',
        'Buyer',
        'Address',
        'Tax code',
        'E-mail',
        'Region',
        'Item',
        'Quantity',
        'Unit price before tax',
        'Net',
        'Tax name',
        'Rate %',
        'Tax',
        'Total',
        'Currency',
      ])
  )
  for await (const ofDay of revenueEntries(db, span))
    for (let from = 0; from < ofDay.length; from += documentsAtOnce) {
      const entries = ofDay.slice(from, from + documentsAtOnce)
      const numbers = entries.flatMap(({ document }) => (document === null ? [] : [document]))
      const found = await documentsOf(db, numbers)
      const lines = await linesOf(db, numbers)
      yield entries
        .flatMap((entry) => {
          const number = entry.document ?? ''
          const document = found.get(number)
          const head = [
            dayIn(zone, entry.at),
            document?.kind ?? '',
            number,
            document?.corrects ?? '',
          ]
          // An entry without a document is a row as well, so that the sums stay the ledger's.
          const whole = { item: entry.product, quantity: 1n, amount: entry.amount, tax: 0n }
          return (lines.get(number) ?? [whole]).map(({ item, quantity, amount, tax }, index) =>
            csvRow([
              ...head,
              index + 1,
              document?.buyer.name ?? '',
              document?.buyer.address ?? '',
              document?.buyer.taxCode ?? '',
              document?.buyer.email ?? '',
              document?.region_code ?? '',
              item,
              Number(quantity),
              { number: unitPrice(amount - tax, quantity, entry.currency) },
              moneyCell(amount - tax, entry.currency),
              document?.tax_name ?? '',
              rateOf(document),
              moneyCell(tax, entry.currency),
              moneyCell(amount, entry.currency),
              entry.currency,
            ]),
          )
        })
        .join('')
    }
}
