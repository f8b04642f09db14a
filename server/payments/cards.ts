/** Linked cards and payments with them; and payments with a token of the provider's own form. The card's number never comes here. */
import type { PaymentStatus } from '../../contract/payments.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Card, CardDriver, PaymentDriver, TokenDriver } from './driver.ts'
import type { Buyer, Orders, Wish } from './orders.ts'
import type { Settlement } from './settle.ts'

export interface Cards {
  /** A secret with which the browser links one card. */
  setUp(buyer: Buyer): Promise<{ client_secret: string }>
  list(buyer: Buyer): Promise<(Card & { default: boolean })[]>
  /** Links a card and makes it the default; one that is linked already becomes the default. */
  attach(buyer: Buyer, methodId: string): Promise<void>
  detach(buyer: Buyer, methodId: string): Promise<void>
  /** Makes a payment that waits for its card. */
  open(wish: Wish): Promise<{ transId: string }>
  /** Gives the browser what it confirms the payment with. */
  confirm(buyer: Buyer, transId: string, methodId: string): Promise<{ client_secret: string }>
  /** Charges a token at once. */
  charge(
    wish: Wish & { locationId: string; sourceId: string; verificationToken: string | null },
  ): Promise<{ transactionCode: string; status: PaymentStatus }>
}

/** Another customer's card, or none: to the caller there is no such thing. */
const ownOrNothing = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof DriverFailure && error.kind === 'rejected') throw new Refusal('not_found')
    throw error
  }
}

export function createCards(deps: {
  db: Database
  clock: Clock
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  orders: Orders
  settlement: Settlement
}): Cards {
  const { db, clock, catalog, drivers, orders, settlement } = deps
  const { cards: cardRoute, tokens: tokenRoute } = catalog.payments

  function cardDriver(): CardDriver {
    const driver = drivers.get(cardRoute.gateway)
    if (driver?.kind !== 'card') throw new Refusal('method_unavailable')
    return driver
  }
  function tokenDriver(): TokenDriver {
    const driver = drivers.get(tokenRoute.gateway)
    if (driver?.kind !== 'token') throw new Refusal('method_unavailable')
    return driver
  }
  const takes = (driver: PaymentDriver, regions: readonly string[], { regionCode }: Buyer): boolean =>
    regions.includes(regionCode) && driver.currencies.includes(catalog.regions[regionCode].currency)

  const refOf = (buyer: Buyer, driver: CardDriver) =>
    db
      .selectFrom('card_customer')
      .select('reference')
      .where('customer_id', '=', buyer.id)
      .where('driver', '=', driver.name)
      .executeTakeFirst()

  /** The provider makes one customer per id of ours, so two calls at once get the same. */
  async function customerRef(buyer: Buyer, driver: CardDriver): Promise<string> {
    const known = await refOf(buyer, driver)
    if (known) return known.reference
    const reference = await driver.openCustomer(buyer)
    await db
      .insertInto('card_customer')
      .values({ customer_id: buyer.id, driver: driver.name, reference, created_at: clock.now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return reference
  }

  return {
    async setUp(buyer) {
      const driver = cardDriver()
      const { clientSecret } = await driver.setUp(await customerRef(buyer, driver))
      return { client_secret: clientSecret }
    },
    async list(buyer) {
      const driver = cardDriver()
      const known = await refOf(buyer, driver)
      if (!known) return []
      const { cards, defaultId } = await driver.cards(known.reference)
      return cards.map((card) => ({ ...card, default: card.id === defaultId }))
    },
    async attach(buyer, methodId) {
      const driver = cardDriver()
      await ownOrNothing(driver.attach(await customerRef(buyer, driver), methodId))
    },
    async detach(buyer, methodId) {
      const driver = cardDriver()
      const known = await refOf(buyer, driver)
      if (!known) throw new Refusal('not_found')
      await ownOrNothing(driver.detach(known.reference, methodId))
    },
    async open(wish) {
      const driver = cardDriver()
      if (!takes(driver, cardRoute.regions, wish.buyer)) throw new Refusal('method_unavailable')
      return { transId: (await orders.open(wish, driver, '')).code }
    },
    async confirm(buyer, transId, methodId) {
      const driver = cardDriver()
      const payment = await orders.own(db, buyer.id, transId)
      if (payment.driver !== driver.name) throw new Refusal('not_found')
      if (payment.status === 'succeeded') throw new Refusal('conflict')
      const known = await refOf(buyer, driver)
      if (!known) throw new Refusal('not_found')
      const { clientSecret, providerRef } = await ownOrNothing(
        driver.beginCard(orders.orderOf(payment, buyer), { customerRef: known.reference, cardId: methodId }),
      )
      await orders.keepRef(payment.id, providerRef)
      return { client_secret: clientSecret }
    },
    async charge(wish) {
      const driver = tokenDriver()
      if (!takes(driver, tokenRoute.regions, wish.buyer)) throw new Refusal('method_unavailable')
      // The browser may name only the place that the operator sells from.
      if (wish.locationId !== driver.locationId) throw new Refusal('not_found')
      const payment = await orders.open(wish, driver, wish.locationId)
      if (payment.status === 'pending') {
        const notice = await driver.charge(orders.orderOf(payment, wish.buyer), {
          sourceId: wish.sourceId,
          verificationToken: wish.verificationToken,
        })
        await settlement.settle(driver, notice)
      }
      const { status } = await orders.own(db, wish.buyer.id, payment.code)
      return { transactionCode: payment.code, status: status as PaymentStatus }
    },
  }
}
