/** A customer's rule for automatic top-up: read it, set it, end it (decision 136). */
import type { AutoTopUp, OffReason } from '../../contract/auto-top-up.ts'
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { monthIn, spentIn } from './auto-top-up-month.ts'
import { autoTopUpJob, sweepJob } from './auto-top-up-run.ts'
import type { Cards } from './cards.ts'
import type { CardDriver, PaymentDriver } from './driver.ts'
import { isClosed, type Buyer } from './orders.ts'
import { cardsOf, takesRegion } from './routing.ts'

/** Minor units of the wallet's currency. */
export interface Wish {
  readonly below: number
  readonly amount: number
  readonly monthLimit: number
  readonly cardId: string
}

export interface AutoTopUps {
  /** Refuses with method_unavailable where no cards are offered. */
  read(db: Queryable, buyer: Buyer): Promise<AutoTopUp>
  /**
   * Switches it on, or changes it; the wallet is looked at at once. Refuses an amount outside the
   * catalogue's limits, and a card that is not linked.
   */
  set(buyer: Buyer, wish: Wish, language: Language): Promise<AutoTopUp>
  /** Switches it off; a charge that the gateway has heard of goes on. */
  stop(tx: Tx, customerId: string): Promise<void>
  /** Queues a check of all wallets now: the clock was moved, or the portal was down for a while. */
  enqueueSweep(): Promise<void>
}

export function createAutoTopUps(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly catalog: Catalog
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly cards: Pick<Cards, 'list'>
  readonly jobs: Jobs
}): AutoTopUps {
  const { db, clock, catalog, drivers, cards, jobs } = deps

  function offeredTo({ regionCode }: Buyer): CardDriver {
    const driver = cardsOf(catalog, drivers)
    if (!driver || !takesRegion(catalog, driver, catalog.payments.cards.regions, regionCode))
      throw new Refusal('method_unavailable')
    return driver
  }

  async function lastOf(from: Queryable, customerId: string): Promise<AutoTopUp['last']> {
    const row = await from
      .selectFrom('auto_top_up_charge as c')
      .innerJoin('payment as p', 'p.id', 'c.payment_id')
      .select(['p.code', 'p.driver', 'c.amount', 'c.state', 'c.began_at', 'c.detail'])
      .where('c.customer_id', '=', customerId)
      .orderBy('c.began_at', 'desc')
      .executeTakeFirst()
    if (!row) return null
    const failed = row.state === 'declined' || row.state === 'needs_owner'
    return {
      transactionCode: row.code,
      amount: Number(row.amount),
      state: row.state as NonNullable<AutoTopUp['last']>['state'],
      at: row.began_at.toISOString(),
      reason: (failed && drivers.get(row.driver)?.declineReason?.(row.detail ?? '')) || null,
    }
  }

  async function read(from: Queryable, buyer: Buyer): Promise<AutoTopUp> {
    offeredTo(buyer)
    const { currency } = catalog.regions[buyer.regionCode]
    const { min, max } = catalog.payments.currencies[currency]
    const rule = await from
      .selectFrom('auto_top_up')
      .selectAll()
      .where('customer_id', '=', buyer.id)
      .executeTakeFirst()
    const month = monthIn(catalog, buyer.regionCode, clock.now())
    return {
      currency,
      min,
      max,
      rule: rule
        ? {
            below: Number(rule.below),
            amount: Number(rule.amount),
            monthLimit: Number(rule.month_limit),
            card: { id: rule.card_id, brand: rule.card_brand, last4: rule.card_last4 },
            consentedAt: rule.consented_at.toISOString(),
            nextTryAt: rule.next_try_at?.toISOString() ?? null,
            off: rule.off_at && {
              at: rule.off_at.toISOString(),
              reason: rule.off_reason as OffReason,
            },
          }
        : null,
      spent: Number(await spentIn(from, buyer.id, month)),
      last: await lastOf(from, buyer.id),
    }
  }

  return {
    read,
    async set(buyer, wish, language) {
      const driver = offeredTo(buyer)
      const { currency } = catalog.regions[buyer.regionCode]
      const { min, max } = catalog.payments.currencies[currency]
      if (wish.amount < min || wish.amount > max)
        throw new Refusal('invalid_input', {
          fields: { amount: ruleText('amount_range', language) },
        })
      const linked = (await cards.list(buyer)).find(({ id }) => id === wish.cardId)
      if (!linked)
        throw new Refusal('invalid_input', {
          fields: { cardId: ruleText('card_not_linked', language) },
        })
      const now = clock.now()
      const set = {
        currency,
        below: BigInt(wish.below),
        amount: BigInt(wish.amount),
        month_limit: BigInt(wish.monthLimit),
        driver: driver.name,
        card_id: linked.id,
        card_brand: linked.card.brand,
        card_last4: linked.card.last4,
        consented_at: now,
        declines: 0,
        next_try_at: null,
        limit_told: null,
        off_at: null,
        off_reason: null,
      }
      return await transaction(db, async (tx) => {
        if (await isClosed(tx, buyer.id)) throw new Refusal('forbidden')
        await tx
          .insertInto('auto_top_up')
          .values({ customer_id: buyer.id, ...set })
          .onConflict((conflict) => conflict.column('customer_id').doUpdateSet(set))
          .execute()
        await jobs.add(tx, autoTopUpJob, { customerId: buyer.id })
        return await read(tx, buyer)
      })
    },
    async stop(tx, customerId) {
      await tx.deleteFrom('auto_top_up').where('customer_id', '=', customerId).execute()
    },
    enqueueSweep: () => transaction(db, (tx) => jobs.add(tx, sweepJob, {})),
  }
}
