/** What the operator's desk does to subscriptions. */
import type { Queryable, Tx } from '../platform/db.ts'
import type { BillingContext, BillingDeps } from './context.ts'
import { lockSubscription } from './payment.ts'
import type { Product } from './product.ts'
import { putOff } from './put-off.ts'
import { cancel, unusedOf } from './subscriptions.ts'

export interface DeskSubscriptions {
  /**
   * The amount that cancelling now gives back, minor units; also 0 if there is no such
   * subscription.
   */
  unusedNow(db: Queryable, subscriptionId: string): Promise<bigint>
  /**
   * Cancels as the owner does: nothing more is due, the product is removed, and the unused part is
   * credited to whoever paid it, with a credit note. Answers that amount, minor units. Refuses with
   * subscription_ended.
   */
  cancelNow(tx: Tx, subscriptionId: string): Promise<bigint>
  /** Puts the next step of its dunning off to a day of its customer's; see put-off.ts. */
  putOff(tx: Tx, subscriptionId: string, day: string): ReturnType<typeof putOff>
}

export function deskSubscriptionsOf(context: BillingContext): DeskSubscriptions {
  return {
    async unusedNow(db, id) {
      const row = await db
        .selectFrom('subscription')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? await unusedOf(db, row, context.clock.now()) : 0n
    },
    async cancelNow(tx, id) {
      // The lock makes the answered amount the credited one.
      const row = await lockSubscription(tx, id)
      const unused = row ? await unusedOf(tx, row, context.clock.now()) : 0n
      await cancel(context, tx, id, 'now')
      return unused
    },
    putOff: (tx, id, day) => putOff(context, tx, id, day),
  }
}

/** The same for a command, which has no running billing module. */
export const createDeskSubscriptions = (
  deps: BillingDeps,
  products: readonly Product[],
): DeskSubscriptions =>
  deskSubscriptionsOf({ ...deps, products: new Map(products.map((one) => [one.name, one])) })
