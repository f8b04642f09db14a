/** The bank's app, as a page: what to transfer, and the receipt. */
import type { Reply } from '../http.ts'
import { dong, escape, page } from '../page.ts'

const flag =
  '<div class="flag">SANDBOX · a trial bank, no real money moves · <span lang="vi">ngân hàng ' +
  'thử nghiệm, không có tiền thật</span></div>'
const head =
  '<header class="brand"><span class="logo">Bank<b>App</b></span><span class="badge">SANDBOX</' +
  'span></header>'
const field = (label: string, name: string, value: string, mode = 'text'): string =>
  `<p><label class="soft small" for="${name}">${label}</label>` +
  `<input id="${name}" name="${name}" value="${escape(value)}" inputmode="${mode}" ` +
  'autocomplete="off"></p>'
const options = (
  label: string,
  name: string,
  choices: readonly (readonly [string, string])[],
): string =>
  `<p><label class="soft small" for="${name}">${label}</label>` +
  `<select id="${name}" name="${name}">` +
  choices.map(([value, text]) => `<option value="${value}">${escape(text)}</option>`).join('') +
  '</select></p>'

export function appPage(
  of: { account: string; amount: string; content: string },
  complaint = '',
): Reply {
  return page({
    title: 'Bank app — sandbox',
    language: 'vi',
    look: 'pay',
    status: complaint === '' ? 200 : 422,
    main: `${flag}<main>${head}<section class="card">
  <h1>Chuyển khoản · <span lang="en">Transfer</span></h1>
${complaint === '' ? '' : `<p role="alert">${escape(complaint)}</p>`}
<form method="post" action="/bank/app">
${field('Tài khoản nhận · Account', 'account', of.account)}
${field('Số tiền (đ) · Amount', 'amount', of.amount, 'numeric')}
${field('Nội dung · Content', 'content', of.content)}
<details><summary>Thử cách khác · <span lang="en">Try other manners</span></summary>
${options('Ngân hàng ghi nội dung · What the bank makes of the text', 'manner', [
  ['plain', 'As typed · như đã nhập'],
  ['capitals', 'CAPITALS · chữ hoa'],
  ['prefixed', 'With the bank’s own words · thêm lời của ngân hàng'],
  ['glued', 'Without spaces · dính liền'],
  ['repeated', 'Repeated · lặp lại'],
])}
${options('Báo có qua · Feed', 'feed', [
  ['sepay', 'SePay'],
  ['casso', 'Casso'],
])}
${options('Thông báo · Notice', 'notice', [
  ['now', 'At once · ngay'],
  ['late', 'Late · muộn'],
  ['lost', 'Lost · bị mất'],
])}
</details>
<button class="main">Chuyển tiền · <span lang="en">Send</span></button>
</form></section></main>`,
  })
}

export function receiptPage(of: {
  amount: bigint
  account: string
  content: string
  reference: string
}): Reply {
  const row = (name: string, value: string): string => `<dt>${name}</dt><dd>${escape(value)}</dd>`
  return page({
    title: 'Receipt — sandbox',
    language: 'vi',
    look: 'pay',
    main: `${flag}<main>${head}<section class="card"><h1>Đã chuyển · <span lang="en">Sent</span>
  </h1>
<p class="amount">${escape(dong(of.amount))}</p>
<dl>
${row('Tài khoản nhận', of.account)}
${row('Nội dung', of.content)}
${row('Mã giao dịch', of.reference)}
</dl>
<p class="soft small">Bạn có thể quay lại trang nạp tiền. · <span lang="en">You can go back to the
  top-up page.</span></p>
</section></main>`,
  })
}
