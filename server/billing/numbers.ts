/** Invoice numbers: gapless per year and region. The counter's row is locked until the invoices are committed, so a rollback leaves no hole. */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'

/** So many numbers in their order: VN-2026-000001. The year is the one on the region's calendars. */
export async function nextNumbers(tx: Tx, regionCode: string, year: number, count: number): Promise<string[]> {
  const { rows } = await sql<{ last: bigint }>`
    insert into invoice_counter (year, region_code, last) values (${year}, ${regionCode}, ${count})
    on conflict (year, region_code) do update set last = invoice_counter.last + ${count} returning last
  `.execute(tx)
  const last = Number(rows[0]?.last)
  return Array.from({ length: count }, (_, index) => `${regionCode}-${year}-${String(last - count + index + 1).padStart(6, '0')}`)
}
