/**
 * VNPay, PAY 2.1.0. Đồng only. Written by hand because npm's `vnpay` 2.5.0 errs on dates, refunds
 * and unsigned answers.
 */
import { randomUUID } from 'node:crypto'
import { DriverFailure, type DriverFailureKind } from '../../../platform/errors.ts'
import {
  ForgedWebhook,
  type HostedDriver,
  type PaymentUpdate,
  type WebhookResponse,
  type UpdateOutcome,
  type WebhookRequest,
  type PaymentOrder,
  type Refund,
} from '../../driver.ts'
import { createApi, type ApiAnswer } from './api.ts'
import {
  answers,
  responseTexts,
  statusOfNotice,
  statusOfTransaction,
  declineReason,
} from './codes.ts'
import {
  fromVnpayAmount,
  fromVnpayDate,
  plainText,
  requestId,
  toVnpayAmount,
  toVnpayDate,
  vnpayIp,
} from './convert.ts'
import type { VnpaySettings } from './settings.ts'
import { signedUrl, verifiedFields } from './sign.ts'

/** '' lets the customer choose at VNPay. */
const channels = ['', 'VNBANK', 'INTCARD', 'VNPAYQR'] as const
const version = '2.1.0'

const rejected = (why: string): DriverFailure => new DriverFailure('rejected', `vnpay: ${why}`)
/** '0' and '' say that no money moved. */
const movement = (transactionNo: string | undefined): string | null =>
  transactionNo === undefined || /^0*$/.test(transactionNo) ? null : transactionNo
const querydrSays = (transactionStatus: string): string => `querydr ${transactionStatus}`
const refundRefused = querydrSays('09')
const purpose = (order: PaymentOrder): string =>
  plainText(`${order.language === 'vi' ? 'Nap tien vi' : 'Wallet top-up'} ${order.reference}`)

const minuteMs = 60_000
/**
 * Whether VNPay surely counts both moments to one day, on which a request id is taken once. Its
 * clock may differ from ours by a minute.
 */
const isOfToday = (moment: Date): boolean =>
  dayOf(new Date(moment.getTime() - minuteMs)) === dayOf(new Date(Date.now() + minuteMs))
const dayOf = (moment: Date): string => toVnpayDate(moment).slice(0, 8)

