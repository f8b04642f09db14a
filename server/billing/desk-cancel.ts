/** What the operator's desk does to a subscription: it is cancelled now. */
import type { Queryable, Tx } from '../platform/db.ts'
import type { BillingContext, BillingDeps } from './context.ts'
import { lockSubscription } from './payment.ts'
import type { Product } from './product.ts'
import { cancel, unusedOf } from './subscriptions.ts'

export interface DeskCancel {
  /** What cancelling now gives back, minor units; 0 also where there is no such subscription. */
  unusedNow(db: Queryable, subscriptionId: string): Promise<bigint>
  /**
   * As its owner does it: nothing more is due, the product is taken away, and what is unused is
   * back in the wallet of who paid it, with a credit note. Answers how much, minor units. Refuses
   * with subscription_ended.
   */
  cancelNow(tx: Tx, subscriptionId: string): Promise<bigint>
}

export function deskCancelOf(context: BillingContext): DeskCancel {
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
      // Held from here on: what is answered is what is given back.
      const row = await lockSubscription(tx, id)
      const unused = row ? await unusedOf(tx, row, context.clock.now()) : 0n
      await cancel(context, tx, id, 'now')
      return unused
    },
  }
}

/** The same for a command, which has no billing that runs. */
export const createDeskCancel = (deps: BillingDeps, products: readonly Product[]): DeskCancel =>
  deskCancelOf({ ...deps, products: new Map(products.map((one) => [one.name, one])) })
