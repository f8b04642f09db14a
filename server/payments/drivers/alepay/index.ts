/**
 * Alepay (Ngân Lượng), version 3, with the customer's choice of card, bank and QR at Alepay. Đồng
 * only. Written by hand: npm's `alepay` speaks version 1. Its answers are not signed in a way that
 * is published, so what is believed is what its own address answers over TLS; the webhook is a
 * trigger only.
 */
import { sameHash } from '../../../platform/constant-time.ts'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import { callHttp, jsonOf } from '../../../platform/http-client.ts'
import {
  ForgedWebhook,
  type RecheckRequest,
  type HostedDriver,
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type WebhookRequest,
  type PaymentOrder,
  type Refund,
} from '../../driver.ts'
import { kindOf, statusOf, texts, unknown, declineReason } from './codes.ts'
import { fromAlepayAmount, fromAlepayTime, paymentHours, vietnamesePhone } from './convert.ts'
import type { AlepaySettings } from './settings.ts'
import { refundChecksum, signed, webhookChecksum } from './sign.ts'

/** '' lets the customer choose at Alepay. */
const channels = [''] as const
/** Cards of any country and domestic means, paid at once. */
const checkoutType = 4
/** Alepay wants an address of the buyer, which customers need not give. */
const nowhere = { buyerAddress: 'Việt Nam', buyerCity: 'Hà Nội', buyerCountry: 'Việt Nam' } as const

type Json = Readonly<Record<string, unknown>>
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
const describeCode = (code: string): string => (code in texts ? `${code} ${texts[code]}` : code)
const failure = (kind: DriverFailureKind, why: string): DriverFailure =>
  new DriverFailure(kind, `alepay: ${why}`)
const rejected = (why: string): DriverFailure => failure('rejected', why)

