/**
 * Alepay version 3 as a merchant meets it. Sources: the guide at https://sandbox-guide.alepay.vn
 * and "Alepay, checkout payment gateway, version 3.0" (January 2021).
 *
 * For a program in place of a person:
 *   GET <checkoutUrl> the payment page. It holds one form field: <input type="hidden" name="token"
 *   value="…"> POST /alepay/checkout/confirm (application/x-www-form-urlencoded)
 *        token as the page gave it outcome paid | declined | cancelled | late | lost | review |
 *        failed | over_limit; after a review: approved | refused
 *   answers 303 with `location`: returnUrl (cancelUrl when cancelled) with transactionCode and
 *   errorCode. The webhook has been answered by then (except late: about 8 s later; lost: never;
 *   and when the merchant's answer was not 2xx: again after 1, 2, 4 … 60 s, ten times). A payment
 *   under review stays at checkoutUrl, where the bank's decision can be made.
 */
import type { Database } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { checkoutPage, refusedPage, type Choice, type Language } from '../checkout-page.ts'
import { formOf, redirect, withQuery, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { apiRoutes, messageOf, transactionFields } from './api.ts'
import {
  decide,
  findPayment,
  outcomes,
  reviewOutcomes,
  type Outcome,
  type Payment,
} from './payments.ts'
import { md5, type Merchant } from './sign.ts'

export { paymentTables as alepayTables } from './payments.ts'

const gateway = 'Alepay'
const rows = {
  merchant: { en: 'Merchant', vi: 'Nhà cung cấp' },
  order: { en: 'Order', vi: 'Mã đơn hàng' },
  purpose: { en: 'Description', vi: 'Nội dung' },
  buyer: { en: 'Buyer', vi: 'Người mua' },
  number: { en: 'Transaction', vi: 'Mã giao dịch' },
} as const
const nowhere = {
  en: 'This payment is unknown or decided already.',
  vi: 'Giao dịch không tồn tại hoặc đã kết thúc.',
} as const
const looks: Readonly<Record<string, Choice['look']>> = {
  paid: 'main',
  approved: 'main',
  declined: 'fail',
  refused: 'fail',
  cancelled: 'stop',
}

function paymentPage(payment: Payment): Reply {
  const { request } = payment
  const { language } = request
  const choice = ([outcome, wording]: readonly [string, Outcome]): Choice => {
    const look = looks[outcome]
    return { outcome, text: wording[language], ...(look && { look }) }
  }
  const review = payment.status === '150'
  const all = Object.entries(review ? reviewOutcomes : outcomes)
  return checkoutPage({
    gateway,
    language,
    expiresAt: payment.expiresAt,
    amount: payment.amount,
    rows: [
      [rows.merchant[language], new URL(request.returnUrl).hostname],
      [rows.order[language], payment.orderCode],
      [rows.purpose[language], request.orderDescription],
      [rows.buyer[language], request.buyerName],
      [rows.number[language], payment.transactionCode],
    ],
    returnUrl: request.returnUrl,
    action: '/alepay/checkout/confirm',
    token: payment.token,
    choices: all.filter(([name]) => name in looks).map(choice),
    others: all.filter(([name]) => !(name in looks)).map(choice),
  })
}

/** The body of a webhook; the checksum covers the amount as it is written there. */
function webhookBody(payment: Payment, merchant: Merchant): string {
  const amount = Number(payment.amount)
  return JSON.stringify({
    transactionInfo: { ...transactionFields(payment), amount, customerFeeAmount: 0 },
    checksum: md5(payment.orderCode, String(amount), payment.transactionCode, merchant.checksumKey),
  })
}

/** Opens Alepay for one merchant: keys `tokenKey` and `checksumKey`. */
export function openAlepay(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const merchant: Merchant = {
    tokenKey: keys['tokenKey'] ?? '',
    checksumKey: keys['checksumKey'] ?? '',
  }
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'alepay',
      target: options.webhookUrl,
      call: (body) => ({
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body,
      }),
      accepts: ({ status }) => status >= 200 && status < 300,
    },
    options,
  )
  const refuse = (language: Language): Reply =>
    refusedPage(gateway, language, nowhere[language], '136')

  async function show({ query }: Call): Promise<Reply> {
    const payment = await findPayment(db, 'token', query.get('token') ?? '')
    if (payment === undefined || !['107', '150'].includes(payment.status))
      return refuse(payment?.request.language ?? 'vi')
    if (payment.status === '107' && payment.expiresAt.getTime() <= Date.now())
      return refusedPage(gateway, payment.request.language, messageOf('131'), '131')
    return paymentPage(payment)
  }

  async function choose(call: Call): Promise<Reply> {
    const form = formOf(call)
    const decided = await decide(
      db,
      form.get('token') ?? '',
      form.get('outcome') ?? '',
      (tx, payment, when) => webhooks.add(tx, webhookBody(payment, merchant), when),
    )
    if (decided === undefined) return refuse('vi')
    if (decided.webhookId !== null) await webhooks.sendNow(decided.webhookId)
    else webhooks.wake()
    const { payment } = decided
    const webhook = new URLSearchParams({
      transactionCode: payment.transactionCode,
      errorCode: payment.status,
    })
    if (payment.cancelled) webhook.set('cancel', 'true')
    return redirect(
      withQuery(
        payment.cancelled ? payment.request.cancelUrl : payment.request.returnUrl,
        webhook.toString(),
      ),
    )
  }

  return {
    routes: {
      'GET /alepay/checkout/pay': show,
      'POST /alepay/checkout/confirm': choose,
      ...apiRoutes(db, merchant, options.url),
    },
    close: () => webhooks.close(),
  }
}
