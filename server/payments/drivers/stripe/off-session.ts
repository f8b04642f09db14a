/**
 * A linked card is charged while its owner is away:
 * https://docs.stripe.com/payments/save-and-reuse#charge-saved-payment-method
 */
import Stripe from 'stripe'
import { DriverFailure } from '../../../platform/errors.ts'
import type { PaymentOrder, PaymentUpdate } from '../../driver.ts'
import { callStripe } from './failure.ts'
import { metadataOf, updateOfIntent } from './wire.ts'

/** A bank that declines answers with the intent, which is then read like any other. */
const declinedIntent = (error: unknown): Stripe.PaymentIntent => {
  if (error instanceof Stripe.errors.StripeCardError && error.payment_intent)
    return error.payment_intent
  throw error
}

/**
 * Makes and confirms the intent in one call. The request under this key never differs. The
 * browser's confirmation of a payment uses the same key, so one code has one intent.
 */
export async function chargeOffSession(
  stripe: Stripe,
  order: PaymentOrder,
  { customerRef, cardId }: { readonly customerRef: string; readonly cardId: string },
): Promise<PaymentUpdate> {
  const intent = await callStripe(
    stripe.paymentIntents
      .create(
        {
          amount: Number(order.amount),
          currency: order.currency.toLowerCase(),
          customer: customerRef,
          payment_method: cardId,
          allowed_payment_method_types: ['card'],
          off_session: true,
          confirm: true,
          metadata: {
            [metadataOf.payment]: order.reference,
            [metadataOf.customer]: order.buyer.id,
          },
        },
        { idempotencyKey: `payment-${order.code}` },
      )
      .catch(declinedIntent),
  )
  const update = updateOfIntent(order.reference, intent, true)
  if (update === undefined)
    throw new DriverFailure('rejected', `stripe: an intent in ${intent.currency}`)
  return { ...update, paymentRef: intent.id }
}
