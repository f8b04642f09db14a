/** The cards of a customer who has closed the account are unlinked at their provider. */
import type { Catalog } from '../catalog/index.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { UnknownCard, UnknownCustomer, type PaymentDriver } from './driver.ts'
import { cardsOf } from './routing.ts'

export const forgetCardsJob = 'forget-cards'

export function defineForgettingCards(deps: {
  readonly db: Database
  readonly jobs: Jobs
  readonly catalog: Catalog
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}): void {
  const { db } = deps
  deps.jobs.define<{ customerId: string }>({
    name: forgetCardsJob,
    retries: 'unlimited',
    run: async ({ customerId }) => {
      const driver = cardsOf(deps.catalog, deps.drivers)
      if (!driver) return
      const of = db
        .selectFrom('card_customer')
        .select('reference')
        .where('customer_id', '=', customerId)
        .where('driver', '=', driver.name)
      const known = await of.executeTakeFirst()
      if (!known) return
      try {
        const { cards } = await driver.cards(known.reference)
        for (const { id } of cards)
          await driver.detach(known.reference, id).catch((error: unknown) => {
            // A run before this one did it.
            if (!(error instanceof UnknownCard)) throw error
          })
      } catch (error) {
        if (!(error instanceof UnknownCustomer)) throw error
      }
      await db
        .deleteFrom('card_customer')
        .where('customer_id', '=', customerId)
        .where('driver', '=', driver.name)
        .execute()
    },
  })
}
