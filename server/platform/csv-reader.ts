/** Reads comma-separated values as spreadsheets and programs write them (RFC 4180, and more). */

export interface CsvLine {
  /** Of the file, from 1: where the row begins. */
  readonly line: number
  readonly cells: string[]
  /**
   * Whether a quotation mark opened behind other characters of its cell, or characters followed a
   * closing one. Such a row may hold others that it has swallowed (RFC 4180 forbids both).
   */
  readonly isMisquoted: boolean
}

/**
 * Rows of cells. A cell in quotes may hold the separator, quotes twice, and line breaks. The
 * separator is a semicolon or a tab where the first line has one, otherwise a comma. Empty rows are
 * left out.
 */
export function readCsvLines(text: string): CsvLine[] {
  const body = text.replace(/^\uFEFF/, '')
  const [first = ''] = body.split(/\r?\n/, 1)
  const separator = [';', '\t'].find((each) => first.includes(each)) ?? ','
  const begin = (line: number) => ({ line, cells: [] as string[], isMisquoted: false })
  const rows = [begin(1)]
  let line = 1
  let cell = ''
  let quoted = false
  /** The cell's quotes have closed. */
  let closed = false
  const misquoted = (): void => {
    const row = rows.at(-1)
    if (row) row.isMisquoted = true
  }
  for (let at = 0; at < body.length; at++) {
    const sign = body[at]
    if (sign === '\n') line++
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (body[at + 1] === '"') {
        cell += '"'
        at++
      } else {
        quoted = false
        closed = true
      }
    } else if (sign === '"') {
      quoted = true
      if (closed || cell.trim() !== '') misquoted()
    } else if (sign === separator || sign === '\n') {
      rows.at(-1)?.cells.push(cell.trim())
      cell = ''
      closed = false
      if (sign === '\n') rows.push(begin(line))
    } else {
      cell += sign
      if (closed && sign?.trim() !== '') misquoted()
    }
  }
  rows.at(-1)?.cells.push(cell.trim())
  return rows.filter(({ cells }) => cells.some((each) => each !== ''))
}

export const readCsv = (text: string): string[][] => readCsvLines(text).map(({ cells }) => cells)

/** Without accents, in lower case: the form in which headings are compared. */
export const plainHeading = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[đĐ]/g, 'd')
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
    .toLowerCase()
