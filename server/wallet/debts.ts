/**
 * What customers owe: because a chargeback took more than their wallet held, or because it was lent
 * to them (credit-lines.ts). Amounts are minor units.
 */
import type { Currency } from '../../contract/money.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { receivableOf } from './accounts.ts'

/** The accounts of a currency on which debts stand. */
export async function receivables(tx: Tx, currency: Currency): Promise<string[]> {
  const rows = await tx
    .selectFrom('ledger_account')
    .select('code')
    .where('currency', '=', currency)
    .where('code', 'like', receivableOf('%', currency))
    .execute()
  return rows.map(({ code }) => code)
}

/** From when on chargebacks count; null: none does. What was lent always counts. */
export type ChargebacksSince = Date | null

/** What is still owed, oldest first. */
export const openDebts = (
  tx: Tx,
  customerId: string,
  currency: Currency,
  since: ChargebacksSince,
) =>
  tx
    .selectFrom('wallet_debt')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('currency', '=', currency)
    .where((row) =>
      since === null
        ? row('kind', '=', 'lent')
        : row.or([row('kind', '=', 'lent'), row('created_at', '>=', since)]),
    )
    .whereRef('settled', '<', 'amount')
    .orderBy('created_at')
    .orderBy('key')
    .execute()

export async function settleDebt(tx: Tx, key: string, amount: bigint): Promise<void> {
  await tx
    .updateTable('wallet_debt')
    .set((row) => ({ settled: row('settled', '+', amount) }))
    .where('key', '=', key)
    .execute()
}

/** Whether anything is still owed, in any currency. */
export async function owesAnything(db: Queryable, customerId: string): Promise<boolean> {
  const debt = await db
    .selectFrom('wallet_debt')
    .select('key')
    .where('customer_id', '=', customerId)
    .whereRef('settled', '<', 'amount')
    .executeTakeFirst()
  return debt !== undefined
}
