/**
 * Reads Square's objects: payments, refunds, disputes, errors and the events about them. Unknown
 * fields are ignored.
 */
import * as z from 'zod/mini'
import { DriverFailure } from '../../../platform/errors.ts'
import type { PaymentUpdate, ProviderStatus, WebhookEvent } from '../../driver.ts'

/** Minor units. */
export const Money = z.object({ amount: z.int(), currency: z.string() })
const Fault = z.object({ category: z.string(), code: z.string() })
const Payment = z.object({
  id: z.string(),
  status: z.string(),
  amount_money: Money,
  refunded_money: z.optional(Money),
  refund_ids: z.optional(z.array(z.string())),
  reference_id: z.optional(z.string()),
  created_at: z.string(),
  card_details: z.optional(z.object({ errors: z.optional(z.array(Fault)) })),
})
export type Payment = z.output<typeof Payment>
const Refund = z.object({
  id: z.string(),
  status: z.string(),
  payment_id: z.string(),
  amount_money: Money,
  created_at: z.string(),
  reason: z.optional(z.string()),
})
const Dispute = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.optional(z.string()),
  amount_money: Money,
  disputed_payment: z.object({ payment_id: z.string() }),
})
const Event = z.object({
  event_id: z.string(),
  type: z.string(),
  data: z.object({ object: z.optional(z.looseObject({})) }),
})

export function read<S extends z.ZodMiniType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body)
  if (!parsed.success)
    throw new DriverFailure('unavailable', 'square: an answer that cannot be read')
  return parsed.data
}

export const payment = (body: unknown): Payment =>
  read(z.object({ payment: Payment }), body).payment
export const refund = (body: unknown): z.output<typeof Refund> =>
  read(z.object({ refund: Refund }), body).refund
export const list = (body: unknown) =>
  read(
    z.object({ payments: z._default(z.array(Payment), []), cursor: z.optional(z.string()) }),
    body,
  )
export const errors = (body: unknown) => read(z.object({ errors: z.array(Fault) }), body).errors

/**
 * Square accepts no metadata on refunds: the reason ends with our refund's id, so that we recognise
 * its webhook. At most 192 characters.
 */
export const reasonOf = (reason: string, refundId: string): string =>
  `${reason.slice(0, 150)} (${refundId})`
/** Our refund's id from its reason; null: the refund is not ours. */
export const refundIdIn = (reason: string | undefined): string | null =>
  /\(([0-9A-Za-z]{1,32})\)$/.exec(reason ?? '')?.[1] ?? null

const refundStates: Readonly<Record<string, ProviderStatus>> = {
  COMPLETED: 'refunded',
  // The bank did not accept the refund: the money is ours again.
  REJECTED: 'restored',
  FAILED: 'restored',
}
/** Square holds the money back from the moment a dispute is opened. An inquiry moves none. */
const disputeStates: Readonly<Record<string, ProviderStatus>> = {
  EVIDENCE_REQUIRED: 'reversed',
  PROCESSING: 'reversed',
  LOST: 'reversed',
  ACCEPTED: 'reversed',
  WON: 'restored',
}

/**
 * A verified event. Events come in any order, so one about a payment only says whom to ask about.
 */
export function webhookEventOf(body: unknown): WebhookEvent {
  const event = read(Event, body)
  const { object } = event.data
  const movement = (of: {
    id: string
    payment: string
    status: ProviderStatus | undefined
    money: z.output<typeof Money>
    detail: string
    disputeId?: string
  }): PaymentUpdate | null =>
    of.status === undefined || of.money.currency !== 'AUD'
      ? null
      : {
          eventId: event.event_id,
          reference: null,
          paymentRef: of.payment,
          providerTransactionId: of.id,
          status: of.status,
          amount: BigInt(of.money.amount),
          currency: 'AUD',
          occurredAt: null,
          detail: of.detail,
          ...(of.disputeId !== undefined && { disputeId: of.disputeId }),
        }
  if (event.type === 'payment.created' || event.type === 'payment.updated') {
    // The seller may sell other things too.
    const reference = read(z.object({ payment: Payment }), object).payment.reference_id
    return reference === undefined ? null : { ask: true, eventId: event.event_id, reference }
  }
  if (event.type === 'refund.created' || event.type === 'refund.updated') {
    const made = read(z.object({ refund: Refund }), object).refund
    const { id, payment_id, status, amount_money, reason } = made
    const update = movement({
      id,
      payment: payment_id,
      status: refundStates[status],
      money: amount_money,
      detail: `refund ${status}`,
    })
    return update && { ...update, refundId: refundIdIn(reason) }
  }
  if (event.type === 'dispute.created' || event.type === 'dispute.state.updated') {
    const { id, state, disputed_payment, amount_money } = read(
      z.object({ dispute: Dispute }),
      object,
    ).dispute
    const update = movement({
      id,
      payment: disputed_payment.payment_id,
      status: disputeStates[state],
      money: amount_money,
      detail: `dispute ${state}`,
      disputeId: id,
    })
    // A dispute that moves no money is an inquiry.
    return update ?? { dispute: id, eventId: event.event_id }
  }
  return null
}
