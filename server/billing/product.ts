/**
 * What billing asks of whoever sells something by the month. A signal to an upper floor is a job's
 * name.
 */
import * as z from 'zod/mini'
import type { Terms } from '../../contract/pricing.ts'
import { Terms as TermsSchema } from '../../contract/wallet-proof.ts'
import type { Queryable } from '../platform/db.ts'

export interface Text {
  readonly en: string
  readonly vi: string
}

/** What a subscription costs. */
export interface Offer {
  /** Minor units a month; the sum of the terms where there are any. */
  readonly price: bigint
  /** What it is computed from; null where the price says everything. */
  readonly terms: Terms | null
  /** What an invoice's line says of it. */
  readonly description: Text
}

/** A job to add in the transaction of the payment. */
export interface Starts {
  readonly job: string
  readonly payload: object
}

export interface Product {
  /** Its account in the ledger: revenue:<name>:<currency>. */
  readonly name: string
  /**
   * What subscriptions renew for from now on, by their ids; `change` is the product's own word for
   * a change that was planned, `running` what they cost now. One that is missing keeps the price
   * that it has.
   */
  offers(
    db: Queryable,
    wanted: readonly {
      readonly subscriptionId: string
      readonly change: object | null
      readonly running: Offer
    }[],
  ): Promise<ReadonlyMap<string, Offer>>
  /**
   * Jobs with the payload { subscriptionId }. They may come late and twice: each looks at how the
   * subscription stands.
   */
  readonly jobs: { readonly suspend: string; readonly resume: string; readonly remove: string }
}

const StoredText = z.object({ en: z.string(), vi: z.string() })
const StoredOffer = z.object({
  price: z.string(),
  terms: z.nullable(TermsSchema),
  description: StoredText,
})
const StoredStarts = z.object({ job: z.string(), payload: z.record(z.string(), z.unknown()) })
const StoredPlan = z.object({
  change: z.record(z.string(), z.unknown()),
  starts: z.nullable(StoredStarts),
  /** What it was to cost when it was planned. */
  to: z.optional(z.unknown()),
})

export interface Planned {
  readonly change: Record<string, unknown>
  readonly starts: Starts | null
  readonly to?: Offer
}

export const offerToJson = (offer: Offer): string =>
  JSON.stringify({ ...offer, price: String(offer.price) })
export function offerFromJson(stored: unknown): Offer {
  const { price, ...rest } = StoredOffer.parse(stored)
  return { price: BigInt(price), ...rest }
}
/** What a subscription costs in its running period. */
export const offerOf = (row: { price: bigint; terms: unknown; description: unknown }): Offer => ({
  price: row.price,
  terms: row.terms === null ? null : TermsSchema.parse(row.terms),
  description: StoredText.parse(row.description),
})
export function plannedOf(stored: unknown): Planned | null {
  if (stored === null) return null
  const { to, ...rest } = StoredPlan.parse(stored)
  return { ...rest, ...(to !== undefined && { to: offerFromJson(to) }) }
}
