/**
 * Customers' debts: from a chargeback or a refund by hand that took more than the wallet held, or
 * from a loan (credit-lines.ts). Amounts are minor units.
 */
import type { Currency } from '../../contract/money.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { receivableOf } from './accounts.ts'

/** The accounts of a currency that hold debts. */
export async function receivables(tx: Tx, currency: Currency): Promise<string[]> {
  const rows = await tx
    .selectFrom('ledger_account')
    .select('code')
    .where('currency', '=', currency)
    .where('code', 'like', receivableOf('%', currency))
    .execute()
  return rows.map(({ code }) => code)
}

/** Only chargebacks and refunds since this moment count; null: none. Loans always count. */
export type ChargebacksSince = Date | null

/** Open debts, oldest first. */
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
