/**
 * Stripe, through its own SDK: cards are linked with SetupIntents and pay with PaymentIntents,
 * which the browser confirms.
 */
import { randomUUID } from 'node:crypto'
import Stripe from 'stripe'
import { DriverFailure } from '../../../platform/errors.ts'
import {
  automaticChannel,
  UnknownCard,
  UnknownCustomer,
  type CardDriver,
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type PaymentOrder,
  type Refund,
} from '../../driver.ts'
import { disputesOf } from './disputes.ts'
import { callStripe, callStripeOrNull } from './failure.ts'
import { chargeOffSession } from './off-session.ts'
import { payoutsSince } from './payouts.ts'
import type { StripeSettings } from './settings.ts'
import { signedEvent } from './sign.ts'
import { currencies, metadataOf, updateOfIntent, webhookEventOf, declineReason } from './wire.ts'

const rejected = (why: string): DriverFailure => new DriverFailure('rejected', `stripe: ${why}`)
const cardsAtMost = 100
/** While the intent waits for one. */
const takesCard = new Set(['requires_payment_method', 'requires_confirmation', 'requires_action'])
/** The parts of an intent that a lookup needs. */
const expand = ['latest_charge', 'latest_charge.refunds']

/**
 * Stripe retries an event until it is answered with 2xx; an event that does not fit yet may fit
 * after an earlier one has arrived.
 */
const answers: Readonly<Record<UpdateOutcome, number>> = {
  recorded: 200,
  already: 200,
  unknown_order: 200,
  wrong_amount: 409,
  forged: 400,
  error: 500,
}

/** The origins that a browser needs for Stripe.js: Stripe's own, or that of a stand-in's script. */
function originsOf(scriptUrl: string): CardDriver['origins'] {
  const { host, origin } = new URL(scriptUrl)
  if (host !== 'js.stripe.com') return { scripts: [origin], frames: [origin], calls: [] }
  return {
    scripts: ['https://js.stripe.com', 'https://*.js.stripe.com'],
    frames: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
    calls: ['https://api.stripe.com'],
  }
}

