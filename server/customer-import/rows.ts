/** Reads a file of customers: every row is an account, or says what is wrong with it. */
import { createHash } from 'node:crypto'
import { email as emailSchema } from '../../contract/auth.ts'
import { currencies, regionCodes, type Currency, type RegionCode } from '../../contract/money.ts'
import { importRows } from '../../contract/operator-imports.ts'
import { personName } from '../../contract/person.ts'
import { normalisePhone } from '../../contract/phone.ts'
import { phoneFaults } from '../../contract/registration.ts'
import { oneLine } from '../../contract/text.ts'
import { readCsvLines } from '../platform/csv-reader.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { readAmount } from './amount.ts'
import { columnsOf, type Columns } from './columns.ts'

export interface ImportRow {
  /** Of the file, from 1. */
  readonly line: number
  /** In lower case. */
  readonly email: string
  readonly name: string
  readonly region: RegionCode
  readonly currency: Currency
  /** E.164; null: none. */
  readonly phone: string | null
  /** Null: the region's. */
  readonly language: 'en' | 'vi' | null
  /** Minor units, not below zero. */
  readonly balance: bigint
  /** The customer's id in the other panel. */
  readonly reference: string | null
}
export interface Fault {
  readonly line: number
  readonly text: Sentence
}
export interface ReadFile {
  readonly rows: readonly ImportRow[]
  readonly faults: readonly Fault[]
  readonly ignored: readonly string[]
}
export type CurrencyOf = (region: RegionCode) => Currency

/** Thrown inside of one row. */
class BadRow extends Error {
  readonly text: Sentence
  constructor(en: string, vi: string) {
    super(en)
    this.text = { en, vi }
  }
}
const misquoted = new BadRow(
  'A quotation mark stands in the middle of a cell: put the whole cell in quotation marks, and ' +
    'write each mark inside of it twice.',
  'Có dấu ngoặc kép ở giữa ô: hãy đặt cả ô trong ngoặc kép và viết mỗi dấu bên trong hai lần.',
)
const refuseFile = (en: string, vi: string): never => {
  throw new Refusal('invalid_input', { fields: { file: { en, vi } } })
}

const reference = oneLine(1, 64)
const languages: Readonly<Record<string, 'en' | 'vi'>> = {
  en: 'en',
  english: 'en',
  vi: 'vi',
  vietnamese: 'vi',
  'tiếng việt': 'vi',
}

function regionOf(columns: Columns, cells: readonly string[], currencyOf: CurrencyOf): RegionCode {
  const typed = columns.cell(cells, 'region').toUpperCase()
  const named = columns.cell(cells, 'currency').toUpperCase()
  const currency = currencies.find((each) => each === named)
  if (named !== '' && currency === undefined)
    throw new BadRow(
      `There are no wallets in ${named.slice(0, 20)}: ${currencies.join(', ')}.`,
      `Không có ví bằng ${named.slice(0, 20)}: chỉ có ${currencies.join(', ')}.`,
    )
  const region =
    typed === ''
      ? regionCodes.find((each) => currency !== undefined && currencyOf(each) === currency)
      : regionCodes.find((each) => each === typed)
  if (region === undefined)
    throw new BadRow(
      `The region has to be one of ${regionCodes.join(', ')}.`,
      `Khu vực phải là một trong: ${regionCodes.join(', ')}.`,
    )
  if (currency !== undefined && currencyOf(region) !== currency)
    throw new BadRow(
      `Wallets of the region ${region} hold ${currencyOf(region)}, and the row says ${currency}.`,
      `Ví ở khu vực ${region} dùng ${currencyOf(region)}, nhưng dòng này ghi ${currency}.`,
    )
  return region
}

