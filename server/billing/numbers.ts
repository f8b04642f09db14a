/**
 * Numbers of invoices and of credit notes: each series is gapless per year and region. The
 * counter's row is locked until the documents are committed, so a rollback leaves no hole.
 */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'

/** Series in the order in which their counters are locked within a region. */
export type Series = 'credit' | 'invoice'

/**
 * Reserves consecutive numbers: VN-2026-000001, or VN-CN-2026-000001 for credit notes. The year is
 * the one in the region's time zone.
 */
export async function nextNumbers(
  tx: Tx,
  series: Series,
  regionCode: string,
  year: number,
  count: number,
): Promise<string[]> {
  const { rows } = await sql<{ last: bigint }>`
    insert into invoice_counter (series, year, region_code, last)
    values (${series}, ${year}, ${regionCode}, ${count})
    on conflict (series, year, region_code) do update set last = invoice_counter.last + ${count}
    returning last
  `.execute(tx)
  const last = Number(rows[0]?.last)
  const prefix = `${regionCode}${series === 'credit' ? '-CN' : ''}-${year}`
  return Array.from(
    { length: count },
    (_, index) => `${prefix}-${String(last - count + index + 1).padStart(6, '0')}`,
  )
}
