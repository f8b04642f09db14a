/**
 * request-payment, get-transaction-info, merchant-request-refund and get-refund-info: JSON over
 * POST, always answered with status 200 and a code. Codes: 000 done, 101 signature, 104 fields, 105
 * token key, 120 amount, 121 currency, 124 URL, 125 to 130 the buyer's name, e-mail, telephone,
 * address, city and country, 131 payment hours, 136 no such transaction, 111 and 156 as in
 * payments.ts.
 */
import type { Database } from '../database.ts'
import { json, type Call, type Reply, type Routes } from '../http.ts'
import {
  findPayment,
  findRefund,
  refundPayment,
  openPayment,
  statusNow,
  type Payment,
  type PaymentRequest,
  type Refund,
} from './payments.ts'
import { same, sha256, signatureOf, type Merchant } from './sign.ts'

const messages: Readonly<Record<string, string>> = {
  '000': 'Thành công',
  '101': 'Checksum không hợp lệ',
  '104': 'Dữ liệu không hợp lệ',
  '105': 'TokenKey không hợp lệ',
  '107': 'Giao dịch đang được xử lý',
  '111': 'Giao dịch thất bại',
  '120': 'Số tiền phải lớn hơn 0',
  '121': 'Loại tiền tệ không hợp lệ',
  '124': 'URL không hợp lệ',
  '131': 'Thời gian thanh toán không hợp lệ',
  '135': 'Ngân hàng phát hành từ chối',
  '136': 'Không tìm thấy giao dịch',
  '150': 'Thẻ đang chờ duyệt',
  '154': 'Vượt hạn mức thẻ',
  '156': 'Số tiền không hợp lệ',
}
export const messageOf = (code: string): string =>
  messages[code] ?? 'Thông tin người mua không hợp lệ'
const refuse = (code: string): Reply => json({ code, message: messageOf(code) })

