/** The cards of a customer who has closed the account are unlinked at their provider. */
import type { Catalog } from '../catalog/index.ts'
import type { Database } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import { UnknownCard, UnknownCustomer, type CardDriver, type PaymentDriver } from './driver.ts'

export const forgetCardsJob = 'forget-cards'

async function unlinkAll(driver: CardDriver, reference: string): Promise<void> {
  try {
    const { cards } = await driver.cards(reference)
    for (const { id } of cards)
      await driver.detach(reference, id).catch((error: unknown) => {
        // A run before this one did it.
        if (!(error instanceof UnknownCard)) throw error
      })
  } catch (error) {
    if (!(error instanceof UnknownCustomer)) throw error
  }
}

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
      // The customer may also have cards at a gateway that no longer is the one for cards.
      const known = await db
        .selectFrom('card_customer')
        .select(['driver', 'reference'])
        .where('customer_id', '=', customerId)
        .execute()
      for (const { driver: name, reference } of known) {
        const driver = deps.drivers.get(name)
        if (driver?.kind === 'card') await unlinkAll(driver, reference)
        // The current gateway's keys may be back soon, so the job fails and runs again. The keys of
        // a former gateway are gone for good: only the row is deleted.
        else if (name === deps.catalog.payments.cards.gateway)
          throw new Error(`${name} is not configured`)
        await db
          .deleteFrom('card_customer')
          .where('customer_id', '=', customerId)
          .where('driver', '=', name)
          .execute()
      }
    },
  })
}