/** Opens the driver. It keeps no state and touches the network only in lookUp and refund. */
export function createVnpay(settings: VnpaySettings) {
  const { tmnCode, secret } = settings
  const ask = createApi(settings)

  function begin(order: PaymentOrder): { checkoutUrl: string; providerRef: null } {
    if (order.currency !== 'VND') throw rejected(`takes VND, not ${order.currency}`)
    if (!channels.some((channel) => channel === order.channel)) throw rejected('no such channel')
    if (!/^[A-Za-z0-9]{1,32}$/.test(order.reference))
      throw rejected('the code must be 1 to 32 letters and digits')
    const amount = toVnpayAmount(order.amount)
    if (order.amount <= 0n || amount.length > 12) throw rejected('the amount is out of range')
    if (order.expiresAt <= order.createdAt) throw rejected('the payment expires before it begins')
    if (order.returnUrl.length < 10 || order.returnUrl.length > 255)
      throw rejected('the return URL must have 10 to 255 characters')
    const fields = {
      vnp_Version: version,
      vnp_Command: 'pay',
      vnp_TmnCode: tmnCode,
      vnp_Amount: amount,
      vnp_CurrCode: 'VND',
      vnp_BankCode: order.channel,
      vnp_TxnRef: order.reference,
      vnp_OrderInfo: purpose(order),
      vnp_OrderType: 'other',
      vnp_Locale: order.language === 'vi' ? 'vn' : 'en',
      vnp_IpAddr: vnpayIp(order.ip),
      vnp_ReturnUrl: order.returnUrl,
      vnp_CreateDate: toVnpayDate(order.createdAt),
      vnp_ExpireDate: toVnpayDate(order.expiresAt),
    }
    return { checkoutUrl: signedUrl(settings.payUrl, fields, secret), providerRef: null }
  }

  function readWebhook(request: WebhookRequest): PaymentUpdate {
    const fields = verifiedFields(request.query, secret)
    if (fields === undefined) throw new ForgedWebhook('vnpay: the signature does not hold')
    const {
      vnp_TmnCode,
      vnp_ResponseCode: responseCode,
      vnp_TransactionStatus: transactionStatus,
    } = fields
    if (vnp_TmnCode !== tmnCode)
      throw new ForgedWebhook('vnpay: the webhook is for another terminal')
    // our own payment URL is signed with the same key and every customer sees it: it lacks these
    // codes
    if (responseCode === undefined || transactionStatus === undefined)
      throw new ForgedWebhook('vnpay: signed, but not about a payment')
    const amount = fromVnpayAmount(fields['vnp_Amount'])
    if (amount === undefined) throw rejected('a signed webhook with an amount that cannot be read')
    const code = fields['vnp_TxnRef'] ?? null
    const transactionNo = fields['vnp_TransactionNo'] ?? '0'
    return {
      eventId: [
        'notice',
        code ?? '',
        transactionNo,
        responseCode,
        transactionStatus,
        fields['vnp_Amount'],
      ].join(':'),
      reference: code,
      providerTransactionId: movement(transactionNo),
      status: statusOfNotice(responseCode, transactionStatus),
      amount,
      currency: 'VND',
      occurredAt: fromVnpayDate(fields['vnp_PayDate']),
      detail:
        `${responseCode}/${transactionStatus}` +
        `${responseCode in responseTexts ? ` ${responseTexts[responseCode]}` : ''}`,
    }
  }

  function answerTo(outcome: UpdateOutcome): WebhookResponse {
    return {
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify(answers[outcome]),
    }
  }

  /** The fields that both questions share. */
  const question = (order: PaymentOrder, id: string, why: string): Record<string, string> => ({
    vnp_RequestId: id,
    vnp_Version: version,
    vnp_TmnCode: tmnCode,
    vnp_TxnRef: order.reference,
    vnp_OrderInfo: plainText(why) || purpose(order),
    vnp_TransactionDate: toVnpayDate(order.createdAt),
    vnp_CreateDate: toVnpayDate(new Date()),
    vnp_IpAddr: vnpayIp(order.ip),
  })

  /**
   * A signed answer about this very payment, with its amount; a replayed answer about another is a
   * failure.
   */
  function about(order: PaymentOrder, answer: ApiAnswer, kind: DriverFailureKind): bigint {
    const amount = fromVnpayAmount(answer['vnp_Amount'])
    if (answer['vnp_TxnRef'] !== order.reference || amount === undefined)
      throw new DriverFailure(kind, 'vnpay: the answer is about something else')
    return amount
  }

  async function lookUp(order: PaymentOrder): Promise<PaymentUpdate | null> {
    const queryFields = question(
      order,
      randomUUID().replaceAll('-', ''),
      `Truy van giao dich ${order.reference}`,
    )
    const answer = await ask('query', { ...queryFields, vnp_Command: 'querydr' })
    const apiCode = answer['vnp_ResponseCode'] ?? ''
    if (apiCode === '91') return null
    if (apiCode !== '00')
      throw new DriverFailure(
        apiCode === '94' || apiCode === '99' ? 'unavailable' : 'rejected',
        `vnpay: querydr answered ${apiCode}`,
      )
    const amount = about(order, answer, 'unavailable')
    const transactionStatus = answer['vnp_TransactionStatus'] ?? ''
    const transactionNo = answer['vnp_TransactionNo'] ?? '0'
    return {
      eventId: [
        'query',
        order.reference,
        transactionNo,
        transactionStatus,
        answer['vnp_Amount'],
      ].join(':'),
      reference: order.reference,
      providerTransactionId: movement(transactionNo),
      status: statusOfTransaction(transactionStatus),
      amount,
      currency: 'VND',
      occurredAt: fromVnpayDate(answer['vnp_PayDate']),
      detail: querydrSays(transactionStatus),
    }
  }

  async function refund(order: PaymentOrder, input: Refund): Promise<PaymentUpdate> {
    if (input.amount <= 0n || input.amount > order.amount)
      throw rejected('a refund must be between 1 đ and what was paid')
    const full = input.amount === order.amount
    // querydr does not tell which parts went back, so only the request id keeps a part from going
    // back twice
    if (!full && input.firstAskedAt !== undefined && !isOfToday(input.firstAskedAt))
      throw rejected('this part was asked for on another day, and may have gone back then')
    // VNPay remembers a request id for a day only, so we ask before we give money back: a full
    // refund is never asked for twice
    const before = await lookUp(order)
    if (before?.status === 'refunded') {
      if (full) return before
      throw new DriverFailure(
        'unclear',
        'vnpay: all of it went back before, perhaps by this very refund',
      )
    }
    if (before?.status !== 'succeeded') throw rejected('there is no money to give back')
    const id = requestId(input.refundId)
    const refundFields = {
      ...question(order, id, input.reason),
      vnp_Command: 'refund',
      vnp_TransactionType: full ? '02' : '03',
      vnp_Amount: toVnpayAmount(input.amount),
      vnp_TransactionNo: input.providerTransactionId ?? before.providerTransactionId ?? '0',
      vnp_CreateBy: 'portal',
    }
    const answer = await ask('refund', refundFields)
    const apiCode = answer['vnp_ResponseCode'] ?? ''
    if (apiCode === '94') {
      const after = full ? await lookUp(order) : null
      if (after?.status === 'refunded') return after
      throw new DriverFailure(
        'unclear',
        'vnpay: this refund was asked for before and is being processed',
      )
    }
    if (apiCode !== '00')
      throw new DriverFailure(
        apiCode === '99' || apiCode === '' ? 'unclear' : 'rejected',
        `vnpay: refund answered ${apiCode}`,
      )
    const amount = about(order, answer, 'unclear')
    if (amount !== input.amount)
      throw new DriverFailure('unclear', 'vnpay: another amount was refunded than asked for')
    const transactionStatus = answer['vnp_TransactionStatus'] ?? ''
    if (transactionStatus === '09' || transactionStatus === '02')
      throw rejected(`refund refused, ${transactionStatus}`)
    return {
      eventId: ['refund', id, answer['vnp_TransactionNo'] ?? '0', transactionStatus].join(':'),
      reference: order.reference,
      providerTransactionId: movement(answer['vnp_TransactionNo']),
      status: 'refunded',
      amount,
      currency: 'VND',
      occurredAt: fromVnpayDate(answer['vnp_PayDate']),
      detail: `refund ${transactionStatus}`,
    }
  }

  return {
    kind: 'hosted' as const,
    name: 'vnpay',
    declineReason,
    displayName: 'VNPay',
    currencies: ['VND'] as const,
    channels,
    credits: 'exact' as const,
    begin: async (order) => begin(order),
    readWebhook,
    answerTo,
    lookUp,
    refund,
    // querydr tells of the last refund of a payment; 09 is the bank's no to it.
    refusedSince: async (order) => (await lookUp(order))?.detail === refundRefused && 'some',
  } satisfies HostedDriver
}
