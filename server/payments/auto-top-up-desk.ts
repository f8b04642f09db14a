/** Automatic top-up of one customer, for the staff. */
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Queryable } from '../platform/db.ts'
import { cardName } from './auto-top-up-outcome.ts'

/** Null: never switched on, or switched off by the customer. */
export async function autoTopUpOfCustomer(
  db: Queryable,
  customerId: string,
): Promise<CustomerStory['autoTopUp']> {
  const rule = await db
    .selectFrom('auto_top_up')
    .selectAll()
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  if (!rule) return null
  const failure = await db
    .selectFrom('auto_top_up_charge')
    .select(['began_at', 'detail'])
    .where('customer_id', '=', customerId)
    .where('state', 'in', ['declined', 'needs_owner', 'not_charged'])
    .orderBy('began_at', 'desc')
    .executeTakeFirst()
  return {
    below: Number(rule.below),
    amount: Number(rule.amount),
    monthLimit: Number(rule.month_limit),
    card: cardName(rule),
    off: rule.off_at && { at: rule.off_at.toISOString(), reason: rule.off_reason ?? '' },
    lastFailure: failure
      ? { at: failure.began_at.toISOString(), detail: failure.detail ?? '' }
      : null,
  }
}
