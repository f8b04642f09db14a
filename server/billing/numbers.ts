/** Invoice numbers: gapless per year and region. The counter's row is locked until the invoice is committed, so a rollback leaves no hole. */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'

/** VN-2026-000001. */
export async function nextNumber(tx: Tx, regionCode: string, at: Date): Promise<string> {
  const year = at.getUTCFullYear()
  const { rows } = await sql<{ last: bigint }>`
    insert into invoice_counter (year, region_code, last) values (${year}, ${regionCode}, 1)
    on conflict (year, region_code) do update set last = invoice_counter.last + 1 returning last
  `.execute(tx)
  return `${regionCode}-${year}-${String(rows[0]?.last).padStart(6, '0')}`
}
