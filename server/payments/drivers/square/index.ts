/**
 * Square's Payments API over REST: a token of Square's form is charged at once. Australian dollars
 * only.
 */
import { DriverFailure } from '../../../platform/errors.ts'
import { callHttp, jsonOf } from '../../../platform/http-client.ts'
import {
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type PaymentOrder,
  type ProviderStatus,
  type Refund,
  type TokenDriver,
} from '../../driver.ts'
import { disputesOf, payoutsSince, type Ask } from './ledger.ts'
import * as wire from './wire.ts'
import type { SquareSettings } from './settings.ts'
import { signedBody } from './sign.ts'

/** The API version whose published document the stand-in validates our calls against. */
const version = '2025-08-20'
const pageSize = 100
const pagesAtMost = 20
/** How long after it was made a payment may still have been charged. */
const searchedForMs = 24 * 3_600_000

const rejected = (why: string): DriverFailure => new DriverFailure('rejected', `square: ${why}`)
const statuses: Readonly<Record<UpdateOutcome, number>> = {
  recorded: 200,
  already: 200,
  unknown_order: 200,
  wrong_amount: 409,
  forged: 403,
  error: 500,
}

/** Opens the driver. `webhookUrl` is part of what Square signs. */
export function createSquare(
  settings: SquareSettings,
  context: { readonly webhookUrl: string },
): TokenDriver {
  const { locationId } = settings
  const base = settings.apiUrl.replace(/\/+$/, '')

  /** Every write carries its idempotency key in the body, so it may be repeated. */
  const ask: Ask = async ({ kind = 'unavailable', ...call }) => {
    const answer = await callHttp({
      ...call,
      peer: 'square',
      url: `${base}${call.path}`,
      headers: { authorization: `Bearer ${settings.accessToken}`, 'square-version': version },
      timeoutMs: settings.timeoutMs,
      repeatable: kind === 'unavailable',
      serverError: kind,
      accept: [...(call.accept ?? []), 401],
    })
    // An invalid access token says nothing about the payment: the operator corrects it and the call
    // is retried.
    if (answer.status === 401)
      throw new DriverFailure('unavailable', 'square: the access token is not taken')
    return { status: answer.status, body: jsonOf(answer, 'square', kind) }
  }

  function updateOf(reference: string, payment: wire.Payment): PaymentUpdate {
    if (payment.amount_money.currency !== 'AUD') throw rejected('a payment in another currency')
    const paid = payment.status === 'COMPLETED'
    const gone = paid && (payment.refunded_money?.amount ?? 0) >= payment.amount_money.amount
    const refund = gone && payment.refund_ids?.length === 1 ? payment.refund_ids[0] : undefined
    const failed = payment.status === 'FAILED' || payment.status === 'CANCELED'
    let status: ProviderStatus
    if (gone) status = 'refunded'
    else if (paid) status = 'succeeded'
    else if (failed) status = 'failed'
    else status = 'pending'

    return {
      eventId: ['payment', payment.id, status].join(':'),
      reference,
      paymentRef: payment.id,
      // A single full refund is reported under the id that its own webhook uses.
      providerTransactionId: failed ? null : (refund ?? payment.id),
      status,
      amount: BigInt(payment.amount_money.amount),
      currency: 'AUD',
      occurredAt: new Date(payment.created_at),
      detail: [
        payment.status,
        ...(payment.card_details?.errors ?? []).map(({ code }) => code),
      ].join(' '),
    }
  }

  /** The list has no search by reference; the payment lies in the hours after it was made. */
  async function search(order: PaymentOrder): Promise<wire.Payment | null> {
    let cursor: string | undefined
    for (let page = 0; page < pagesAtMost; page++) {
      const query = new URLSearchParams({
        location_id: locationId,
        begin_time: new Date(order.createdAt.getTime() - 60_000).toISOString(),
        end_time: new Date(order.createdAt.getTime() + searchedForMs).toISOString(),
        sort_order: 'ASC',
        limit: String(pageSize),
        ...(cursor !== undefined && { cursor }),
      })
      const list = wire.list((await ask({ method: 'GET', path: `/v2/payments?${query}` })).body)
      const found = list.payments.find((payment) => payment.reference_id === order.reference)
      if (found) return found
      cursor = list.cursor
      if (cursor === undefined) return null
    }
    throw new DriverFailure(
      'unavailable',
      'square: the payment is not on the first pages of the list',
    )
  }

  async function find(order: PaymentOrder): Promise<wire.Payment | null> {
    if (order.providerRef === null) return await search(order)
    const { status, body } = await ask({
      method: 'GET',
      path: `/v2/payments/${encodeURIComponent(order.providerRef)}`,
      accept: [404],
    })
    if (status === 404) return null
    const payment = wire.payment(body)
    if (payment.reference_id !== order.reference) throw rejected('the payment is another order’s')
    return payment
  }

  async function lookUp(order: PaymentOrder): Promise<PaymentUpdate | null> {
    const payment = await find(order)
    return payment && updateOf(order.reference, payment)
  }

  async function charge(
    order: PaymentOrder,
    source: { readonly sourceId: string; readonly verificationToken: string | null },
  ): Promise<PaymentUpdate> {
    if (order.currency !== 'AUD') throw rejected(`takes AUD, not ${order.currency}`)
    const { status, body } = await ask({
      method: 'POST',
      path: '/v2/payments',
      json: {
        source_id: source.sourceId,
        idempotency_key: order.code,
        amount_money: { amount: Number(order.amount), currency: 'AUD' },
        location_id: locationId,
        reference_id: order.reference,
        note: `Wallet top-up ${order.reference}`,
        autocomplete: true,
        ...(source.verificationToken !== null && { verification_token: source.verificationToken }),
      },
      accept: [400, 402],
    })
    if (status === 200) return updateOf(order.reference, wire.payment(body))
    const [error] = wire.errors(body)
    // A card that is refused, or a token that is spent, decides this payment; anything else is our
    // own fault.
    if (error?.category !== 'PAYMENT_METHOD_ERROR')
      throw rejected(`CreatePayment answered ${status} ${error?.code ?? ''}`)
    return {
      eventId: ['declined', order.reference, error.code].join(':'),
      reference: order.reference,
      providerTransactionId: null,
      status: 'failed',
      amount: order.amount,
      currency: 'AUD',
      occurredAt: null,
      detail: error.code,
    }
  }

  async function refund(order: PaymentOrder, input: Refund): Promise<PaymentUpdate> {
    if (input.amount <= 0n || input.amount > order.amount)
      throw rejected('a refund must lie between nothing and what was paid')
    const payment = input.providerTransactionId ?? order.providerRef ?? (await find(order))?.id
    if (payment === undefined) throw rejected('there is no such payment')
    // Look for an existing refund first: Square does not promise how long it keeps an idempotency
    // key. The refund's reason contains our id.
    const made = (await refundMade(payment, input)) ?? (await makeRefund(payment, input))
    const refused = made.status === 'REJECTED' || made.status === 'FAILED'
    return {
      eventId: `refund:${made.id}:${made.status}`,
      reference: order.reference,
      providerTransactionId: made.id,
      status: refused ? 'failed' : 'refunded',
      amount: BigInt(made.amount_money.amount),
      currency: 'AUD',
      occurredAt: new Date(made.created_at),
      detail: `refund ${made.status}`,
      refundId: input.refundId,
    }
  }

  /** The refund that an earlier attempt made. */
  async function refundMade(payment: string, { refundId }: Refund) {
    const path = `/v2/payments/${encodeURIComponent(payment)}`
    const { status, body } = await ask({ method: 'GET', path, accept: [404] })
    if (status === 404) throw rejected('there is no such payment')
    for (const id of wire.payment(body).refund_ids ?? []) {
      const of = await ask({ method: 'GET', path: `/v2/refunds/${encodeURIComponent(id)}` })
      const refund = wire.refund(of.body)
      if (wire.refundIdIn(refund.reason) === refundId) return refund
    }
    return undefined
  }

  async function makeRefund(payment: string, input: Refund) {
    const { status, body } = await ask({
      method: 'POST',
      path: '/v2/refunds',
      // A later refusal must not be taken for the first answer, which was lost.
      kind: 'unclear',
      json: {
        idempotency_key: input.refundId,
        payment_id: payment,
        amount_money: { amount: Number(input.amount), currency: 'AUD' },
        reason: wire.reasonOf(input.reason, input.refundId),
      },
      accept: [400, 402, 404, 409],
    })
    if (status === 409)
      throw new DriverFailure('unclear', 'square: another refund of it is under way')
    if (status !== 200) {
      const [error] = wire.errors(body)
      // The key was used for a different request before: an operator must check that one's result.
      if (error?.code === 'IDEMPOTENCY_KEY_REUSED')
        throw new DriverFailure('unclear', 'square: the refund’s key was used before')
      throw rejected(`RefundPayment answered ${status} ${error?.code ?? ''}`)
    }
    return wire.refund(body)
  }

  return {
    kind: 'token',
    name: 'square',
    displayName: 'Square',
    currencies: ['AUD'],
    credits: 'exact',
    applicationId: settings.applicationId,
    locationId,
    readWebhook: (request) =>
      wire.webhookEventOf(signedBody(request, context.webhookUrl, settings.webhookKey)),
    answerTo: (outcome): WebhookResponse => ({
      status: statuses[outcome],
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({ received: outcome }),
    }),
    lookUp,
    charge,
    refund,
    disputes: disputesOf(ask),
    payouts: (since) => payoutsSince(ask, locationId, since),
  }
}
