/** One difference that a comparison with a gateway finds, about one payment or one posting. */

/** Kinds of differences; the desk has a sentence for each in both languages. */
export const differenceKinds = [
  'ledger_differs',
  'no_payment',
  'unknown_at_gateway',
  'paid_there',
  'not_paid_there',
  'amount_differs',
  'given_back_there',
  'refund_refused_there',
  'nothing_posted',
] as const
export type DifferenceKind = (typeof differenceKinds)[number]

/**
 * `here`: our amount; `there`: the amount at the gateway or in the ledger. Minor units; null: there
 * is none.
 */
export interface Compared {
  readonly kind: DifferenceKind
  readonly here: bigint | null
  readonly there: bigint | null
  readonly currency: string
  /** When the payment was begun, or the money moved. */
  readonly at: Date
}
