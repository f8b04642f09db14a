/**
 * The signature of Square's webhooks: HMAC-SHA256 over the registered address and the body. Square
 * signs no time, so an old webhook stays valid: we record its content once, under its event's id.
 * Source: https://developer.squareup.com/docs/webhooks/step3validate.
 */
import { createHmac } from 'node:crypto'
import { sameText } from '../../../platform/constant-time.ts'
import { DriverFailure } from '../../../platform/errors.ts'
import { ForgedWebhook, type WebhookRequest } from '../../driver.ts'

/**
 * The body of a webhook that Square signed. Throws ForgedWebhook for any other, and DriverFailure
 * `rejected` for a signed one that is not JSON.
 */
export function signedBody(request: WebhookRequest, url: string, key: string): unknown {
  const given = request.headers['x-square-hmacsha256-signature'] ?? ''
  const expected = createHmac('sha256', key).update(url).update(request.rawBody).digest('base64')
  if (!sameText(expected, given)) throw new ForgedWebhook('square: the signature does not hold')
  try {
    return JSON.parse(request.rawBody.toString('utf8'))
  } catch {
    throw new DriverFailure('rejected', 'square: a signed event that is not JSON')
  }
}
