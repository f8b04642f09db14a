/**
 * The calendar month in a customer's region, and the amount that was charged automatically in it.
 */
import { sql } from 'kysely'
import type { RegionCode } from '../../contract/money.ts'
import { timeZoneOf, type Catalog } from '../catalog/index.ts'
import type { Queryable } from '../platform/db.ts'

/** The calendar month in a region: 2026-11. */
export const monthIn = (catalog: Catalog, region: RegionCode, at: Date): string =>
  at.toLocaleDateString('sv-SE', { timeZone: timeZoneOf(catalog, region) }).slice(0, 7)
/** The first day after a month: 2026-12-01. */
export const dayAfterMonth = (month: string): string => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10)
}

/** Minor units that were charged in a month, or are under way. */
export async function spentIn(db: Queryable, customerId: string, month: string): Promise<bigint> {
  const { spent } = await db
    .selectFrom('auto_top_up_charge')
    .select(sql<string>`coalesce(sum(amount), 0)`.as('spent'))
    .where('customer_id', '=', customerId)
    .where('month', '=', month)
    .where('state', 'in', ['under_way', 'succeeded'])
    .executeTakeFirstOrThrow()
  return BigInt(spent)
}
