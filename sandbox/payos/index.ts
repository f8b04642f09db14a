/**
 * payOS as a merchant meets it. Sources: @payos/node 2.0.5 and payOS's documentation at
 * https://payos.vn/docs.
 *
 * For a program in place of a person:
 *   GET <checkoutUrl> the payment page. It holds one form field: <input type="hidden" name="token"
 *   value="…"> POST /payos/web/confirm (application/x-www-form-urlencoded)
 *        token as the page gave it outcome paid | cancelled | late | lost | half | parts | more |
 *        twice | second_lost | both_lost | after_expiry | expired
 *   answers 303 with `location`: returnUrl (cancelUrl when cancelled) with code, id, cancel, status
 *   and orderCode; after half of it the page again, where the rest can be paid. The webhooks, one a
 *   transfer, have been answered by then (except late: about 8 s later; lost: never; and when the
 *   merchant's answer was not 2xx: again after 1, 2, 4 … 60 s, ten times). A cancelled or expired
 *   link is not told of.
 */
import type { Database } from '../database.ts'
import type { Gateway, GatewayOptions, Keys } from '../gateway.ts'
import { checkoutPage, refusedPage, type Choice, type Language } from '../checkout-page.ts'
import { formOf, redirect, withQuery, type Call, type Reply } from '../http.ts'
import { startWebhooks } from '../webhooks.ts'
import { dong, escape } from '../page.ts'
import { account, apiRoutes, qrOf, transferData, vietnamIso } from './api.ts'
import {
  decide,
  findLink,
  isOpen,
  linkTables,
  outcomes,
  paidOf,
  statusOf,
  type Link,
  type Transfer,
} from './links.ts'
import { dataSignature, type Channel } from './sign.ts'

export { linkTables as payosTables }

const gateway = 'payOS'
const texts = {
  merchant: { en: 'Merchant', vi: 'Nhà cung cấp' },
  order: { en: 'Order code', vi: 'Mã đơn hàng' },
  bank: { en: 'Bank', vi: 'Ngân hàng' },
  account: { en: 'Account', vi: 'Số tài khoản' },
  name: { en: 'Account holder', vi: 'Chủ tài khoản' },
  content: { en: 'Content', vi: 'Nội dung' },
  came: { en: 'Came so far', vi: 'Đã nhận' },
  qr: { en: 'Text of the VietQR code', vi: 'Nội dung mã VietQR' },
  nowhere: {
    en: 'This payment is unknown or decided already.',
    vi: 'Giao dịch không tồn tại hoặc đã kết thúc.',
  },
} as const

/**
 * payOS does not know the customer's language: English if the browser's language is English,
 * otherwise Vietnamese.
 */
const languageOf = (call: Call): Language =>
  /^en\b/.test(call.headers['accept-language'] ?? '') ? 'en' : 'vi'
const looks: Readonly<Record<string, Choice['look']>> = { paid: 'main', cancelled: 'stop' }

function paymentPage(link: Link, language: Language): Reply {
  const { request } = link
  const choices = Object.entries(outcomes).map(([outcome, wording]): Choice => {
    const look = looks[outcome]
    return { outcome, text: wording[language], ...(look && { look }) }
  })
  const came = paidOf(link)
  return checkoutPage({
    gateway,
    language,
    expiresAt: link.expiresAt,
    amount: link.amount - came,
    rows: [
      [texts.merchant[language], new URL(request.returnUrl).hostname],
      [texts.order[language], link.orderCode.toString()],
      [texts.bank[language], `${account.bank} (${account.bin})`],
      [texts.account[language], account.number],
      [texts.name[language], account.name],
      [texts.content[language], request.description],
      ...(came > 0n ? [[texts.came[language], dong(came)] as const] : []),
    ],
    returnUrl: request.returnUrl,
    action: '/payos/web/confirm',
    token: link.id,
    choices: choices.filter(({ look }) => look !== undefined),
    others: choices.filter(({ look }) => look === undefined),
    more: `<section class="card"><h2>${escape(texts.qr[language])}</h2><p class="small">
  <code>${escape(qrOf(link))}</code></p></section>
`,
  })
}

/** The body of a webhook about one transfer. */
function webhookBody(link: Link, transfer: Transfer, channel: Channel): string {
  const data = {
    orderCode: Number(link.orderCode),
    ...transferData(link, transfer),
    transactionDateTime: vietnamIso(transfer.at).slice(0, 19).replace('T', ' '),
    currency: 'VND',
    paymentLinkId: link.id,
    code: '00',
    desc: 'Thành công',
  }
  return JSON.stringify({
    code: '00',
    desc: 'success',
    success: true,
    data,
    signature: dataSignature(data, channel.checksumKey),
  })
}

/** Opens payOS for one payment channel: keys `clientId`, `apiKey` and `checksumKey`. */
export function openPayos(db: Database, keys: Keys, options: GatewayOptions): Gateway {
  const channel: Channel = {
    clientId: keys['clientId'] ?? '',
    apiKey: keys['apiKey'] ?? '',
    checksumKey: keys['checksumKey'] ?? '',
  }
  const webhooks = startWebhooks(
    db,
    {
      gateway: 'payos',
      target: options.webhookUrl,
      call: (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body }),
      accepts: ({ status }) => status >= 200 && status < 300,
    },
    options,
  )
  const refuse = (call: Call): Reply =>
    refusedPage(gateway, languageOf(call), texts.nowhere[languageOf(call)], '101')

  async function show(call: Call): Promise<Reply> {
    const link = await findLink(db, 'id', call.params['id'] ?? '')
    return link !== undefined && isOpen(link) ? paymentPage(link, languageOf(call)) : refuse(call)
  }

  async function choose(call: Call): Promise<Reply> {
    const form = formOf(call)
    const name = form.get('outcome') ?? ''
    const outcome = Object.hasOwn(outcomes, name) ? outcomes[name] : undefined
    if (outcome === undefined) return refuse(call)
    const decided = await decide(db, form.get('token') ?? '', outcome, (tx, link, transfer, when) =>
      webhooks.add(tx, webhookBody(link, transfer, channel), when),
    )
    if (decided === undefined) return refuse(call)
    for (const id of decided.webhookIds) await webhooks.sendNow(id)
    webhooks.wake()
    const { link } = decided
    if (isOpen(link)) return redirect(`/payos/web/${link.id}`)
    const cancelled = link.cancelledAt !== null
    const webhook = {
      code: '00',
      id: link.id,
      cancel: String(cancelled),
      status: statusOf(link),
      orderCode: link.orderCode.toString(),
    }
    return redirect(
      withQuery(
        cancelled ? link.request.cancelUrl : link.request.returnUrl,
        new URLSearchParams(webhook).toString(),
      ),
    )
  }

  return {
    routes: {
      'GET /payos/web/:id': show,
      'POST /payos/web/confirm': choose,
      ...apiRoutes(db, channel, options.url),
    },
    close: () => webhooks.close(),
  }
}
