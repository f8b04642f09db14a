/**
 * Linked cards and payments with them; and payments with a token of the provider's own form. The
 * card's number never comes here.
 */
import type { PaymentStatus } from '../../contract/payments.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database } from '../platform/db.ts'
import { DriverFailure, Refusal } from '../platform/errors.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import { switchOffIf } from './auto-top-up-outcome.ts'
import {
  automaticChannel,
  UnknownCard,
  UnknownCustomer,
  type Card,
  type CardDriver,
  type PaymentDriver,
  type TokenDriver,
} from './driver.ts'
import type { Letters } from './letters.ts'
import type { Buyer, Orders, PaymentInput } from './orders.ts'
import { cardsOf, takesRegion, tokensOf } from './routing.ts'
import type { Settlement } from './settle.ts'

export interface Cards {
  /** A secret with which the browser links one card. */
  setUp(buyer: Buyer): Promise<{ client_secret: string }>
  /** The default one first. */
  list(buyer: Buyer): Promise<(Card & { default: boolean })[]>
  /** Links a card and makes it the default. A card that is linked already becomes the default. */
  attach(buyer: Buyer, methodId: string): Promise<void>
  detach(buyer: Buyer, methodId: string): Promise<void>
  /** Makes a payment that waits for its card. */
  open(input: PaymentInput): Promise<{ transId: string }>
  /** Gives the browser what it confirms the payment with. */
  confirm(buyer: Buyer, transId: string, methodId: string): Promise<{ client_secret: string }>
  /** Charges a token at once. */
  charge(
    input: PaymentInput & {
      locationId: string
      sourceId: string
      verificationToken: string | null
    },
  ): Promise<{ transactionCode: string; status: PaymentStatus }>
}

/** The place of a card in the list: the default first, then the newest. */
export const positionOf = (card: { default: boolean; created: number; id: string }): string =>
  `${Number(card.default)}:${String(card.created).padStart(12, '0')}:${card.id}`

/** Another customer's card, or none: to the caller there is no such thing. */
const ownOrNothing = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof UnknownCard || error instanceof UnknownCustomer)
      throw new Refusal('not_found')
    throw error
  }
}

export function createCards(deps: {
  db: Database
  log: Log
  clock: Clock
  catalog: Catalog
  drivers: ReadonlyMap<string, PaymentDriver>
  orders: Orders
  settlement: Settlement
  letters: Letters
  /** Limit per customer: it stops people who test stolen cards. */
  refusals: Limit
}): Cards {
  const { db, clock, catalog, drivers, orders, settlement, refusals } = deps

  function cardDriver(): CardDriver {
    const driver = cardsOf(catalog, drivers)
    if (!driver) throw new Refusal('method_unavailable')
    return driver
  }
  function tokenDriver(): TokenDriver {
    const driver = tokensOf(catalog, drivers)
    if (!driver) throw new Refusal('method_unavailable')
    return driver
  }

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

  /**
   * A provider's customer that no longer exists (its keys were replaced, or somebody deleted it
   * there) is created again, without cards.
   */
  async function withCustomer<T>(
    buyer: Buyer,
    driver: CardDriver,
    work: (reference: string) => Promise<T>,
  ): Promise<T> {
    const reference = await customerRef(buyer, driver)
    try {
      return await work(reference)
    } catch (error) {
      if (!(error instanceof UnknownCustomer)) throw error
      await db
        .deleteFrom('card_customer')
        .where('customer_id', '=', buyer.id)
        .where('reference', '=', reference)
        .execute()
      return await work(await customerRef(buyer, driver))
    }
  }

  return {
    async setUp(buyer) {
      const driver = cardDriver()
      const { clientSecret } = await withCustomer(buyer, driver, (reference) =>
        driver.setUp(reference),
      )
      return { client_secret: clientSecret }
    },
    async list(buyer) {
      const driver = cardDriver()
      if (!(await refOf(buyer, driver))) return []
      const { cards, defaultId } = await withCustomer(buyer, driver, (reference) =>
        driver.cards(reference),
      )
      const listed = cards.map((card) => ({ ...card, default: card.id === defaultId }))
      return listed.toSorted((one, other) => (positionOf(one) < positionOf(other) ? 1 : -1))
    },
    async attach(buyer, methodId) {
      const driver = cardDriver()
      await ownOrNothing(
        withCustomer(buyer, driver, (reference) => driver.attach(reference, methodId)),
      )
    },
    async detach(buyer, methodId) {
      const driver = cardDriver()
      const known = await refOf(buyer, driver)
      if (!known) throw new Refusal('not_found')
      await ownOrNothing(driver.detach(known.reference, methodId))
      await transaction(db, (tx) =>
        switchOffIf(deps, tx, buyer.id, 'card_gone', (rule) => rule.card_id === methodId),
      )
    },
    async open(input) {
      const driver = cardDriver()
      if (!takesRegion(catalog, driver, catalog.payments.cards.regions, input.buyer.regionCode))
        throw new Refusal('method_unavailable')
      return { transId: (await orders.open(input, driver, '')).code }
    },
    async confirm(buyer, transId, methodId) {
      const driver = cardDriver()
      const payment = await orders.own(db, buyer.id, transId)
      // An automatic payment is charged by the portal alone.
      if (payment.driver !== driver.name || payment.channel === automaticChannel)
        throw new Refusal('not_found')
      // Paid, or called off at the provider: nothing more can be paid for it.
      if (payment.status === 'succeeded' || payment.status === 'failed')
        throw new Refusal('conflict')
      const known = await refOf(buyer, driver)
      if (!known) throw new Refusal('not_found')
      const { clientSecret, providerRef } = await ownOrNothing(
        driver.beginCard(orders.orderOf(payment, buyer), {
          customerRef: known.reference,
          cardId: methodId,
        }),
      )
      await orders.keepRef(payment.id, providerRef)
      return { client_secret: clientSecret }
    },
    async charge(input) {
      const driver = tokenDriver()
      if (!takesRegion(catalog, driver, catalog.payments.tokens.regions, input.buyer.regionCode))
        throw new Refusal('method_unavailable')
      // The browser may name only the place that the operator sells from.
      if (input.locationId !== driver.locationId) throw new Refusal('not_found')
      // Counted before the charge, so that parallel charges cannot evade the limit; a charge that
      // succeeds is not counted.
      await refusals.take(input.buyer.id)
      const payment = await orders
        .open(input, driver, input.locationId)
        .catch(async (error: unknown) => {
          // Invalid input: no card was tried, so the attempt does not count towards the limit.
          await refusals.giveBack(input.buyer.id)
          throw error
        })
      if (payment.status === 'pending') {
        try {
          const update = await driver.charge(orders.orderOf(payment, input.buyer), {
            sourceId: input.sourceId,
            verificationToken: input.verificationToken,
          })
          // A refund or a dispute will name the payment as the provider does.
          await orders.keepRef(payment.id, update.paymentRef ?? null)
          await settlement.settle(driver, update)
        } catch (error) {
          if (!(error instanceof DriverFailure)) throw error
          if (error.kind === 'rejected') {
            await orders.refuse(payment.id, error.message)
            throw new Refusal('payment_refused')
          }
          // The card may have been charged: the customer must not be told to try again. A webhook
          // or a query decides.
          deps.log.warn({ err: error, code: payment.code }, 'a charge whose answer is lost')
        }
      }
      const { status } = await orders.own(db, input.buyer.id, payment.code)
      if (status !== 'failed') await refusals.giveBack(input.buyer.id)
      return { transactionCode: payment.code, status: status as PaymentStatus }
    },
  }
}
