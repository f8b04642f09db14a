/** Reads comma-separated values as spreadsheets and programs write them (RFC 4180, and more). */

export interface CsvLine {
  /** Of the file, from 1: where the row begins. */
  readonly line: number
  readonly cells: string[]
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
  const rows: CsvLine[] = [{ line: 1, cells: [] }]
  let line = 1
  let cell = ''
  let quoted = false
  for (let at = 0; at < body.length; at++) {
    const sign = body[at]
    if (sign === '\n') line++
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (body[at + 1] === '"') {
        cell += '"'
        at++
      } else quoted = false
    } else if (sign === '"') quoted = true
    else if (sign === separator || sign === '\n') {
      rows.at(-1)?.cells.push(cell.trim())
      cell = ''
      if (sign === '\n') rows.push({ line, cells: [] })
    } else cell += sign
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
