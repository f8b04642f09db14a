/** Maps Stripe's objects to webhook events and payment updates. */
import type { DeclineReason } from '../../../../contract/payments.ts'
import type Stripe from 'stripe'
import type { Currency } from '../../../../contract/money.ts'
import type { PaymentUpdate, ProviderStatus, WebhookEvent } from '../../driver.ts'

export const currencies = ['AUD', 'USD', 'EUR', 'VND'] as const satisfies readonly Currency[]

/** The metadata keys under which our own ids are stored in objects that we make at Stripe. */
export const metadataOf = {
  payment: 'portal_payment',
  refund: 'portal_refund',
  customer: 'portal_customer',
} as const

/** Undefined: a currency that we never asked for. Stripe's amounts are minor units, as ours. */
export const currencyOf = (code: string): Currency | undefined =>
  currencies.find((known) => known === code.toUpperCase())
export const idOf = (of: string | { readonly id: string } | null | undefined): string | null =>
  typeof of === 'string' ? of : (of?.id ?? null)
export const momentOf = (seconds: number): Date => new Date(seconds * 1000)

/**
 * Converts Stripe's intent of one payment. A declined attempt leaves the payment open, because
 * another card may pay it. With `isUnattended` (made while its customer was away) a decline is
 * final: nobody tries another card.
 */
export function updateOfIntent(
  reference: string,
  intent: Stripe.PaymentIntent,
  isUnattended = false,
): PaymentUpdate | undefined {
  const currency = currencyOf(intent.currency)
  if (currency === undefined) return undefined
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null
  const paid = intent.status === 'succeeded'
  const gone =
    paid &&
    charge !== null &&
    charge.amount_refunded >= intent.amount_received &&
    intent.amount_received > 0
  const refunds = gone ? (charge.refunds?.data ?? []) : []
  const isRefused =
    isUnattended &&
    (intent.status === 'requires_action' ||
      (intent.status === 'requires_payment_method' && intent.last_payment_error !== null))
  let status: ProviderStatus
  if (gone) status = 'refunded'
  else if (paid) status = 'succeeded'
  else if (intent.status === 'canceled' || isRefused) status = 'failed'
  else status = 'pending'

  const own = paid ? intent.id : null
  const decline = intent.last_payment_error?.decline_code ?? intent.last_payment_error?.code
  return {
    eventId: ['intent', intent.id, status].join(':'),
    reference,
    // A single full refund is reported under the id that its own webhook uses.
    providerTransactionId: refunds.length === 1 ? (refunds[0]?.id ?? intent.id) : own,
    status,
    amount: BigInt(paid ? intent.amount_received : intent.amount),
    currency,
    occurredAt: momentOf(charge?.created ?? intent.created),
    detail:
      decline === undefined || decline === null ? intent.status : `${intent.status} ${decline}`,
  }
}

const refundStates: Readonly<Record<string, ProviderStatus>> = {
  succeeded: 'refunded',
  // The bank did not accept the refund: the money is ours again.
  failed: 'restored',
  canceled: 'restored',
}

function refundEventOf(eventId: string, refund: Stripe.Refund): WebhookEvent {
  const status = refundStates[refund.status ?? '']
  const currency = currencyOf(refund.currency)
  const paymentRef = idOf(refund.payment_intent)
  if (status === undefined || currency === undefined || paymentRef === null) return null
  return {
    eventId,
    reference: null,
    paymentRef,
    providerTransactionId: refund.id,
    status,
    amount: BigInt(refund.amount),
    currency,
    occurredAt: momentOf(refund.created),
    detail: `refund ${refund.status ?? ''}`,
    refundId: refund.metadata?.[metadataOf.refund] ?? null,
  }
}

function disputeEventOf(
  eventId: string,
  dispute: Stripe.Dispute,
  status: 'reversed' | 'restored',
): WebhookEvent {
  const currency = currencyOf(dispute.currency)
  const paymentRef = idOf(dispute.payment_intent)
  if (currency === undefined || paymentRef === null) return null
  return {
    eventId,
    reference: null,
    paymentRef,
    providerTransactionId: dispute.id,
    disputeId: dispute.id,
    status,
    amount: BigInt(dispute.amount),
    currency,
    occurredAt: momentOf(dispute.created),
    detail: `dispute ${dispute.reason}`,
  }
}

/**
 * A verified event. Events come in any order, so one about a payment only says whom to ask about.
 */
export function webhookEventOf(event: Stripe.Event): WebhookEvent {
  switch (event.type) {
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled':
    case 'payment_intent.processing': {
      const reference = event.data.object.metadata[metadataOf.payment]
      // The account may sell other things too.
      return reference === undefined ? null : { ask: true, eventId: event.id, reference }
    }
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refundEventOf(event.id, event.data.object)
    case 'charge.dispute.funds_withdrawn':
      return disputeEventOf(event.id, event.data.object, 'reversed')
    case 'charge.dispute.funds_reinstated':
      return disputeEventOf(event.id, event.data.object, 'restored')
    // Opening or closing a dispute moves no money by itself.
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return { dispute: event.data.object.id, eventId: event.id }
    // `charge.refunded` is ignored: the refund's own event reports it.
    default:
      return null
  }
}

const reasons: Readonly<Record<string, DeclineReason>> = {
  insufficient_funds: 'insufficient_funds',
  card_velocity_exceeded: 'limit',
  withdrawal_count_limit_exceeded: 'limit',
  incorrect_cvc: 'wrong_details',
  invalid_cvc: 'wrong_details',
  expired_card: 'wrong_details',
  incorrect_number: 'wrong_details',
  authentication_required: 'needs_confirmation',
  payment_intent_authentication_failure: 'wrong_code',
  lost_card: 'blocked',
  stolen_card: 'blocked',
  pickup_card: 'blocked',
  issuer_not_available: 'bank_unavailable',
  try_again_later: 'bank_unavailable',
}
/**
 * The reason from Stripe's decline code (docs.stripe.com/declines/codes), the last word of a
 * payment update's detail.
 */
export function declineReason(detail: string): DeclineReason | undefined {
  const [status = '', code] = detail.split(' ')
  if (code === undefined) return status === 'canceled' ? 'cancelled' : undefined
  return reasons[code] ?? 'declined'
}
