/** The payment page and the error page, in the customer's language. */
import type { Reply } from '../http.ts'
import { dong, escape, page, vietnamTime } from '../page.ts'
import { outcomes, type Payment } from './payments.ts'

type Language = 'en' | 'vi'
interface Texts {
  readonly flag: string
  readonly title: string
  readonly merchant: string
  readonly order: string
  readonly purpose: string
  readonly amount: string
  readonly left: string
  readonly until: string
  readonly pay: string
  readonly cancel: string
  readonly insufficient: string
  readonly others: string
  readonly othersHint: string
  readonly channels: Readonly<Record<string, string>>
  readonly method: string
}
const texts: Readonly<Record<Language, Texts>> = {
  en: {
    flag: 'SANDBOX · a trial page, no real money moves',
    title: 'Confirm your payment',
    merchant: 'Merchant',
    order: 'Order',
    purpose: 'Description',
    amount: 'Amount',
    left: 'Time left',
    until: 'until',
    pay: 'Pay',
    cancel: 'Cancel',
    insufficient: 'Fail: not enough money',
    others: 'Try another outcome',
    othersHint:
      'Only in the sandbox: what else a bank may say, and notices that come late or never.',
    method: 'Method',
    channels: {
      '': 'Choose here',
      VNBANK: 'Domestic card or account',
      INTCARD: 'International card',
      VNPAYQR: 'VNPAY-QR',
    },
  },
  vi: {
    flag: 'SANDBOX · trang thử nghiệm, không có tiền thật',
    title: 'Xác nhận thanh toán',
    merchant: 'Nhà cung cấp',
    order: 'Mã đơn hàng',
    purpose: 'Nội dung',
    amount: 'Số tiền',
    left: 'Thời gian còn lại',
    until: 'đến',
    pay: 'Thanh toán',
    cancel: 'Huỷ giao dịch',
    insufficient: 'Thất bại: không đủ số dư',
    others: 'Thử kết quả khác',
    othersHint:
      'Chỉ có trong sandbox: những trả lời khác của ngân hàng, và IPN đến muộn hoặc bị mất.',
    method: 'Phương thức',
    channels: {
      '': 'Chọn tại đây',
      VNBANK: 'Thẻ hoặc tài khoản nội địa',
      INTCARD: 'Thẻ quốc tế',
      VNPAYQR: 'VNPAY-QR',
    },
  },
}
const brand =
  '<header class="brand"><span class="logo">VN<b>PAY</b></span><span class="badge">SANDBOX</sp' +
  'an></header>'
const form = (token: string, buttons: string): string =>
  '<form method="post" action="/vnpay/paymentv2/Transaction/Confirm.html">' +
  `<input type="hidden" name="token" value="${escape(token)}">${buttons}</form>`
const choice = (outcome: string, text: string, look = ''): string =>
  `<button name="outcome" value="${outcome}" class="${look}">${escape(text)}</button>`

export function paymentPage(payment: Payment): Reply {
  const { request } = payment
  const language: Language = request['vnp_Locale'] === 'en' ? 'en' : 'vi'
  const text = texts[language]
  const returnUrl = new URL(request['vnp_ReturnUrl'] ?? '')
  const others = Object.entries(outcomes).filter(
    ([name]) => !['paid', 'insufficient', 'cancelled'].includes(name),
  )
  const seconds = Math.max(0, Math.ceil((payment.expiresAt.getTime() - Date.now()) / 1000))
  const clock =
    `${String(Math.floor(seconds / 60)).padStart(2, '0')}:` +
    `${String(seconds % 60).padStart(2, '0')}`
  const row = (name: string, value: string): string =>
    `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`
  const bankCode = request['vnp_BankCode'] ?? ''
  const decisions =
    choice('paid', text.pay, 'main') +
    choice('insufficient', text.insufficient, 'fail') +
    choice('cancelled', text.cancel, 'stop')
  return page({
    title: `${text.title} — VNPAY sandbox`,
    language,
    look: 'pay',
    formOrigin: returnUrl.origin,
    main: `<div class="flag">${escape(text.flag)}</div>
<main>
${brand}
<section class="card">
<h1>${escape(text.title)}</h1>
<p class="soft small">${escape(text.left)}: <span class="time"
  data-until="${payment.expiresAt.getTime()}">${clock}</span> (${escape(text.until)}
  ${escape(vietnamTime(payment.expiresAt))} GMT+7)</p>
<p class="soft small">${escape(text.amount)}</p>
<p class="amount">${escape(dong(payment.amount / 100n))}</p>
<dl>
${row(text.merchant, `${returnUrl.hostname} (${payment.tmnCode})`)}
${row(text.order, payment.txnRef)}
${row(text.purpose, request['vnp_OrderInfo'] ?? '')}
${row(text.method, text.channels[bankCode] ?? bankCode)}
</dl>
</section>
<section class="card">
${form(payment.token, decisions)}
</section>
<section class="card"><details><summary>${escape(text.others)}</summary>
<p class="soft small">${escape(text.othersHint)}</p>
${form(payment.token, others.map(([name, outcome]) => choice(name, outcome[language])).join(''))}
</details></section>
</main>`,
  })
}

const errorTexts: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  '01': { en: 'This order has been paid or was used before.', vi: 'Giao dịch đã tồn tại.' },
  '03': {
    en: 'The data sent is not in the right format.',
    vi: 'Dữ liệu gửi sang không đúng định dạng.',
  },
  '15': {
    en: 'The time for this payment is over.',
    vi: 'Giao dịch đã quá thời gian chờ thanh toán. Quý khách vui lòng thực hiện lại giao dịch.',
  },
  '70': { en: 'The signature is wrong.', vi: 'Sai chữ ký.' },
  '72': { en: 'The website was not found.', vi: 'Không tìm thấy website.' },
  '99': {
    en: 'An error came up. Please try again.',
    vi: 'Có lỗi xảy ra trong quá trình xử lý. Vui lòng thử lại.',
  },
}

export function errorPage(code: string, language: Language): Reply {
  const known = Object.hasOwn(errorTexts, code) ? code : '99'
  const text = errorTexts[known]?.[language] ?? ''
  const title = language === 'vi' ? 'Không thể thực hiện giao dịch' : 'The payment cannot be made'
  return page({
    title: `${title} — VNPAY sandbox`,
    language,
    look: 'pay',
    main: `<div class="flag">${escape(texts[language].flag)}</div><main>${brand}
  <section class="card"><h1>${escape(title)}</h1><p>${escape(text)}</p>
<p class="soft small">${language === 'vi' ? 'Mã lỗi' : 'Error code'}</p>
  <p class="code">${escape(known)}</p></section></main>`,
  })
}
