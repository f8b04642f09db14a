/** Maps Stripe's errors to DriverFailure. */
import Stripe from 'stripe'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import { tracedCall } from '../../../platform/http-client.ts'
import { UnknownCard, UnknownCustomer } from '../../driver.ts'

const { StripeError } = Stripe.errors

/**
 * Every call carries an idempotency key, which Stripe keeps for 24 hours: within them a lost answer
 * may be asked for again without harm.
 */
const kinds: Readonly<Record<string, DriverFailureKind>> = {
  StripeRateLimitError: 'unavailable',
  // An invalid API key says nothing about the payment: the operator corrects it and the call is
  // retried.
  StripeAuthenticationError: 'unavailable',
  StripePermissionError: 'unavailable',
  // The key was used for a different request before: an operator must check that one's result.
  StripeIdempotencyError: 'unclear',
  StripeCardError: 'rejected',
  StripeInvalidRequestError: 'rejected',
}

export const isMissing = (error: unknown): boolean =>
  error instanceof StripeError && error.code === 'resource_missing'

/**
 * Converts Stripe's error to ours. The text names the error and never the sent data. `lost`: the
 * kind for a missing answer or a 5xx one.
 */
export function failureOf(error: unknown, lost: DriverFailureKind = 'unavailable'): unknown {
  if (!(error instanceof StripeError)) return error
  const text = `stripe: ${error.type}${error.code === undefined ? '' : ` ${error.code}`}`
  if (
    isMissing(error) &&
    (error.param === 'customer' || error.message.startsWith('No such customer'))
  )
    return new UnknownCustomer(text)
  if (isMissing(error) && error.param === 'payment_method') return new UnknownCard(text)
  const busy = error.statusCode === 409 || (error.statusCode ?? 0) >= 500
  const isLost = error.type === 'StripeConnectionError' || error.type === 'StripeAPIError'
  return new DriverFailure(busy || isLost ? lost : (kinds[error.type] ?? 'unclear'), text)
}

/** Awaits a call to Stripe and throws its errors as DriverFailure. */
export async function callStripe<T>(call: Promise<T>, lost?: DriverFailureKind): Promise<T> {
  try {
    return await tracedCall('stripe', () => call)
  } catch (error) {
    throw failureOf(error, lost)
  }
}

/** The same, and `null` for what Stripe does not know. */
export async function callStripeOrNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await tracedCall('stripe', () => call)
  } catch (error) {
    if (isMissing(error)) return null
    throw failureOf(error)
  }
}
