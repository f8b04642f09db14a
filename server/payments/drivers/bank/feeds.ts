/**
 * Reads the webhooks of the two bank feeds, verifies them and turns both into one form. Sources:
 * https://developer.sepay.vn/en/sepay-webhooks/xac-thuc (headers, five minutes),
 * https://developer.casso.vn/webhook (V2 signature).
 */
import { createHmac } from 'node:crypto'
import * as z from 'zod/mini'
import { sameText } from '../../../platform/constant-time.ts'
import { fromVietnam } from '../../../platform/vietnam-time.ts'
import { ForgedWebhook, type WebhookRequest } from '../../driver.ts'

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

/** Longest age of a signed webhook, and as much in the future; milliseconds. */
const driftMs = 5 * 60_000

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

function parsed(request: WebhookRequest): unknown {
  try {
    return JSON.parse(request.rawBody.toString('utf8'))
  } catch {
    throw new ForgedWebhook('bank: signed, but no JSON')
  }
}
function read<S extends z.ZodMiniType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (!result.success) throw new ForgedWebhook('bank: signed, but not about a movement')
  return result.data
}

/** Throws ForgedWebhook unless the webhook is SePay's own and at most five minutes old. */
export function readSepay(request: WebhookRequest, secret: string, now: Date): Movement {
  const timestamp = request.headers['x-sepay-timestamp'] ?? ''
  const given = /^sha256=([0-9a-f]{64})$/i
    .exec(request.headers['x-sepay-signature'] ?? '')?.[1]
    ?.toLowerCase()
  const expected = createHmac('sha256', secret)
    .update(`${timestamp}.`)
    .update(request.rawBody)
    .digest('hex')
  if (given === undefined || !/^\d{1,12}$/.test(timestamp) || !sameText(expected, given))
    throw new ForgedWebhook('sepay: the signature does not hold')
  if (Math.abs(now.getTime() - Number(timestamp) * 1000) > driftMs)
    throw new ForgedWebhook('sepay: the webhook is too old')
  const webhook = read(SepayWebhook, parsed(request))
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

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)]),
    )
  return value
}

/**
 * Throws ForgedWebhook unless the webhook is Casso's own. Casso signs the body with its keys in
 * order, not the bytes that it sends.
 */
export function readCasso(request: WebhookRequest, secret: string, now: Date): Movement {
  const [, timestamp = '', given = ''] =
    /^t=(\d{1,15}),v1=([0-9a-f]{128})$/i.exec(request.headers['x-casso-signature'] ?? '') ?? []
  const body = given === '' ? undefined : parsed(request)
  const expected = createHmac('sha512', secret)
    .update(`${timestamp}.${JSON.stringify(sorted(body))}`)
    .digest('hex')
  if (given === '' || !sameText(expected, given.toLowerCase()))
    throw new ForgedWebhook('casso: the signature does not hold')
  if (Math.abs(now.getTime() - Number(timestamp)) > driftMs)
    throw new ForgedWebhook('casso: the webhook is too old')
  const { data } = read(CassoWebhook, body)
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
