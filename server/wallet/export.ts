/**
 * The transaction log as a spreadsheet: every entry that a filter leaves, read a batch at a time.
 */
import { toMajor } from '../../contract/money.ts'
import type { Language } from '../../contract/errors.ts'
import type { Queryable } from '../platform/db.ts'
import { byteOrderMark, csvRow } from './csv.ts'
import { entryPage, type Filter } from './entries.ts'

const entriesAtOnce = 1000

const headings: Record<Language, readonly string[]> = {
  en: ['#', 'Note', 'Amount', 'Currency', 'Balance after', 'Created At (UTC)'],
  vi: ['#', 'Nội dung', 'Số tiền', 'Tiền tệ', 'Số dư sau giao dịch', 'Thời gian (UTC)'],
}

/** Amounts in major units with a point, times in UTC. */
export async function* transactionsCsv(db: Queryable, filter: Filter): AsyncIterable<string> {
  yield byteOrderMark + csvRow(headings[filter.language])
  let before: bigint | null = null
  let number = 0
  do {
    const page: Awaited<ReturnType<typeof entryPage>> = await entryPage(db, {
      ...filter,
      limit: entriesAtOnce,
      before,
    })
    yield page.items
      .map((entry) =>
        csvRow([
          ++number,
          entry.description,
          { number: toMajor(entry.amount, entry.currency) },
          entry.currency,
          { number: toMajor(entry.ending_balance, entry.currency) },
          new Date(entry.created * 1000).toISOString().slice(0, 19).replace('T', ' '),
        ]),
      )
      .join('')
    before = page.next
  } while (before !== null)
}
