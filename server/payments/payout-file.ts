/**
 * A gateway's report as a file: comma-separated values with a line of headings. Gateways name their
 * columns as they like, in two languages, so a column is known by any of several names; the others
 * are ignored.
 */
import { toMinor, type Currency } from '../../contract/money.ts'
import { plainHeading, readCsv } from '../platform/csv-reader.ts'
import type { Sentence } from '../platform/errors.ts'
import type { PayoutLine } from './driver.ts'

/** Why a file cannot be read, for the operator. */
export class NotReadable extends Error {
  readonly text: Sentence
  constructor(text: Sentence) {
    super(text.en)
    this.text = text
  }
}

const linesAtMost = 5000

const headings = {
  id: ['id', 'line id'],
  movement: [
    'transaction',
    'transaction code',
    'transaction id',
    'transaction no',
    'order code',
    'order id',
    'reference',
    'txnref',
    'vnp txnref',
    'ma giao dich',
    'ma don hang',
    'ma tham chieu',
  ],
  amount: ['amount', 'so tien', 'so tien giao dich', 'gia tri giao dich', 'gross'],
  fee: ['fee', 'fees', 'phi', 'phi giao dich', 'phi dich vu', 'merchant fee'],
  kind: ['type', 'kind', 'loai', 'loai giao dich'],
} as const
type Column = keyof typeof headings

const kinds: Readonly<Record<string, PayoutLine['kind']>> = {
  payment: 'payment',
  'thanh toan': 'payment',
  refund: 'refund',
  'hoan tien': 'refund',
  dispute: 'dispute',
  chargeback: 'dispute',
  'khieu nai': 'dispute',
  fee: 'fee',
  phi: 'fee',
}

/**
 * Signed major units, such as -162000 or 12.50, as minor units. Undefined: the text is not a plain
 * number.
 */
function amountIn(text: string, currency: Currency): bigint | undefined {
  const minor = toMinor(text.replace(/^[-+]/, ''), currency)
  if (minor === undefined) return undefined
  return text.startsWith('-') ? -BigInt(minor) : BigInt(minor)
}

/**
 * Throws NotReadable, with the number of the row that is wrong.
 * @param payout what the pay-out is called: rows without an id are named by it
 */
export function linesOfFile(text: string, currency: Currency, payout: string): PayoutLine[] {
  const [head = [], ...rows] = readCsv(text)
  const names = head.map(plainHeading)
  const at = Object.fromEntries(
    Object.entries(headings).map(([column, known]) => [
      column,
      names.findIndex((name) => (known as readonly string[]).includes(name)),
    ]),
  ) as Record<Column, number>
  if (at.movement < 0 || at.amount < 0)
    throw new NotReadable({
      en: 'The file needs a line of headings with “transaction” and “amount”.',
      vi: 'Tệp cần một dòng tiêu đề có “Mã giao dịch” và “Số tiền”.',
    })
  if (rows.length === 0 || rows.length > linesAtMost)
    throw new NotReadable({
      en: `The file needs between 1 and ${linesAtMost} lines.`,
      vi: `Tệp cần có từ 1 đến ${linesAtMost} dòng.`,
    })
  return rows.map((row, index) => {
    const wrong = (): never => {
      throw new NotReadable({
        en: `Row ${index + 2}: write amounts as plain numbers, such as 162000 or -12.50.`,
        vi: `Dòng ${index + 2}: hãy ghi số tiền dạng số thuần, ví dụ 162000 hoặc -12.50.`,
      })
    }
    const cell = (column: Column): string => row[at[column]] ?? ''
    const amount = amountIn(cell('amount'), currency) ?? wrong()
    const fee = cell('fee') === '' ? 0n : (amountIn(cell('fee'), currency) ?? wrong())
    const told = cell('kind') === '' ? undefined : (kinds[plainHeading(cell('kind'))] ?? 'other')
    const kind = told ?? (amount < 0n ? 'refund' : 'payment')
    const movement = cell('movement')
    // A payment is paid out once, so its line has the same name in every file. A fee recurs each
    // month, and a payment may be refunded in parts: the names of those lines contain their
    // position.
    const name =
      kind === 'payment' && movement !== ''
        ? `${kind}:${movement}`
        : `${kind}:${movement}:${payout}:${index + 2}`
    return {
      id: cell('id') === '' || at.id < 0 ? name : cell('id'),
      kind,
      amount,
      // Some files print the fee as a negative number.
      fee: fee < 0n ? -fee : fee,
      movement: movement === '' ? null : movement,
    }
  })
}