type Fields = Readonly<Record<string, unknown>>
function bodyOf(call: Call): Fields | undefined {
  try {
    const value: unknown = JSON.parse(call.body.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 255
const isUrl = (value: unknown): boolean =>
  isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
const matches = (shape: RegExp) => (value: unknown) => isText(value) && shape.test(value)

/**
 * The fields of request-payment, in the order of their checks: whether a field is required, its
 * valid values, and the code if it is invalid.
 */
const fields: Readonly<
  Record<
    string,
    { readonly must: boolean; readonly is: (value: unknown) => boolean; readonly code: string }
  >
> = {
  tokenKey: { must: true, is: isText, code: '105' },
  signature: { must: true, is: isText, code: '101' },
  orderCode: { must: true, is: matches(/^[\x21-\x7e]{1,50}$/), code: '104' },
  customMerchantId: { must: true, is: isText, code: '104' },
  amount: {
    must: true,
    is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
    code: '120',
  },
  currency: { must: true, is: (value) => value === 'VND', code: '121' },
  orderDescription: { must: true, is: isText, code: '104' },
  totalItem: {
    must: true,
    is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
    code: '104',
  },
  returnUrl: { must: true, is: isUrl, code: '124' },
  cancelUrl: { must: true, is: isUrl, code: '124' },
  buyerName: { must: true, is: isText, code: '125' },
  buyerEmail: { must: true, is: matches(/^[^\s@]+@[^\s@]+\.[^\s@]+$/), code: '126' },
  buyerPhone: { must: true, is: matches(/^0\d{9,10}$/), code: '127' },
  buyerAddress: { must: true, is: isText, code: '128' },
  buyerCity: { must: true, is: isText, code: '129' },
  buyerCountry: { must: true, is: isText, code: '130' },
  paymentHours: {
    must: false,
    is: (value) => isText(value) && Number(value) > 0 && Number(value) <= 720,
    code: '131',
  },
  checkoutType: {
    must: false,
    is: (value) => [0, 1, 2, 3, 4].includes(value as number),
    code: '104',
  },
  installment: { must: false, is: (value) => value === false, code: '104' },
  allowDomestic: { must: false, is: (value) => typeof value === 'boolean', code: '104' },
  language: { must: false, is: (value) => value === 'vi' || value === 'en', code: '104' },
}

/** The code for an invalid request; undefined for a valid one. */
function faultOf(body: Fields, merchant: Merchant): string | undefined {
  if (body['tokenKey'] !== merchant.tokenKey) return '105'
  if (!same(signatureOf(body, merchant.checksumKey), body['signature'])) return '101'
  if (Object.keys(body).some((name) => !Object.hasOwn(fields, name))) return '104'
  return Object.entries(fields).find(([name, { must, is }]) =>
    name in body ? !is(body[name]) : must,
  )?.[1].code
}

/** A payment's fields in responses and in the webhook. */
export const transactionFields = (payment: Payment): Fields => {
  const status = statusNow(payment)
  return {
    transactionCode: payment.transactionCode,
    orderCode: payment.orderCode,
    currency: 'VND',
    buyerEmail: payment.request.buyerEmail,
    buyerPhone: payment.request.buyerPhone,
    buyerName: payment.request.buyerName,
    cardNumber: status === '107' ? '' : '970456-XXXX-5656',
    status,
    message: messageOf(status),
    reason: '',
    installment: false,
    is3D: false,
    month: 0,
    bankCode: 'VIETINBANK',
    bankName: 'VietinBank',
    method: 'ATM_ON',
    bankType: 'DOMESTIC',
    merchantFee: 0,
  }
}

export function apiRoutes(db: Database, merchant: Merchant, url: () => string): Routes {
  const { tokenKey, checksumKey } = merchant
  const signed = (answer: Fields): Reply =>
    json({ ...answer, signature: signatureOf(answer, checksumKey) })

  async function requestPayment(call: Call): Promise<Reply> {
    const body = bodyOf(call)
    if (body === undefined) return refuse('104')
    const fault = faultOf(body, merchant)
    if (fault !== undefined) return refuse(fault)
    const request = { language: 'vi', paymentHours: '0.5', ...body } as unknown as PaymentRequest
    const payment = await openPayment(db, request)
    // The same request again returns the same payment until it is decided. Any other request with
    // its order code would be a second payment.
    if (payment.signature !== request.signature || payment.status !== '107') return refuse('104')
    return signed({
      code: '000',
      message: messageOf('000'),
      transactionCode: payment.transactionCode,
      checkoutUrl: `${url()}/alepay/checkout/pay?token=${payment.token}`,
    })
  }

  async function transactionInfo(call: Call): Promise<Reply> {
    const body = bodyOf(call)
    if (
      body === undefined ||
      Object.keys(body).sort().join() !== 'signature,tokenKey,transactionCode'
    )
      return refuse('104')
    if (body['tokenKey'] !== tokenKey) return refuse('105')
    if (!same(signatureOf(body, checksumKey), body['signature'])) return refuse('101')
    const { transactionCode } = body
    if (!isText(transactionCode)) return refuse('104')
    const payment = await findPayment(db, 'transaction_code', transactionCode)
    if (payment === undefined) return refuse('136')
    const at = (payment.decidedAt ?? payment.createdAt).getTime()
    return signed({
      code: '000',
      message: messageOf('000'),
      ...transactionFields(payment),
      // In answers to queries Alepay writes amounts as text.
      amount: payment.amount.toString(),
      description: payment.request.orderDescription,
      transactionTime: payment.createdAt.getTime(),
      successTime: payment.status === '000' ? at : 0,
      bankHotline: '1900558868',
      payerFee: 0,
      authenCode: '',
    })
  }

  /** The `data` of a refund call whose token and checksum hold, or the code of the refusal. */
  function refundData(
    call: Call,
    names: readonly string[],
    summed: readonly string[],
  ): Readonly<Record<string, string>> | string {
    const body = bodyOf(call)
    if (body === undefined || Object.keys(body).sort().join() !== 'checksum,data,tokenKey')
      return '104'
    if (body['tokenKey'] !== tokenKey) return '105'
    const { data } = body
    if (typeof data !== 'object' || data === null) return '104'
    const entries = Object.entries(data)
    if (!entries.every(([name, value]) => names.includes(name) && isText(value))) return '104'
    const texts = Object.fromEntries(entries) as Record<string, string>
    if (!summed.every((name) => name in texts)) return '104'
    return same(sha256(...summed.map((name) => texts[name] ?? ''), checksumKey), body['checksum'])
      ? texts
      : '101'
  }
  const about = (
    payment: Payment,
    refund: Refund,
    order: readonly ('orderCode' | 'refundAmount' | 'merchantRefundCode')[],
  ): Reply => {
    const data = {
      transactionCode: payment.transactionCode,
      merchantRefundCode: refund.merchantRefundCode,
      orderCode: payment.orderCode,
      refundAmount: refund.amount.toString(),
      reason: refund.reason,
      refundStatus: refund.status,
      refundTime: refund.createdAt.getTime(),
    }
    const checksum = sha256(data.transactionCode, ...order.map((name) => data[name]), checksumKey)
    return json({ code: '000', message: messageOf('000'), data: { ...data, checksum } })
  }

  async function requestRefund(call: Call): Promise<Reply> {
    const data = refundData(
      call,
      ['transactionCode', 'merchantRefundCode', 'refundAmount', 'reason'],
      ['transactionCode', 'merchantRefundCode', 'refundAmount'],
    )
    if (typeof data === 'string') return refuse(data)
    const { transactionCode = '', merchantRefundCode = '', refundAmount = '', reason = '' } = data
    if (!/^[1-9]\d{0,14}$/.test(refundAmount)) return refuse('156')
    const given = await refundPayment(db, {
      transactionCode,
      merchantRefundCode,
      amount: BigInt(refundAmount),
      reason,
    })
    return typeof given === 'string'
      ? refuse(given)
      : about(given.payment, given.refund, ['orderCode', 'refundAmount', 'merchantRefundCode'])
  }

  async function refundInfo(call: Call): Promise<Reply> {
    const names = ['transactionCode', 'merchantRefundCode']
    const data = refundData(call, names, names)
    if (typeof data === 'string') return refuse(data)
    const refund = await findRefund(db, data['merchantRefundCode'] ?? '')
    const payment = refund && (await findPayment(db, 'transaction_code', refund.transactionCode))
    if (
      refund === undefined ||
      payment === undefined ||
      payment.transactionCode !== data['transactionCode']
    )
      return refuse('136')
    return about(payment, refund, ['orderCode', 'merchantRefundCode', 'refundAmount'])
  }

  return {
    'POST /alepay/api/v3/checkout/request-payment': requestPayment,
    'POST /alepay/api/v3/checkout/get-transaction-info': transactionInfo,
    'POST /alepay/api/v3/checkout/merchant-request-refund': requestRefund,
    'POST /alepay/api/v3/checkout/get-refund-info': refundInfo,
  }
}
