/** The signature of Stripe's webhooks and how old one may be, checked by Stripe's own SDK. */
import Stripe from 'stripe'
import { DriverFailure } from '../../../platform/errors.ts'
import { ForgedWebhook, type WebhookRequest } from '../../driver.ts'

/** Seconds: an event that was signed longer ago is not believed. */
const toleranceSeconds = 300

/**
 * The event of a webhook that Stripe signed within the last five minutes. Throws ForgedWebhook for
 * any other, and DriverFailure `rejected` for a signed one that cannot be read.
 */
export function signedEvent(
  webhooks: Stripe['webhooks'],
  request: WebhookRequest,
  secret: string,
): Stripe.Event {
  const signature = request.headers['stripe-signature'] ?? ''
  try {
    return webhooks.constructEvent(request.rawBody, signature, secret, toleranceSeconds)
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError)
      throw new ForgedWebhook('stripe: the signature does not hold')
    throw new DriverFailure('rejected', 'stripe: a signed event that cannot be read')
  }
}
