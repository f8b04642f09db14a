/**
 * payOS: a page with a VietQR code, paid by a transfer at the customer's bank. Đồng only. A webhook
 * tells of one transfer and a payment may be made of several, so it is a RecheckRequest: payOS is
 * queried what the payment link holds. payOS gives no money back, so there is no refund.
 */
import { createHash } from 'node:crypto'
import type { PaymentLink, Transaction } from '@payos/node'
import { DriverFailure } from '../../../platform/errors.ts'
import { fromVietnam } from '../../../platform/vietnam-time.ts'
import {
  ForgedWebhook,
  type RecheckRequest,
  type HostedDriver,
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type WebhookRequest,
  type PaymentOrder,
  type ProviderStatus,
} from '../../driver.ts'
import { codeOf, createClient, failureOf } from './client.ts'
import type { PayosSettings } from './settings.ts'
import { holds, isData } from './sign.ts'

const channels = [''] as const
const exists = '231'
const unknown = '101'

const rejected = (why: string): DriverFailure => new DriverFailure('rejected', `payos: ${why}`)

/**
 * payOS's order code is a positive whole number below 2^53: 52 bits of the code's SHA-256, the last
 * one set so that it is never zero.
 */
const referenceOf = (code: string): string =>
  ((createHash('sha256').update(code).digest().readBigUInt64BE() >> 12n) | 1n).toString()

/**
 * The moment of "2026-11-21 10:31:00" (Vietnam's clock) or of an ISO text with its own zone; null
 * for anything else.
 */
export function momentOf(text: unknown): Date | null {
  if (typeof text !== 'string') return null
  const parts = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(Z|[+-]\d\d:\d\d)?$/.exec(text)
  if (parts === null) return null
  const [, day, time, zone] = parts
  if (zone === undefined) return fromVietnam(`${day}T${time}`)
  const date = new Date(`${day}T${time}${zone}`)
  return Number.isNaN(date.getTime()) ? null : date
}

/**
 * The transfers that make the payment up (in the order of the bank's clock, until they suffice),
 * and those that came on top of it.
 */
export function divide(
  transfers: readonly Transaction[],
  amount: bigint,
): { made: readonly Transaction[]; extra: readonly Transaction[] } {
  const time = (transfer: Transaction): number =>
    momentOf(transfer.transactionDateTime)?.getTime() ?? 0
  const sorted = transfers.toSorted(
    (a, b) => time(a) - time(b) || (a.reference < b.reference ? -1 : 1),
  )
  let sum = 0n
  const needed = sorted.findIndex((transfer) => (sum += BigInt(transfer.amount)) >= amount) + 1
  return needed === 0
    ? { made: sorted, extra: [] }
    : { made: sorted.slice(0, needed), extra: sorted.slice(needed) }
}

const isAmount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/**
 * The state of a payment, from its payment link. When enough money came, the payment succeeded,
 * even after the link's time. A partial amount decides nothing while the link is open, and is
 * reported as it is when the link has ended. A link that has ended without any money has failed.
 */
function statusOf({ status, amountPaid }: PaymentLink): ProviderStatus {
  if (status === 'PAID') return 'succeeded'
  if (status !== 'CANCELLED' && status !== 'EXPIRED' && status !== 'FAILED') return 'pending'
  return amountPaid > 0 ? 'succeeded' : 'failed'
}

