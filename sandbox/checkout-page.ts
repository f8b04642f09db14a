/**
 * The payment page of a gateway's stand-in: the amount, the remaining time, and the choices; also
 * the page for an invalid link.
 */
import type { Reply } from './http.ts'
import { dong, escape, page, vietnamTime } from './page.ts'

export type Language = 'en' | 'vi'
export type Wording = Readonly<Record<Language, string>>

const texts = {
  flag: {
    en: 'SANDBOX · a trial page, no real money moves',
    vi: 'SANDBOX · trang thử nghiệm, không có tiền thật',
  },
  title: { en: 'Confirm your payment', vi: 'Xác nhận thanh toán' },
  left: { en: 'Time left', vi: 'Thời gian còn lại' },
  until: { en: 'until', vi: 'đến' },
  amount: { en: 'Amount', vi: 'Số tiền' },
  others: { en: 'Try another outcome', vi: 'Thử kết quả khác' },
  othersHint: {
    en: 'Only in the sandbox: what else may happen, and notices that come late or never.',
    vi: 'Chỉ có trong sandbox: những gì khác có thể xảy ra, và thông báo đến muộn hoặc bị mất.',
  },
  refused: { en: 'The payment cannot be made', vi: 'Không thể thực hiện giao dịch' },
  code: { en: 'Error code', vi: 'Mã lỗi' },
} as const satisfies Record<string, Wording>

export interface Choice {
  /** The value of the form's field `outcome`. */
  readonly outcome: string
  readonly text: string
  readonly look?: 'main' | 'fail' | 'stop'
}
export interface CheckoutPage {
  readonly gateway: string
  readonly language: Language
  readonly expiresAt: Date
  /** Đồng still to be paid. */
  readonly amount: bigint
  readonly rows: readonly (readonly [name: string, value: string])[]
  /** The address to which the browser may return. */
  readonly returnUrl: string
  /** The address to which the choice is posted. */
  readonly action: string
  readonly token: string
  readonly choices: readonly Choice[]
  readonly others: readonly Choice[]
  /** HTML, already escaped, below the amount. */
  readonly more?: string
}

const frame = (gateway: string, language: Language, main: string): string =>
  `<div class="flag">${escape(texts.flag[language])}</div>
<main>
<header class="brand"><span class="logo"><b>${escape(gateway)}</b></span><span
  class="badge">SANDBOX</span></header>
${main}
</main>`

export function checkoutPage(of: CheckoutPage): Reply {
  const { language } = of
  const seconds = Math.max(0, Math.ceil((of.expiresAt.getTime() - Date.now()) / 1000))
  const clock =
    `${String(Math.floor(seconds / 60)).padStart(2, '0')}:` +
    `${String(seconds % 60).padStart(2, '0')}`
  const button = ({ outcome, text, look }: Choice): string =>
    `<button name="outcome" value="${escape(outcome)}" class="${look ?? ''}">` +
    `${escape(text)}</button>`
  const form = (choices: readonly Choice[]): string =>
    `<form method="post" action="${escape(of.action)}">` +
    `<input type="hidden" name="token" value="${escape(of.token)}">` +
    `${choices.map(button).join('')}</form>`
  return page({
    title: `${texts.title[language]} — ${of.gateway} sandbox`,
    language,
    look: 'pay',
    formOrigin: new URL(of.returnUrl).origin,
    main: frame(
      of.gateway,
      language,
      `<section class="card">
<h1>${escape(texts.title[language])}</h1>
<p class="soft small">${escape(texts.left[language])}: <span class="time"
  data-until="${of.expiresAt.getTime()}">${clock}</span> (${escape(texts.until[language])}
  ${escape(vietnamTime(of.expiresAt))} GMT+7)</p>
<p class="soft small">${escape(texts.amount[language])}</p>
<p class="amount">${escape(dong(of.amount))}</p>
<dl>${of.rows.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`).join('')}
  </dl>
</section>
${of.more ?? ''}<section class="card">
${form(of.choices)}
</section>
<section class="card"><details><summary>${escape(texts.others[language])}</summary>
<p class="soft small">${escape(texts.othersHint[language])}</p>
${form(of.others)}
</details></section>`,
    ),
  })
}

/** The page for an invalid link. */
export const refusedPage = (
  gateway: string,
  language: Language,
  text: string,
  code: string,
): Reply =>
  page({
    title: `${texts.refused[language]} — ${gateway} sandbox`,
    language,
    look: 'pay',
    status: 404,
    main: frame(
      gateway,
      language,
      `<section class="card"><h1>${escape(texts.refused[language])}</h1><p>${escape(text)}</p>
<p class="soft small">${escape(texts.code[language])}</p><p class="code">${escape(code)}</p>
  </section>`,
    ),
  })
