/**
 * The interface between billing and the modules that sell something by the month. Billing signals
 * the upper layers by the names of jobs.
 */
import * as z from 'zod/mini'
import { noSubject, type ShownSubject } from '../../contract/billing.ts'
import type { ExplainedLine } from '../../contract/wallet-proof.ts'
import type { Queryable, Tx } from '../platform/db.ts'

export interface Text {
  readonly en: string
  readonly vi: string
}

/** The thing that is sold. An invoice keeps the name that it was issued with. */
export interface Subject {
  readonly kind: string
  readonly id: string
  readonly name: string
}

/** The inputs of a price: JSON that only its product reads. */
export type Terms = object

/** Terms of one invoice line: the seconds that are charged, of the seconds of their month. */
export type Basis = Terms & { readonly seconds: number; readonly of_seconds: number }

/** A subscription's price and its basis. */
export interface Offer {
  /** Minor units a month; the sum of the terms if there are any. */
  readonly price: bigint
  /** What the price is computed from; null: the price is fixed. */
  readonly terms: Terms | null
  /** The text of the invoice's line. */
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
   * The present offers for subscriptions by id. `change` is the product's own description of a
   * planned change, `planned` the offer at which it was planned, `running` the present one. A
   * subscription missing from the answer keeps its price.
   */
  offers(
    db: Queryable,
    wanted: readonly {
      readonly subscriptionId: string
      readonly change: object | null
      readonly running: Offer
      readonly planned?: Offer | undefined
    }[],
  ): Promise<ReadonlyMap<string, Offer>>
  /**
   * Jobs with the payload { subscriptionId }. They may run late and twice: each reads the
   * subscription's present state.
   */
  readonly jobs: {
    readonly suspend: string
    readonly resume: string
    readonly remove: string
    /** The job for an order for which `reserve` has nothing yet. */
    readonly wait?: string
  }
  /**
   * Reserves an order's capacity, in the transaction that pays for it and before money moves;
   * false: none is left. Absent: there is always enough.
   */
  reserve?(tx: Tx, subject: Subject): Promise<boolean>
  /**
   * Whether the ordered thing was delivered at least once; a customer who cancels before that gets
   * everything back. Absent: delivery is immediate.
   */
  hasBeenThere?(tx: Tx, subject: Subject): Promise<boolean>
  /**
   * Whether the operator has suspended it by hand, so that a payment does not bring it back.
   * Absent: this product is never held.
   */
  isHeld?(tx: Tx, subject: Subject): Promise<boolean>
  /** The form of the subject in events and answers; null: the invoice has no subject. */
  readonly shownAs: {
    /** The subject in the events of an invoice or a subscription. */
    briefly(subject: Subject | null): Record<string, unknown>
    /** The subject in answers, and in the announcement of a price. */
    fully(subject: Subject | null): ShownSubject
  }
  /** Paths of the portal's screens. */
  readonly screens: { readonly all: string; readonly order: string }
  readonly pricing: {
    /** Minor units a month. Throws for terms that are not the product's. */
    monthly(terms: Terms): bigint
    /** `wanted` at the rates of `rates`; parts without a rate there get those of `others`. */
    atRates(wanted: Terms, rates: Terms, others: Terms): Terms
    /** The steps of a line's price; null: the product shows none. */
    explain(
      basis: Basis,
    ): (Pick<ExplainedLine, 'basis' | 'steps'> & { readonly amount: number }) | null
  }
}

/** Products by name, as subscriptions and invoices refer to them. */
export type Products = ReadonlyMap<string, Product>

/** The form stored in a row: { [kind]: { id, name } }. */
const StoredSubject = z.record(z.string(), z.object({ id: z.string(), name: z.string() }))
export const subjectToRow = ({ kind, id, name }: Subject): z.output<typeof StoredSubject> => ({
  [kind]: { id, name },
})
export function subjectOf(stored: unknown): Subject | null {
  const [entry] = stored === null ? [] : Object.entries(StoredSubject.parse(stored))
  return entry ? { kind: entry[0], ...entry[1] } : null
}

interface Sold {
  readonly product: string
  readonly subject: unknown
}
export const shownBriefly = (products: Products, { product, subject }: Sold) =>
  products.get(product)?.shownAs.briefly(subjectOf(subject)) ?? noSubject
export const shownFully = (products: Products, { product, subject }: Sold): ShownSubject =>
  products.get(product)?.shownAs.fully(subjectOf(subject)) ?? noSubject

const StoredText = z.object({ en: z.string(), vi: z.string() })
/** Checks only that it is an object; the product parses its content. */
const StoredTerms = z.record(z.string(), z.unknown())
const StoredBasis = z.looseObject({ seconds: z.int(), of_seconds: z.int() })
export const basisOf = (stored: unknown): Basis | null =>
  stored === null ? null : StoredBasis.parse(stored)
const StoredOffer = z.object({
  price: z.string(),
  terms: z.nullable(StoredTerms),
  description: StoredText,
})
const StoredStarts = z.object({ job: z.string(), payload: z.record(z.string(), z.unknown()) })
const StoredPlan = z.object({
  change: z.record(z.string(), z.unknown()),
  starts: z.nullable(StoredStarts),
  /** The offer at the time of planning. */
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
/** The subscription's offer in its running period. */
export const offerOf = (row: { price: bigint; terms: unknown; description: unknown }): Offer => ({
  price: row.price,
  terms: row.terms === null ? null : StoredTerms.parse(row.terms),
  description: StoredText.parse(row.description),
})
export function plannedOf(stored: unknown): Planned | null {
  if (stored === null) return null
  const { to, ...rest } = StoredPlan.parse(stored)
  return { ...rest, ...(to !== undefined && { to: offerFromJson(to) }) }
}