/** Opens the driver. It keeps no state. */
export function createStripe(settings: StripeSettings): CardDriver {
  const api = new URL(settings.apiUrl)
  const secure = api.protocol === 'https:'
  const usualPort = secure ? 443 : 80
  const stripe = new Stripe(settings.secretKey, {
    host: api.hostname,
    port: api.port === '' ? usualPort : api.port,
    protocol: secure ? 'https' : 'http',
    timeout: settings.timeoutMs,
    maxNetworkRetries: 1,
    telemetry: false,
  })

  /** The customer's own card. Throws UnknownCard for any other. */
  async function ownCard(customerRef: string, cardId: string): Promise<Stripe.PaymentMethod> {
    const card = await cardOf(cardId)
    if (card.customer !== customerRef)
      throw new UnknownCard('stripe: the card is not this customer’s')
    return card
  }
  async function cardOf(cardId: string): Promise<Stripe.PaymentMethod> {
    const card = /^(pm|card)_\w+$/.test(cardId)
      ? await callStripeOrNull(stripe.paymentMethods.retrieve(cardId))
      : null
    if (card?.type !== 'card') throw new UnknownCard('stripe: no such card')
    return card
  }

  /**
   * If the id is missing (a crash came between making the payment and storing its id), the intent
   * is found by our reference.
   */
  async function intentOf(order: PaymentOrder): Promise<Stripe.PaymentIntent | null> {
    const intent =
      order.providerRef === null
        ? ((
            await callStripe(
              stripe.paymentIntents.search({
                query: `metadata['${metadataOf.payment}']:'${order.reference}'`,
                limit: 1,
              }),
            )
          ).data[0] ?? null)
        : await callStripeOrNull(stripe.paymentIntents.retrieve(order.providerRef, { expand }))
    if (intent !== null && intent.metadata[metadataOf.payment] !== order.reference)
      throw rejected('the intent is another payment’s')
    return intent !== null && typeof intent.latest_charge === 'string'
      ? await callStripe(stripe.paymentIntents.retrieve(intent.id, { expand }))
      : intent
  }

  async function lookUp(order: PaymentOrder): Promise<PaymentUpdate | null> {
    const intent = await intentOf(order)
    if (intent === null) return null
    const update = updateOfIntent(order.reference, intent, order.channel === automaticChannel)
    if (update === undefined) throw rejected(`an intent in ${intent.currency}`)
    return update
  }

  async function refund(order: PaymentOrder, input: Refund): Promise<PaymentUpdate> {
    if (input.amount <= 0n || input.amount > order.amount)
      throw rejected('a refund must lie between nothing and what was paid')
    const intent = input.providerTransactionId ?? order.providerRef ?? (await intentOf(order))?.id
    if (intent === undefined) throw rejected('there is no such payment')
    // Look for an existing refund first: Stripe forgets the idempotency key after 24 hours and
    // would then refund again.
    const { data: before } = await callStripe(
      stripe.refunds.list({ payment_intent: intent, limit: 100 }),
    )
    const known = before.find(({ metadata }) => metadata?.[metadataOf.refund] === input.refundId)
    const made = known ?? (await makeRefund(order, input, intent))
    const refused = made.status === 'failed' || made.status === 'canceled'
    return {
      eventId: `refund:${made.id}:${made.status ?? ''}`,
      reference: order.reference,
      providerTransactionId: made.id,
      status: refused ? 'failed' : 'refunded',
      amount: BigInt(made.amount),
      currency: order.currency,
      occurredAt: new Date(made.created * 1000),
      detail: `refund ${made.status ?? ''}`,
      refundId: input.refundId,
    }
  }

  const makeRefund = (order: PaymentOrder, input: Refund, intent: string): Promise<Stripe.Refund> =>
    callStripe(
      stripe.refunds.create(
        {
          payment_intent: intent,
          amount: Number(input.amount),
          metadata: {
            [metadataOf.refund]: input.refundId,
            [metadataOf.payment]: order.reference,
            reason: input.reason.slice(0, 500),
          },
        },
        { idempotencyKey: `refund-${input.refundId}` },
      ),
      'unclear',
    )

  async function makeDefault(customerRef: string, cardId: string): Promise<void> {
    await callStripe(
      stripe.customers.update(
        customerRef,
        { invoice_settings: { default_payment_method: cardId } },
        // A new idempotency key for each request: the same card may become the default a second
        // time.
        { idempotencyKey: randomUUID() },
      ),
    )
  }

  return {
    kind: 'card',
    name: 'stripe',
    declineReason,
    displayName: 'Stripe',
    currencies,
    credits: 'exact',
    publishableKey: settings.publishableKey,
    scriptUrl: settings.scriptUrl,
    origins: originsOf(settings.scriptUrl),
    readWebhook: (request) =>
      webhookEventOf(signedEvent(stripe.webhooks, request, settings.webhookSecret)),
    answerTo: (outcome): WebhookResponse => ({
      status: answers[outcome],
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({ received: outcome }),
    }),
    lookUp,
    refund,
    disputes: disputesOf(stripe),
    payouts: (since) => payoutsSince(stripe, since),

    async openCustomer(buyer) {
      const customer = await callStripe(
        stripe.customers.create(
          { name: buyer.name, email: buyer.email, metadata: { [metadataOf.customer]: buyer.id } },
          { idempotencyKey: `customer-${buyer.id}` },
        ),
      )
      return customer.id
    },
    async setUp(customerRef) {
      // Reuses a setup intent without a card: opening the form creates no new one each time.
      const recent = await callStripe(
        stripe.setupIntents.list({ customer: customerRef, limit: 10 }),
      )
      const unused = recent.data.find(
        ({ status, usage }) => status === 'requires_payment_method' && usage === 'off_session',
      )
      const known = unused?.last_setup_error ? null : unused?.client_secret
      if (known) return { clientSecret: known }
      const intent = await callStripe(
        stripe.setupIntents.create(
          { customer: customerRef, usage: 'off_session', allowed_payment_method_types: ['card'] },
          { idempotencyKey: randomUUID() },
        ),
      )
      if (intent.client_secret === null)
        throw new DriverFailure('unavailable', 'stripe: a setup without its secret')
      return { clientSecret: intent.client_secret }
    },
    async cards(customerRef) {
      const [customer, list] = await Promise.all([
        callStripe(stripe.customers.retrieve(customerRef)),
        callStripe(
          stripe.customers.listPaymentMethods(customerRef, { type: 'card', limit: cardsAtMost }),
        ),
      ])
      if (customer.deleted) throw new UnknownCustomer('stripe: the customer was deleted')
      const chosen = customer.invoice_settings.default_payment_method
      return {
        cards: list.data.flatMap(({ id, created, card }) =>
          card
            ? [
                {
                  id,
                  created,
                  card: {
                    brand: card.brand,
                    last4: card.last4,
                    exp_month: card.exp_month,
                    exp_year: card.exp_year,
                  },
                },
              ]
            : [],
        ),
        defaultId: typeof chosen === 'string' ? chosen : (chosen?.id ?? null),
      }
    },
    async attach(customerRef, cardId) {
      const card = await cardOf(cardId)
      if (card.customer === null)
        await callStripe(
          stripe.paymentMethods.attach(
            cardId,
            { customer: customerRef },
            { idempotencyKey: `attach-${cardId}-${customerRef}` },
          ),
        )
      else if (card.customer !== customerRef)
        throw new UnknownCard('stripe: the card is another customer’s')
      await makeDefault(customerRef, cardId)
    },
    async detach(customerRef, cardId) {
      await ownCard(customerRef, cardId)
      await callStripe(
        stripe.paymentMethods.detach(
          cardId,
          {},
          { idempotencyKey: `detach-${cardId}-${customerRef}` },
        ),
      )
    },
    async beginCard(order, { customerRef, cardId }) {
      await ownCard(customerRef, cardId)
      // The request under this key is the same for every card, so that one payment has one intent.
      const begun =
        order.providerRef === null
          ? await callStripe(
              stripe.paymentIntents.create(
                {
                  amount: Number(order.amount),
                  currency: order.currency.toLowerCase(),
                  customer: customerRef,
                  allowed_payment_method_types: ['card'],
                  metadata: {
                    [metadataOf.payment]: order.reference,
                    [metadataOf.customer]: order.buyer.id,
                  },
                },
                { idempotencyKey: `payment-${order.code}` },
              ),
            )
          : await callStripe(stripe.paymentIntents.retrieve(order.providerRef))
      // A replayed answer tells what the intent was then.
      const intent =
        takesCard.has(begun.status) && begun.payment_method !== cardId
          ? await callStripe(
              stripe.paymentIntents.update(
                begun.id,
                { payment_method: cardId },
                { idempotencyKey: randomUUID() },
              ),
            )
          : begun
      if (intent.client_secret === null)
        throw new DriverFailure('unavailable', 'stripe: an intent without its secret')
      return { clientSecret: intent.client_secret, providerRef: intent.id }
    },
    async chargeOffSession(order, card) {
      await ownCard(card.customerRef, card.cardId)
      return await chargeOffSession(stripe, order, card)
    },
  }
}