/** Opens the driver. It keeps no state. */
export function createPayos(settings: PayosSettings) {
  const client = createClient(settings)
  const { checksumKey } = settings

  async function get(reference: string): Promise<PaymentLink | null> {
    try {
      const link = await client.paymentRequests.get(Number(reference))
      const whole = [
        link.amount,
        link.amountPaid,
        ...link.transactions.map(({ amount }) => amount),
      ].every(isAmount)
      if (
        String(link.orderCode) !== reference ||
        !whole ||
        typeof link.id !== 'string' ||
        link.id === ''
      )
        throw new DriverFailure('unavailable', 'payos: the answer is about something else')
      return link
    } catch (error) {
      if (codeOf(error) === unknown) return null
      throw failureOf('get', error)
    }
  }

  async function begin(order: PaymentOrder): Promise<{ checkoutUrl: string; providerRef: string }> {
    if (order.currency !== 'VND') throw rejected(`takes VND, not ${order.currency}`)
    if (!channels.some((channel) => channel === order.channel)) throw rejected('no such channel')
    if (order.amount <= 0n || order.amount > BigInt(Number.MAX_SAFE_INTEGER))
      throw rejected('the amount is out of range')
    if (order.expiresAt <= order.createdAt) throw rejected('the payment expires before it begins')
    try {
      const link = await client.paymentRequests.create({
        orderCode: Number(order.reference),
        amount: Number(order.amount),
        // nine letters at most where the bank account is not linked; payOS finds the payment by its
        // own account, not by this
        description: `NAP${order.code.slice(-6)}`,
        returnUrl: order.returnUrl,
        cancelUrl: order.returnUrl,
        expiredAt: Math.ceil(order.expiresAt.getTime() / 1000),
      })
      if (!/^https?:\/\//.test(link.checkoutUrl) || link.paymentLinkId === '')
        throw new DriverFailure('unavailable', 'payos: a payment link without an address')
      return { checkoutUrl: link.checkoutUrl, providerRef: link.paymentLinkId }
    } catch (error) {
      if (codeOf(error) !== exists) throw failureOf('create', error)
    }
    // begun before, and the answer was lost: the link is there
    const link = await get(order.reference)
    if (link === null)
      throw new DriverFailure('unavailable', 'payos: a payment link is there and is not')
    if (BigInt(link.amount) !== order.amount)
      throw rejected('the order code belongs to another payment')
    return {
      checkoutUrl: `${settings.pageUrl.replace(/\/+$/, '')}/${link.id}`,
      providerRef: link.id,
    }
  }

  function readWebhook(request: WebhookRequest): RecheckRequest {
    let body: unknown
    try {
      body = JSON.parse(request.rawBody.toString('utf8'))
    } catch {
      throw new ForgedWebhook('payos: no JSON')
    }
    const data = isData(body) ? body['data'] : undefined
    if (!isData(body) || !isData(data) || !holds(data, body['signature'], checksumKey))
      throw new ForgedWebhook('payos: the signature does not hold')
    const { orderCode, reference, paymentLinkId } = data
    if (
      !Number.isSafeInteger(orderCode) ||
      typeof reference !== 'string' ||
      typeof paymentLinkId !== 'string'
    )
      throw new ForgedWebhook('payos: signed, but not about a transfer')
    return {
      ask: true,
      eventId: `${paymentLinkId}:${reference}`,
      reference: String(orderCode),
      about: reference,
    }
  }

  /**
   * payOS wants a status of 2xx, also for the sample that it sends when an address is registered;
   * anything else makes payOS retry.
   */
  function answerTo(outcome: UpdateOutcome): WebhookResponse {
    let status
    if (outcome === 'error') status = 500
    else if (outcome === 'forged') status = 400
    else status = 200

    return {
      status,
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify({ success: status === 200 }),
    }
  }

  /**
   * Money beyond the payment is a movement of its own, reported once under the bank's own
   * reference.
   */
  const extraOf = (
    order: PaymentOrder,
    link: PaymentLink,
    transfer: Transaction,
  ): PaymentUpdate => ({
    reference: order.reference,
    currency: 'VND',
    eventId: `${link.id}:${transfer.reference}`,
    providerTransactionId: `${link.id}:${transfer.reference}`,
    status: 'succeeded',
    amount: BigInt(transfer.amount),
    occurredAt: momentOf(transfer.transactionDateTime),
    detail: `${link.status}, transfer ${transfer.reference} on top`,
  })

  async function extras(order: PaymentOrder): Promise<PaymentUpdate[]> {
    const link = await get(order.reference)
    if (link === null) return []
    return divide(link.transactions, BigInt(link.amount)).extra.map((transfer) =>
      extraOf(order, link, transfer),
    )
  }

  async function lookUp(order: PaymentOrder, about?: string): Promise<PaymentUpdate | null> {
    const link = await get(order.reference)
    if (link === null) return null
    const { made, extra } = divide(link.transactions, BigInt(link.amount))
    const more = extra.find(({ reference }) => reference === about)
    if (more !== undefined) return extraOf(order, link, more)
    const status = statusOf(link)
    const sum = made.reduce((total, { amount }) => total + BigInt(amount), 0n)
    const came = sum >= BigInt(link.amount) ? sum : BigInt(link.amountPaid)
    return {
      reference: order.reference,
      currency: 'VND',
      eventId: [link.id, link.status, link.amountPaid].join(':'),
      // the link's id: the same, however many transfers made it up and whichever of them are known
      // yet
      providerTransactionId: status === 'succeeded' ? link.id : null,
      status,
      // the amount received; for an undecided payment, the amount requested
      amount: status === 'succeeded' ? came : BigInt(link.amount),
      occurredAt: momentOf(made.at(-1)?.transactionDateTime),
      detail:
        status === 'succeeded' && came >= BigInt(link.amount)
          ? link.status
          : `${link.status}, ${link.amountPaid} of ${link.amount} came`,
    }
  }

  return {
    kind: 'hosted' as const,
    name: 'payos',
    // The customer cancelled; a link that ran out is reported as expired.
    declineReason: (detail) => (detail.startsWith('CANCELLED') ? 'cancelled' : undefined),
    displayName: 'VietQR (payOS)',
    currencies: ['VND'] as const,
    channels,
    credits: 'exact' as const,
    referenceOf,
    begin,
    readWebhook,
    answerTo,
    lookUp,
    extras,
  } satisfies HostedDriver
}
