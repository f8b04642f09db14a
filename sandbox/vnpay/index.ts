/**
 * VNPay PAY 2.1.0 as a merchant meets it.
 * Source: https://sandbox.vnpayment.vn/apis/docs/thanh-toan-pay/pay.html
 *
 * For a program in place of a person:
 *   GET <payUrl>?vnp_…&vnp_SecureHash=… the payment page. It holds one form field: <input
 *   type="hidden" name="token" value="…"> POST /vnpay/paymentv2/Transaction/Confirm.html
 *   (application/x-www-form-urlencoded)
 *        token    as the page gave it
 *        outcome  paid | insufficient | cancelled | late | lost | suspicious |
 *                 wrong_otp | wrong_details | not_registered | locked | over_limit | maintenance |
 *                 other
 *   answers 303 with `location`: vnp_ReturnUrl and the signed parameters. The IPN has been answered
 *   by then (except late: about 8 s later; lost: never; and when the merchant did not answer 00 or
 *   02: again after 1, 2, 4 … 60 s, ten times). A refused link answers 303 to
 *   /vnpay/paymentv2/Payment/Error.html?code=…: 01 reference used before, 03 format, 15 expired, 70
 *   signature, 72 unknown terminal.
 */
import type { Database } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { formOf, redirect, withQuery, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { apiRoutes } from './api.ts'
import { errorPage, paymentPage } from './page.ts'
import { decide, openPayment, outcomes, webhookFields, type Payment } from './payments.ts'
import {
  formEncode,
  hash,
  hashMatches,
  momentOf,
  readQuery,
  signedQuery,
  type Fields,
  type VnpayTerminal,
} from './sign.ts'

export { paymentTables as vnpayTables } from './payments.ts'

const shapes: Readonly<Record<string, RegExp>> = {
  vnp_Version: /^2\.1\.0$/,
  vnp_Command: /^pay$/,
  vnp_Amount: /^[1-9]\d{0,11}$/,
  vnp_CurrCode: /^VND$/,
  vnp_TxnRef: /^[\x21-\x7e]{1,100}$/,
  vnp_OrderInfo: /^[A-Za-z0-9 .:_-]{1,255}$/,
  vnp_OrderType: /^[\w-]{1,100}$/,
  vnp_Locale: /^(?:vn|en)$/,
  vnp_IpAddr: /^[0-9A-Fa-f.:]{7,45}$/,
  vnp_ReturnUrl: /^https?:\/\/.{3,248}$/,
  vnp_CreateDate: /^\d{14}$/,
  vnp_ExpireDate: /^\d{14}$/,
}

/**
 * The code of VNPay's error page for an invalid link; for a valid one, the time at which it
 * expires.
 */
function refusal(
  fields: Fields,
  given: string | undefined,
  terminal: VnpayTerminal,
): { code: string } | { expiresAt: Date } {
  if (fields['vnp_TmnCode'] !== terminal.tmnCode) return { code: '72' }
  if (!hashMatches(hash(terminal.secret, formEncode(fields)), given)) return { code: '70' }
  if (!Object.entries(shapes).every(([name, shape]) => shape.test(fields[name] ?? '')))
    return { code: '03' }
  if (
    !['', 'VNBANK', 'INTCARD', 'VNPAYQR', 'NCB'].includes(fields['vnp_BankCode'] ?? '') ||
    !URL.canParse(fields['vnp_ReturnUrl'] ?? '')
  )
    return { code: '03' }
  const expiresAt = momentOf(fields['vnp_ExpireDate'])
  if (momentOf(fields['vnp_CreateDate']) === undefined || expiresAt === undefined)
    return { code: '03' }
  return { expiresAt }
}

/** Whether the merchant's answer to an IPN is final: RspCode 00 or 02. */
function confirmed(body: string): boolean {
  try {
    const response: unknown = JSON.parse(body)
    const code =
      typeof response === 'object' && response !== null && 'RspCode' in response
        ? response.RspCode
        : undefined
    return code === '00' || code === '02'
  } catch {
    return false
  }
}

/** Opens VNPay for one terminal: keys `tmnCode` and `secret`. */
export function openVnpay(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const terminal: VnpayTerminal = { tmnCode: keys['tmnCode'] ?? '', secret: keys['secret'] ?? '' }
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'vnpay',
      target: options.webhookUrl,
      call: (query) => ({ method: 'GET', query }),
      accepts: ({ body }) => confirmed(body),
    },
    options,
  )
  const signed = (payment: Payment): string => signedQuery(webhookFields(payment), terminal.secret)
  const back = (payment: Payment): Reply =>
    redirect(withQuery(payment.request['vnp_ReturnUrl'] ?? '', signed(payment)))
  const refuse = (code: string, locale: string | undefined): Reply =>
    redirect(
      `/vnpay/paymentv2/Payment/Error.html?code=${code}&lang=${locale === 'en' ? 'en' : 'vn'}`,
    )

  async function show({ query }: Call): Promise<Reply> {
    const { fields, given } = readQuery(query)
    const verdict = refusal(fields, given, terminal)
    if ('code' in verdict) return refuse(verdict.code, fields['vnp_Locale'])
    const expired = verdict.expiresAt.getTime() <= Date.now()
    if (expired) return refuse('15', fields['vnp_Locale'])
    const requestHash = (given ?? '').toLowerCase()
    const payment = await openPayment(db, fields, requestHash, verdict.expiresAt)
    // The same link may be loaded again until the customer has chosen. Any other link with this
    // reference would be a second payment.
    if (payment.requestHash !== requestHash || payment.responseCode !== null)
      return refuse('01', fields['vnp_Locale'])
    return paymentPage(payment)
  }

  async function choose(call: Call): Promise<Reply> {
    const form = formOf(call)
    const outcome = Object.hasOwn(outcomes, form.get('outcome') ?? '')
      ? outcomes[form.get('outcome') ?? '']
      : undefined
    if (outcome === undefined) return refuse('03', 'vn')
    const decided = await decide(db, form.get('token') ?? '', outcome, (tx, payment, when) =>
      webhooks.add(tx, signed(payment), when),
    )
    if (decided === undefined) return refuse('03', 'vn')
    if (decided.webhookId !== null) await webhooks.sendNow(decided.webhookId)
    else webhooks.wake()
    return back(decided.payment)
  }

  return {
    routes: {
      'GET /vnpay/paymentv2/vpcpay.html': show,
      'POST /vnpay/paymentv2/Transaction/Confirm.html': choose,
      'GET /vnpay/paymentv2/Payment/Error.html': ({ query }) =>
        errorPage(query.get('code') ?? '99', query.get('lang') === 'en' ? 'en' : 'vi'),
      ...apiRoutes(db, terminal),
    },
    close: () => webhooks.close(),
  }
}
