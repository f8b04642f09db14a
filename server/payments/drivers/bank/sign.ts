/**
 * The signatures of the two bank feeds, and how old a webhook may be. Sources:
 * https://developer.sepay.vn/en/sepay-webhooks/xac-thuc (headers, five minutes),
 * https://developer.casso.vn/webhook (V2 signature).
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../../../platform/constant-time.ts'
import { ForgedWebhook, type WebhookRequest } from '../../driver.ts'

/** Longest age of a signed webhook, and as much in the future; milliseconds. */
const driftMs = 5 * 60_000

function parsed(request: WebhookRequest): unknown {
  try {
    return JSON.parse(request.rawBody.toString('utf8'))
  } catch {
    throw new ForgedWebhook('bank: signed, but no JSON')
  }
}

/**
 * The body of a webhook that SePay signed at most five minutes ago; ForgedWebhook for any other.
 * `now` is the portal's.
 */
export function signedBySepay(request: WebhookRequest, secret: string, now: Date): unknown {
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
  return parsed(request)
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
 * The body of a webhook that Casso signed at most five minutes ago; ForgedWebhook for any other.
 * Casso signs the body with its keys in order, not the bytes that it sends.
 */
export function signedByCasso(request: WebhookRequest, secret: string, now: Date): unknown {
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
  return body
}