/** Opens the driver. It keeps no state. */
export function createAlepay(settings: AlepaySettings) {
  const { tokenKey, checksumKey } = settings

  /**
   * Posts one call and returns the response, with its code as text. A query changes nothing, and a
   * payment that no customer was sent to has no effect either: both may be repeated.
   */
  async function post(
    call: string,
    json: unknown,
    failureKind: DriverFailureKind,
  ): Promise<Json & { readonly code: string }> {
    const answer = await callHttp({
      peer: 'alepay',
      method: 'POST',
      url: `${settings.baseUrl.replace(/\/+$/, '')}/${call}`,
      json,
      timeoutMs: settings.timeoutMs,
      repeatable: failureKind === 'unavailable',
      serverError: failureKind,
    })
    const read = objectOf(jsonOf(answer, 'alepay', failureKind))
    const code = textOf(read['code'])
    if (code === '') throw failure(failureKind, `${call} answered without a code`)
    return { ...read, code }
  }

  async function begin(order: PaymentOrder): Promise<{ checkoutUrl: string; providerRef: string }> {
    if (order.currency !== 'VND') throw rejected(`takes VND, not ${order.currency}`)
    if (!channels.some((channel) => channel === order.channel)) throw rejected('no such channel')
    if (order.amount <= 0n || order.amount > BigInt(Number.MAX_SAFE_INTEGER))
      throw rejected('the amount is out of range')
    if (order.expiresAt <= order.createdAt) throw rejected('the payment expires before it begins')
    const buyerPhone = vietnamesePhone(order.buyer.phone)
    if (buyerPhone === undefined)
      throw rejected('takes buyers with a Vietnamese telephone number only')
    const answer = await post(
      'request-payment',
      signed(
        {
          tokenKey,
          orderCode: order.reference,
          customMerchantId: order.buyer.id,
          amount: Number(order.amount),
          currency: 'VND',
          orderDescription:
            (order.language === 'vi' ? 'Nạp ví ' : 'Wallet top-up ') + order.reference,
          totalItem: 1,
          checkoutType,
          allowDomestic: true,
          installment: false,
          language: order.language,
          paymentHours: paymentHours(order.createdAt, order.expiresAt),
          returnUrl: order.returnUrl,
          cancelUrl: order.returnUrl,
          buyerName: order.buyer.name,
          buyerEmail: order.buyer.email,
          buyerPhone,
          ...nowhere,
        },
        checksumKey,
      ),
      'unavailable',
    )
    if (answer.code !== '000')
      throw failure(kindOf(answer.code), `request-payment answered ${describeCode(answer.code)}`)
    const [checkoutUrl, providerRef] = [
      textOf(answer['checkoutUrl']),
      textOf(answer['transactionCode']),
    ]
    if (providerRef === '' || !/^https?:\/\//.test(checkoutUrl))
      throw failure('unavailable', 'request-payment answered without an address')
    return { checkoutUrl, providerRef }
  }

  function readWebhook(request: WebhookRequest): RecheckRequest {
    const text = request.rawBody.toString('utf8')
    let body: Json
    try {
      body = objectOf(JSON.parse(text))
    } catch {
      throw new ForgedWebhook('alepay: no JSON')
    }
    const transaction = objectOf(body['transactionInfo'])
    const { orderCode, transactionCode } = transaction
    const amount = fromAlepayAmount(transaction['amount'])
    if (
      typeof orderCode !== 'string' ||
      typeof transactionCode !== 'string' ||
      amount === undefined
    )
      throw new ForgedWebhook('alepay: not about a payment')
    // Alepay hashes the amount as it wrote it, and whether that is 162000 or 162000.0 is its own
    // affair
    const written = [...text.matchAll(/"amount"\s*:\s*"?([\d.Ee+]{1,24})/g)].map(
      ([, token]) => token ?? '',
    )
    const holds = [...new Set([...written, amount.toString()])]
      .map((token) =>
        sameHash(webhookChecksum(orderCode, token, transactionCode, checksumKey), body['checksum']),
      )
      .includes(true)
    if (!holds) throw new ForgedWebhook('alepay: the checksum does not hold')
    return {
      ask: true,
      eventId: ['notice', transactionCode, textOf(transaction['status']), amount].join(':'),
      reference: orderCode,
      about: transactionCode,
    }
  }

  /** No reply is prescribed; a status beyond 2xx makes Alepay retry. */
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

  async function lookUp(order: PaymentOrder, about?: string): Promise<PaymentUpdate | null> {
    // Alepay knows a payment by its own code alone
    const transactionCode = about ?? order.providerRef
    if (transactionCode === null) return null
    const answer = await post(
      'get-transaction-info',
      signed({ tokenKey, transactionCode }, checksumKey),
      'unavailable',
    )
    if (unknown.has(answer.code)) return null
    if (answer.code !== '000')
      throw failure(
        kindOf(answer.code),
        `get-transaction-info answered ${describeCode(answer.code)}`,
      )
    const amount = fromAlepayAmount(answer['amount'])
    if (
      answer['orderCode'] !== order.reference ||
      answer['transactionCode'] !== transactionCode ||
      amount === undefined
    )
      throw failure('unavailable', 'the answer is about something else')
    if (answer['currency'] !== 'VND') throw rejected('the payment is in another currency')
    const code = textOf(answer['status'])
    const status = statusOf(code)
    return {
      eventId: ['info', transactionCode, code, amount].join(':'),
      reference: order.reference,
      providerTransactionId: status === 'succeeded' ? transactionCode : null,
      status,
      amount,
      currency: 'VND',
      occurredAt:
        fromAlepayTime(answer['successTime']) ?? fromAlepayTime(answer['transactionTime']),
      detail: `status ${describeCode(code)}`,
    }
  }

  /**
   * A refund as Alepay tells of it; `parts` is the order in which this call's answer hashes them.
   */
  function refundNotice(
    order: PaymentOrder,
    input: Refund,
    transactionCode: string,
    answer: Json,
    parts: readonly string[],
  ): PaymentUpdate {
    const data = objectOf(answer['data'])
    const expected = refundChecksum(
      parts.map((part) => textOf(data[part])),
      checksumKey,
    )
    if (!sameHash(expected, data['checksum']))
      throw failure('unclear', 'a refund is told of without a valid checksum')
    if (
      data['transactionCode'] !== transactionCode ||
      data['orderCode'] !== order.reference ||
      data['merchantRefundCode'] !== input.refundId ||
      fromAlepayAmount(data['refundAmount']) !== input.amount
    )
      throw failure('unclear', 'the answer is about another refund')
    const code = textOf(data['refundStatus'])
    if (statusOf(code) === 'failed') throw rejected(`the refund is ${describeCode(code)}`)
    return {
      eventId: ['refund', input.refundId, code].join(':'),
      reference: order.reference,
      // a refund has no number of Alepay's own
      providerTransactionId: input.refundId,
      status: 'refunded',
      amount: input.amount,
      currency: 'VND',
      occurredAt: fromAlepayTime(data['refundTime']),
      detail: `refund ${describeCode(code)}`,
      refundId: input.refundId,
    }
  }

  const askRefund = (named: { transactionCode: string; merchantRefundCode: string }) =>
    post(
      'get-refund-info',
      {
        tokenKey,
        data: named,
        checksum: refundChecksum([named.transactionCode, named.merchantRefundCode], checksumKey),
      },
      'unavailable',
    )

  /** Alepay takes a refund in (107, 150), and its bank may refuse it afterwards. */
  async function refusedSince(order: PaymentOrder, input: Refund): Promise<boolean> {
    const transactionCode = input.providerTransactionId ?? order.providerRef
    if (transactionCode === null) return false
    const answer = await askRefund({ transactionCode, merchantRefundCode: input.refundId })
    // The gateway never accepted this refund.
    if (unknown.has(answer.code)) return false
    if (answer.code !== '000')
      throw failure('unavailable', `get-refund-info answered ${describeCode(answer.code)}`)
    return statusOf(textOf(objectOf(answer['data'])['refundStatus'])) === 'failed'
  }

  async function refund(order: PaymentOrder, input: Refund): Promise<PaymentUpdate> {
    if (input.amount <= 0n || input.amount > order.amount)
      throw rejected('a refund must be between 1 đ and what was paid')
    const transactionCode = input.providerTransactionId ?? order.providerRef
    if (transactionCode === null) throw rejected('there is no payment to give back')
    const named = { transactionCode, merchantRefundCode: input.refundId }
    // asked first, so that a refund whose answer was lost is found and not made again
    const before = await askRefund(named)
    if (before.code === '000')
      return refundNotice(order, input, transactionCode, before, [
        'transactionCode',
        'orderCode',
        'merchantRefundCode',
        'refundAmount',
      ])
    if (!unknown.has(before.code))
      throw failure(kindOf(before.code), `get-refund-info answered ${describeCode(before.code)}`)
    if ((await lookUp(order, transactionCode))?.status !== 'succeeded')
      throw rejected('there is no money to give back')
    const refundAmount = input.amount.toString()
    const answer = await post(
      'merchant-request-refund',
      {
        tokenKey,
        data: { ...named, refundAmount, reason: input.reason.normalize('NFC') },
        checksum: refundChecksum([transactionCode, input.refundId, refundAmount], checksumKey),
      },
      'unclear',
    )
    if (answer.code === '107') throw failure('unclear', 'the refund is being processed')
    if (answer.code !== '000')
      throw failure(
        answer.code in texts ? 'rejected' : 'unclear',
        `refund answered ${describeCode(answer.code)}`,
      )
    return refundNotice(order, input, transactionCode, answer, [
      'transactionCode',
      'orderCode',
      'refundAmount',
      'merchantRefundCode',
    ])
  }

  return {
    kind: 'hosted' as const,
    name: 'alepay',
    declineReason,
    displayName: 'Alepay',
    currencies: ['VND'] as const,
    channels,
    credits: 'exact' as const,
    begin,
    readWebhook,
    answerTo,
    lookUp,
    refund,
    refusedSince,
  } satisfies HostedDriver
}
