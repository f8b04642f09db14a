/**
 * Renewal prices. A running subscription renews at the rates that its customer agreed to. A rise of
 * the catalogue since then acts 30 days after its announcement; a reduction acts at once
 * (contract.md section 8).
 */
import * as z from 'zod/mini'
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import type { SubscriptionRow } from './payment.ts'
import {
  offerFromJson,
  offerOf,
  offerToJson,
  plannedOf,
  type Offer,
  type Product,
  type Terms,
} from './product.ts'

/** Time between the announcement of a higher price and the first renewal that it may act on. */
export const noticeMs = days(30)

/** An announced price, and the moment from which renewals cost it. */
export interface PriceRise {
  readonly offer: Offer
  readonly actsAt: Date
}
/** The renewal offer until an announced rise takes effect, and that rise. */
export interface RenewalPrice {
  readonly offer: Offer
  readonly rise: (PriceRise & { readonly announced: boolean }) | null
  /** A rise to this very offer was announced, and the offer is cheaper now. */
  readonly isWithdrawn: boolean
}

const StoredRise = z.object({ offer: z.unknown(), actsAt: z.iso.datetime() })
export const riseOf = (stored: unknown): PriceRise | null => {
  if (stored === null) return null
  const { offer, actsAt } = StoredRise.parse(stored)
  return { offer: offerFromJson(offer), actsAt: new Date(actsAt) }
}
export const riseToJson = ({ offer, actsAt }: PriceRise): string =>
  JSON.stringify({ offer: JSON.parse(offerToJson(offer)) as unknown, actsAt: actsAt.toISOString() })

type Pricing = Product['pricing']
type Priced = Offer & { readonly terms: Terms }
const hasTerms = (offer: Offer): offer is Priced => offer.terms !== null

function atRates(pricing: Pricing, wanted: Priced, rates: Terms, others: Terms): Offer {
  const terms = pricing.atRates(wanted.terms, rates, others)
  return { ...wanted, terms, price: pricing.monthly(terms) }
}

/**
 * The offer at the rates that the customer agreed to: the running rates, and for the parts that
 * only a planned change adds, the rates at which it was planned.
 */
function agreedOf(
  pricing: Pricing,
  offer: Offer,
  running: Offer,
  planned: Offer | undefined,
): Offer {
  const known = planned ?? running
  if (!hasTerms(offer) || !hasTerms(running) || !hasTerms(known))
    return { ...known, description: offer.description }
  return atRates(pricing, offer, running.terms, known.terms)
}

/** The announced offer for the present wish, which may have changed since the announcement. */
function announcedOf(pricing: Pricing, offer: Offer, agreed: Offer, announced: Offer): Offer {
  if (!hasTerms(offer) || !hasTerms(agreed) || !hasTerms(announced))
    return { ...announced, description: offer.description }
  return atRates(pricing, offer, announced.terms, agreed.terms)
}

/**
 * The renewal price. `offer`: the catalogue's present offer; `rise`: the announced one. A rise
 * without an announcement gets its date now.
 */
function renewalPriceOf(
  pricing: Pricing,
  of: { offer: Offer; running: Offer; planned: Offer | undefined; rise: PriceRise | null },
  now: Date,
): RenewalPrice {
  const { offer, running, planned, rise } = of
  const agreed = agreedOf(pricing, offer, running, planned)
  const announced = rise && announcedOf(pricing, offer, agreed, rise.offer)
  if (offer.price <= agreed.price)
    // An announcement for another plan does not count as withdrawn, because this plan's price was
    // never announced.
    return { offer, rise: null, isWithdrawn: (announced?.price ?? 0n) > offer.price }
  const isWithdrawn = false
  // Not announced, or higher than the announced price: it acts 30 days from now.
  if (!rise || !announced || offer.price > announced.price)
    return {
      offer: agreed,
      rise: { offer, actsAt: later(now, noticeMs), announced: false },
      isWithdrawn,
    }
  return { offer: agreed, rise: { offer, actsAt: rise.actsAt, announced: true }, isWithdrawn }
}

/** The offer of a renewal that is due at a moment; a rise that is not announced does not act. */
export const renewalOffer = ({ offer, rise }: RenewalPrice, dueAt: Date): Offer =>
  rise?.announced && rise.actsAt <= dueAt ? rise.offer : offer

/**
 * The renewal prices by subscription, as its product prices them now. Products that are no longer
 * sold keep their price.
 */
export async function renewalPricesOf(
  context: Pick<BillingContext, 'clock' | 'products'>,
  db: Queryable,
  rows: readonly SubscriptionRow[],
): Promise<Map<string, RenewalPrice>> {
  const found = new Map<string, RenewalPrice>()
  const now = context.clock.now()
  for (const [name, own] of Map.groupBy(rows, (row) => row.product)) {
    const product = context.products.get(name)
    const wanted = own.map((row) => {
      const planned = plannedOf(row.planned)
      return {
        subscriptionId: row.id,
        change: planned?.change ?? null,
        running: offerOf(row),
        planned: planned?.to,
      }
    })
    const offers = await product?.offers(db, wanted)
    for (const row of own) {
      const running = offerOf(row)
      const offer = offers?.get(row.id)
      const planned = plannedOf(row.planned)?.to
      const rise = riseOf(row.rise)
      found.set(
        row.id,
        product && offer
          ? renewalPriceOf(product.pricing, { offer, running, planned, rise }, now)
          : { offer: running, rise: null, isWithdrawn: true },
      )
    }
  }
  return found
}
