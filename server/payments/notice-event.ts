/** A verified webhook's content in the form that a row stores: dates and amounts as text. */
import * as z from 'zod/mini'
import { currency } from '../../contract/money.ts'
import type { DisputeNotice, PaymentUpdate, RecheckRequest, WebhookEvent } from './driver.ts'

export type KeptEvent = PaymentUpdate | RecheckRequest | DisputeNotice

const eventId = z.string()
const Recheck = z.object({
  ask: z.literal(true),
  eventId,
  reference: z.string(),
  about: z.optional(z.string()),
})
const Dispute = z.object({ dispute: z.string(), eventId })
const Update = z.object({
  eventId,
  reference: z.nullable(z.string()),
  providerTransactionId: z.nullable(z.string()),
  status: z.enum(['pending', 'succeeded', 'failed', 'refunded', 'reversed', 'restored']),
  amount: z.string().check(z.regex(/^-?\d+$/)),
  currency,
  occurredAt: z.nullable(z.string()),
  detail: z.string(),
  refundId: z.optional(z.nullable(z.string())),
  paymentRef: z.optional(z.string()),
  disputeId: z.optional(z.string()),
})

/** Null: the webhook concerns no payment. */
export const eventToJson = (event: WebhookEvent): string | null =>
  event === null
    ? null
    : JSON.stringify(event, (_name, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      )

/** Undefined for what another release wrote and this one does not know. */
export function eventOfJson(stored: unknown): KeptEvent | undefined {
  const asked = Recheck.safeParse(stored)
  if (asked.success) {
    const { about, ...rest } = asked.data
    return { ...rest, ...(about !== undefined && { about }) }
  }
  const disputed = Dispute.safeParse(stored)
  if (disputed.success) return disputed.data
  const { success, data } = Update.safeParse(stored)
  if (!success) return undefined
  const { amount, occurredAt, refundId, paymentRef, disputeId, ...rest } = data
  return {
    ...rest,
    amount: BigInt(amount),
    occurredAt: occurredAt === null ? null : new Date(occurredAt),
    ...(refundId !== undefined && { refundId }),
    ...(paymentRef !== undefined && { paymentRef }),
    ...(disputeId !== undefined && { disputeId }),
  }
}
