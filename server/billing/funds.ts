/** The amounts that a customer's renewals soon need of the wallet, for automatic top-up. */
import type { Queryable } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { amountAt } from './forecast.ts'
import { renewingOf } from './runway.ts'

/** Minor units of the wallet's currency. */
export interface Funds {
  readonly balance: bigint
  /** Renewals that could not be paid. */
  readonly overdue: bigint
  /** Renewals that fall due before the given moment. */
  readonly ahead: bigint
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

/** By customer: the wallet's balance, and the renewals that it pays until a moment. */
export async function fundsOf(
  context: BillingContext,
  db: Queryable,
  customerIds: readonly string[],
  until: Date,
): Promise<Map<string, Funds>> {
  if (customerIds.length === 0) return new Map()
  const wallets = await context.ledger.balancesOf(db, customerIds)
  const renewing = await renewingOf(context, db, customerIds)
  return new Map(
    [...wallets].map(([id, { balance }]) => {
      const own = renewing.get(id) ?? []
      const soon = own.filter(({ unpaid, at }) => !unpaid && at <= until)
      return [
        id,
        {
          balance,
          overdue: sum(own.filter(({ unpaid }) => unpaid).map(({ amount }) => amount)),
          ahead: sum(soon.map((one) => amountAt(one, one.at))),
        },
      ]
    }),
  )
}