function balanceOf(typed: string, currency: Currency): bigint {
  if (typed === '') return 0n
  if (/^[-\u2212(]/.test(typed))
    throw new BadRow(
      'A balance is never below zero: settle what this customer owes first.',
      'Số dư không được âm: hãy tất toán khoản khách còn nợ trước.',
    )
  const amount = readAmount(typed, currency)
  if (amount === undefined)
    throw new BadRow(
      `The balance is no clear amount in ${currency}: write it as 1250000 or 1250.50.`,
      `Số dư không phải số tiền ${currency} rõ ràng: hãy ghi dạng 1250000 hoặc 1250.50.`,
    )
  return amount
}

function nameOf(columns: Columns, cells: readonly string[], email: string): string {
  const parts = [columns.cell(cells, 'firstName'), columns.cell(cells, 'lastName')]
  const typed = columns.cell(cells, 'name') || parts.filter(Boolean).join(' ')
  const read = personName.safeParse(typed || email.split('@', 1)[0])
  if (!read.success)
    throw new BadRow(
      'The name has to be one line of 100 characters at most.',
      'Tên phải nằm trên một dòng, tối đa 100 ký tự.',
    )
  return read.data
}

function rowOf(
  columns: Columns,
  { line, cells }: { readonly line: number; readonly cells: readonly string[] },
  currencyOf: CurrencyOf,
): ImportRow {
  const email = emailSchema.safeParse(columns.cell(cells, 'email'))
  if (!email.success)
    throw new BadRow('This is no e-mail address.', 'Đây không phải địa chỉ email hợp lệ.')
  const region = regionOf(columns, cells, currencyOf)
  const typedPhone = columns.cell(cells, 'phone')
  const phone = typedPhone === '' ? null : normalisePhone(typedPhone, region)
  if (phone === undefined)
    throw new BadRow(
      `The phone number cannot be read. ${phoneFaults[region].en}`,
      `Không đọc được số điện thoại. ${phoneFaults[region].vi}`,
    )
  const typedLanguage = columns.cell(cells, 'language').toLowerCase()
  const language = typedLanguage === '' ? null : languages[typedLanguage]
  if (language === undefined)
    throw new BadRow('The language has to be en or vi.', 'Ngôn ngữ phải là en hoặc vi.')
  const typedReference = columns.cell(cells, 'reference')
  const known = typedReference === '' ? null : reference.safeParse(typedReference)
  if (known?.success === false)
    throw new BadRow(
      'The reference has to be one line of 64 characters at most.',
      'Mã tham chiếu phải nằm trên một dòng, tối đa 64 ký tự.',
    )
  const currency = currencyOf(region)
  return {
    line,
    email: email.data,
    name: nameOf(columns, cells, email.data),
    region,
    currency,
    phone,
    language,
    balance: balanceOf(columns.cell(cells, 'balance'), currency),
    reference: known?.data ?? null,
  }
}

/** Two readings of the same rows have the same digest only if they read every cell alike. */
export function digestOf(rows: readonly ImportRow[]): string {
  const hash = createHash('sha256')
  for (const row of rows)
    hash.update(
      JSON.stringify([
        row.line,
        row.email,
        row.name,
        row.region,
        row.currency,
        row.phone,
        row.language,
        String(row.balance),
        row.reference,
      ]),
    )
  return hash.digest('hex')
}

/** Refuses with invalid_input a file that cannot be read at all. */
export function readImport(text: string, currencyOf: CurrencyOf): ReadFile {
  if (text.includes('\uFFFD'))
    refuseFile(
      'The file is not in UTF-8: save it as “CSV UTF-8”.',
      'Tệp không ở dạng UTF-8: hãy lưu dưới dạng “CSV UTF-8”.',
    )
  // Doubled quotes are pairs too.
  if ((text.match(/"/g)?.length ?? 0) % 2 === 1)
    refuseFile(
      'A quotation mark of the file is never closed: the rows after it cannot be told apart.',
      'Tệp có dấu ngoặc kép chưa đóng: không phân biệt được các dòng phía sau.',
    )
  const [head, ...lines] = readCsvLines(text)
  if (head?.isMisquoted === true)
    throw new Refusal('invalid_input', { fields: { file: misquoted.text } })
  const columns = columnsOf(head?.cells ?? [])
  if (!columns.has('email') || !(columns.has('region') || columns.has('currency')))
    refuseFile(
      'The file needs a header line with the columns “email” and “region” (or “currency”).',
      'Tệp cần một dòng tiêu đề có cột “email” và “region” (hoặc “currency”).',
    )
  // Of two columns with money or addresses nobody knows which one is meant.
  for (const column of ['email', 'balance'] as const) {
    const found = columns.several(column).join('”, “')
    if (found !== '')
      refuseFile(
        `Several columns mean the same: “${found}”. Leave one of them.`,
        `Nhiều cột có cùng ý nghĩa: “${found}”. Hãy chỉ giữ lại một cột.`,
      )
  }
  if (lines.length === 0 || lines.length > importRows)
    refuseFile(
      `The file needs between 1 and ${importRows} rows below its header.`,
      `Tệp cần có từ 1 đến ${importRows} dòng bên dưới dòng tiêu đề.`,
    )
  const rows: ImportRow[] = []
  const faults: Fault[] = []
  const emails = new Map<string, number>()
  const phones = new Map<string, number>()
  for (const each of lines)
    try {
      if (each.isMisquoted) throw misquoted
      if (each.cells.slice(head?.cells.length).some((cell) => cell !== ''))
        throw new BadRow(
          'The row has more cells than the header: a text with separators needs quotation marks.',
          'Dòng có nhiều ô hơn dòng tiêu đề: hãy đặt nội dung chứa dấu phân cách trong ngoặc kép.',
        )
      const row = rowOf(columns, each, currencyOf)
      refuseRepeated(emails, row.email, row.line, ['e-mail address', 'địa chỉ email'])
      if (row.phone !== null)
        refuseRepeated(phones, row.phone, row.line, ['phone number', 'số điện thoại'])
      rows.push(row)
    } catch (error) {
      if (!(error instanceof BadRow)) throw error
      faults.push({ line: each.line, text: error.text })
    }
  return { rows, faults, ignored: columns.ignored }
}

function refuseRepeated(
  seen: Map<string, number>,
  value: string,
  line: number,
  [en, vi]: readonly [string, string],
): void {
  const before = seen.get(value)
  if (before !== undefined)
    throw new BadRow(`Line ${before} has the same ${en}.`, `Dòng ${before} có cùng ${vi}.`)
  seen.set(value, line)
}
