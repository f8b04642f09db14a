/**
 * Exports for accounting, as CSV: the journal, tax by document, documents by line (both in
 * `accounting-documents.ts`), and revenue that is paid for and not yet earned, by month. Sales come
 * from the ledger's revenue accounts, so the sums equal the ledger's; documents and periods are
 * billing's own. Amounts are major units and contain tax, as the accounts do.
 */
import { sql } from 'kysely'
import type { accountingExports } from '../../contract/operator-money.ts'
import type { Queryable } from '../platform/db.ts'
import { byteOrderMark, csvRow, journalEntries, revenueAt, type Span } from '../wallet/index.ts'
import { documents, moneyCell, tax, type ExportOf } from './accounting-documents.ts'
import { dayIn, midnightOf, timeIn } from './period.ts'

export type ExportName = (typeof accountingExports)[number]

/** Every entry; an account is credited where the ledger raises it, and debited otherwise. */
async function* journal({ db, zone }: ExportOf, span: Span): AsyncIterable<string> {
  yield (
    byteOrderMark +
      csvRow([
        'Transfer',
        `Time (${zone})`,
        'Kind',
        'Account',
        'Customer',
        'Debit',
        'Credit',
        'Currency',
        'Document',
        'Subject',
        'Reason',
      ])
  )
  for await (const entries of journalEntries(db, span))
    yield entries
      .map((entry) =>
        csvRow([
          Number(entry.transfer),
          timeIn(zone, entry.at),
          entry.kind,
          entry.account,
          entry.customerId ?? '',
          entry.amount < 0n ? moneyCell(-entry.amount, entry.currency) : '',
          entry.amount > 0n ? moneyCell(entry.amount, entry.currency) : '',
          entry.currency,
          entry.document ?? '',
          entry.subject ?? '',
          entry.reason ?? '',
        ]),
      )
      .join('')
}

/**
 * Revenue paid before a moment for time after it, by product and currency: of each line the share
 * of the seconds that are still to come.
 */
async function deferredAt(db: Queryable, moment: Date): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await sql<{ product: string; currency: string; deferred: bigint }>`
    select i.product, i.currency, sum(round(l.amount
        * extract(epoch from l.period_end - greatest(l.period_start, ${moment}))
        / extract(epoch from l.period_end - l.period_start)))::bigint as deferred
    from invoice_line l join invoice i on i.id = l.invoice_id
    where l.period_end > ${moment} and l.period_end > l.period_start
      and i.paid_at < ${moment} and i.status in ('paid', 'refunded')
    group by 1, 2`.execute(db)
  return new Map(rows.map((row) => [`${row.product} ${row.currency}`, row.deferred]))
}

/** The first days of the months that the span touches, and of the month after. */
function monthsOf({ from, to }: Span, zone: string): string[] {
  const months: string[] = []
  let [year = 0, month = 1] = dayIn(zone, from).split('-').map(Number)
  for (;;) {
    const first = `${year}-${String(month).padStart(2, '0')}-01`
    months.push(first)
    if (midnightOf(zone, first) >= to) return months
    month += 1
    if (month > 12) [year, month] = [year + 1, 1]
  }
}

/** One line per month, product and currency; months are complete. */
async function* deferred({ db, zone }: ExportOf, span: Span): AsyncIterable<string> {
  yield (
    byteOrderMark +
      csvRow([
        'Month',
        'Product',
        'Currency',
        'Deferred at start',
        'Billed',
        'Recognised',
        'Deferred at end',
        'Revenue account at end',
      ])
  )
  const firsts = monthsOf(span, zone)
  const at = async (first: string) => {
    const moment = midnightOf(zone, first)
    const balances = new Map(
      (await revenueAt(db, moment)).map((one) => [`${one.product} ${one.currency}`, one]),
    )
    return { balances, deferred: await deferredAt(db, moment) }
  }
  let start = await at(firsts[0] ?? '')
  for (const [index, next] of firsts.slice(1).entries()) {
    const end = await at(next)
    const rows: string[] = []
    for (const [key, { product, currency, balance }] of end.balances) {
      const [before, after] = [start.deferred.get(key) ?? 0n, end.deferred.get(key) ?? 0n]
      const billed = balance - (start.balances.get(key)?.balance ?? 0n)
      rows.push(
        csvRow([
          (firsts[index] ?? '').slice(0, 7),
          product,
          currency,
          moneyCell(before, currency),
          moneyCell(billed, currency),
          moneyCell(before + billed - after, currency),
          moneyCell(after, currency),
          moneyCell(balance, currency),
        ]),
      )
    }
    yield rows.join('')
    start = end
  }
}

const exports = { journal, tax, documents, deferred }

/** `from` and `to` are days in the time zone, both included. */
export function accountingCsv(
  of: ExportOf,
  name: ExportName,
  { from, to }: { readonly from: string; readonly to: string },
): AsyncIterable<string> {
  const after = new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
  return exports[name](of, { from: midnightOf(of.zone, from), to: midnightOf(of.zone, after) })
}
