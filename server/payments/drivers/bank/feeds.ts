/**
 * Reads the webhooks of the two bank feeds and turns both into one form; sign.ts verifies them.
 * Sources: https://developer.sepay.vn/en/sepay-webhooks and https://developer.casso.vn/webhook.
 */
import * as z from 'zod/mini'
import { fromVietnam } from '../../../platform/vietnam-time.ts'
import { ForgedWebhook, type WebhookRequest } from '../../driver.ts'
import { signedByCasso, signedBySepay } from './sign.ts'

/** One movement on the bank account. */
export interface Movement {
  /** The id of the webhook that reported it: the feed and its own number. */
  readonly eventId: string
  /** The bank's own reference; the feed's number where the bank gave none. */
  readonly bankReference: string
  readonly accountNumber: string
  /** đồng that arrived; 0n for money that left. */
  readonly arrived: bigint
  readonly text: string
  readonly at: Date | null
}

/** Whole đồng, from a number or a text such as "100000.00"; undefined when it is no such thing. */
export function dong(value: number | string | null | undefined): bigint | undefined {
  const match = /^(-?\d{1,15})(?:\.0{1,2})?$/.exec(String(value ?? ''))
  return match?.[1] === undefined ? undefined : BigInt(match[1])
}

const text = z.nullish(z.string())
const amount = z.union([z.number(), z.string()])
const SepayWebhook = z.object({
  id: z.union([z.int(), z.string()]),
  transactionDate: z.string(),
  accountNumber: z.string(),
  subAccount: text,
  content: text,
  description: text,
  transferType: z.enum(['in', 'out']),
  transferAmount: amount,
  referenceCode: text,
})
const CassoWebhook = z.object({
  error: z.literal(0),
  data: z.object({
    id: z.union([z.int(), z.string()]),
    reference: text,
    description: text,
    amount,
    transactionDateTime: z.string(),
    accountNumber: z.string(),
  }),
})

function read<S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (!result.success) throw new ForgedWebhook('bank: signed, but not about a movement')
  return result.data
}

/** Throws ForgedWebhook unless the webhook is SePay's own and at most five minutes old. */
export function readSepay(request: WebhookRequest, secret: string, now: Date): Movement {
  const webhook = read(SepayWebhook, signedBySepay(request, secret, now))
  const moved = dong(webhook.transferAmount)
  if (moved === undefined)
    throw new ForgedWebhook('sepay: an amount that is no whole number of đồng')
  return {
    eventId: `sepay:${webhook.id}`,
    bankReference: webhook.referenceCode?.trim() || `sepay:${webhook.id}`,
    accountNumber: webhook.accountNumber,
    arrived: webhook.transferType === 'in' ? moved : 0n,
    text: webhook.content?.trim() || (webhook.description ?? ''),
    at: fromVietnam(webhook.transactionDate),
  }
}

/** Throws ForgedWebhook unless the webhook is Casso's own and at most five minutes old. */
export function readCasso(request: WebhookRequest, secret: string, now: Date): Movement {
  const { data } = read(CassoWebhook, signedByCasso(request, secret, now))
  const moved = dong(data.amount)
  if (moved === undefined)
    throw new ForgedWebhook('casso: an amount that is no whole number of đồng')
  return {
    eventId: `casso:${data.id}`,
    bankReference: data.reference?.trim() || `casso:${data.id}`,
    accountNumber: data.accountNumber,
    // Money that leaves has a minus there.
    arrived: moved > 0n ? moved : 0n,
    text: data.description ?? '',
    at: fromVietnam(data.transactionDateTime),
  }
}
