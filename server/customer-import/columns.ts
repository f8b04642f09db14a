/** Which column of the file is which: ours by name, and those of other panels. */
import { plainHeading } from '../platform/csv-reader.ts'

/** Names of each column, without accents and in lower case; the first one found is read. */
const headings = {
  email: ['email', 'email address', 'e mail', 'dia chi email'],
  region: ['region', 'region code', 'khu vuc'],
  currency: ['currency', 'currency code', 'tien te'],
  name: ['name', 'full name', 'fullname', 'client name', 'ho ten', 'ho va ten', 'ten'],
  firstName: ['first name', 'firstname'],
  lastName: ['last name', 'lastname'],
  phone: ['phone', 'phone number', 'phonenumber', 'mobile', 'so dien thoai', 'dien thoai'],
  language: ['language', 'ngon ngu'],
  balance: ['balance', 'credit', 'credit balance', 'so du'],
  reference: ['reference', 'id', 'client id', 'clientid', 'user id', 'userid', 'ma khach hang'],
} as const
export type Column = keyof typeof headings

export interface Columns {
  /** The cell of a row, trimmed; '' where the file has no such column. */
  cell(cells: readonly string[], column: Column): string
  has(column: Column): boolean
  /** Headings of several columns of this meaning, as the file writes them; one or none: []. */
  several(column: Column): readonly string[]
  /** Headings of columns that are not read, as the file writes them. */
  readonly ignored: readonly string[]
}

export function columnsOf(head: readonly string[]): Columns {
  const names = head.map(plainHeading)
  const at = new Map<Column, number>()
  for (const [column, known] of Object.entries(headings) as [Column, readonly string[]][]) {
    const index = known.map((name) => names.indexOf(name)).find((found) => found >= 0)
    if (index !== undefined) at.set(column, index)
  }
  const read = new Set(at.values())
  return {
    cell: (cells, column) => cells[at.get(column) ?? -1] ?? '',
    has: (column) => at.has(column),
    several(column) {
      const known: readonly string[] = headings[column]
      const found = head.filter((_, index) => known.includes(names[index] ?? ''))
      return found.length > 1 ? found : []
    },
    ignored: head.filter((name, index) => !read.has(index) && name !== ''),
  }
}
