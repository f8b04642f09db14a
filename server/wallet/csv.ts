/** CSV as RFC 4180 has it, and safe to open in a spreadsheet. */

/** Excel reads UTF-8 only behind this mark. */
export const byteOrderMark = '\uFEFF'

/**
 * A spreadsheet runs a text that begins like a formula: such a text gets an apostrophe in front. So
 * does a text that begins with an apostrophe, so that the two remain distinguishable. Numbers stay
 * numbers.
 */
const harmless = (text: string): string => (/^[=+\-@\t\r']/.test(text) ? `'${text}` : text)

const quoted = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

type Cell = string | number | { readonly number: string }

function csvCell(cell: Cell): string {
  if (typeof cell === 'string') return quoted(harmless(cell))
  return typeof cell === 'number' ? String(cell) : cell.number
}

/** One CSV line. A number stays as printed; major units come as `{ number: '12.50' }`. */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`
