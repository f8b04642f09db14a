/**
 * What a browser loads: Stripe.js, its frames on this origin, the bank's challenge; also the
 * merchant's dashboard.
 */
import { readFileSync } from 'node:fs'
import type { Reply, Routes } from '../http.ts'
import { escape, page } from '../page.ts'
import type { Dispute } from './dashboard.ts'
import type { Payment } from './intents.ts'
import type { Stored } from './store.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../assets/${name}`, import.meta.url), 'utf8')

/** A page that only the portal may frame. `portal` is its origin. */
const framed = (portal: string, of: { title: string; body: string; language?: string }): Reply => ({
  status: 200,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action " +
      `'none'; base-uri 'none'; frame-ancestors ${portal}`,
  },
  body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${of.title}</title>
<link rel="stylesheet" href="/stripe/v3/frame.css"><script src="/stripe/v3/frame.js" defer></script>
</head>
<body>${of.body}</body></html>
`,
})

const cardForm = `<form id="card" novalidate>
<div class="field wide"><label for="number">Card number</label><input id="number"
  inputmode="numeric" autocomplete="cc-number" placeholder="1234 1234 1234 1234"
  aria-describedby="number-fault"><p id="number-fault" class="fault" role="alert"></p></div>
<div class="field"><label for="expiry">Expiration date</label><input id="expiry" inputmode="numeric"
  autocomplete="cc-exp" placeholder="MM / YY" aria-describedby="expiry-fault">
  <p id="expiry-fault" class="fault" role="alert"></p></div>
<div class="field"><label for="cvc">Security code</label><input id="cvc" inputmode="numeric"
  autocomplete="cc-csc" placeholder="CVC" aria-describedby="cvc-fault">
  <p id="cvc-fault" class="fault" role="alert"></p></div>
<p class="hint" id="hint">SANDBOX · 4242 4242 4242 4242</p>
</form>`

export function browserRoutes(portal: () => string): Routes {
  const files = {
    'stripe.js': 'text/javascript',
    'frame.js': 'text/javascript',
    'frame.css': 'text/css',
  } as const
  const assets = Object.entries(files).map(([name, type]) => {
    const body = read(name === 'stripe.js' ? name : `stripe-${name}`)
    const headers = {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'max-age=60',
      'cross-origin-resource-policy': 'cross-origin',
    }
    return [`GET /stripe/v3/${name}`, (): Reply => ({ status: 200, headers, body })] as const
  })
  return {
    ...Object.fromEntries(assets),
    'GET /stripe/v3/controller': () => framed(portal(), { title: 'Stripe', body: '' }),
    'GET /stripe/v3/card': () =>
      framed(portal(), { title: 'Card details', body: `<main>${cardForm}</main>` }),
  }
}

export const challengePage = (of: { intent: string; secret: string; portal: string }): Reply =>
  framed(of.portal, {
    title: '3-D Secure',
    body: `<main class="challenge" data-intent="${escape(of.intent)}"
  data-secret="${escape(of.secret)}">
<p class="flag">SANDBOX</p><h1>3-D Secure · <span lang="vi">Xác thực thẻ</span></h1>
<p>Your bank asks whether this is you. · <span lang="vi">Ngân hàng hỏi có phải chính bạn đang thanh
  toán.</span></p>
<button type="button" class="main" data-outcome="confirm">Confirm · <span lang="vi">Xác
nhận</span></button>
<button type="button" data-outcome="refuse">Refuse · <span lang="vi">Từ chối</span></button>
</main>`,
  })

const button = (label: string, fields: Readonly<Record<string, string>>): string =>
  `<form method="post" action="/stripe/dashboard">${Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escape(value)}">`)
    .join('')}<button>${escape(label)}</button></form>`
const money = (of: Stored): string =>
  `${String(of['amount'])} ${String(of['currency']).toUpperCase()}`

export function dashboardPage(of: {
  manner: string
  manners: readonly string[]
  payments: readonly Payment[]
  refunds: readonly Stored[]
  disputes: readonly Dispute[]
  payouts: readonly Stored[]
}): Reply {
  const card = (title: string, rest: string): string =>
    `<section class="card"><h2>${title}</h2>${rest}</section>`
  const payment = (one: Payment): string =>
    card(
      `${escape(money(one))} · ${escape(one.status)}`,
      `<p class="soft small"><code>${escape(one.id)}</code></p>` +
        (one.status === 'succeeded'
          ? button('Refund', { action: 'refund', payment: one.id }) +
            button('Dispute', { action: 'dispute', payment: one.id }) +
            button('Inquire', { action: 'inquire', payment: one.id })
          : ''),
    )
  const refund = (one: Stored): string =>
    card(
      `Refund ${escape(money(one))} · ${escape(String(one['status']))}`,
      one['status'] === 'succeeded'
        ? button('Let it fail', { action: 'fail_refund', refund: one.id })
        : '',
    )
  const dispute = (one: Dispute): string =>
    card(
      `Dispute ${escape(money(one))} · ${escape(one.status)}`,
      /needs_response|under_review/.test(one.status)
        ? button('Win', { action: 'win', dispute: one.id }) +
            button('Lose', { action: 'lose', dispute: one.id })
        : '',
    )
  const payout = (one: Stored): string =>
    card(
      `Pay-out ${escape(money(one))} · ${escape(String(one['status']))}`,
      one['status'] === 'paid'
        ? button('Let it fail', { action: 'fail_payout', payout: one.id })
        : '',
    )
  const waiting = ['aud', 'usd', 'eur', 'vnd'].map((currency) =>
    button(`Pay ${currency.toUpperCase()} out`, { action: 'pay_out', currency }),
  )
  const manners = of.manners.map((manner) => button(manner, { action: 'events', manner }))
  return page({
    title: 'Stripe — sandbox',
    language: 'en',
    main: `<div class="flag">SANDBOX · a trial card provider, no real money moves</div><main>
  <h1>Stripe</h1>
<p class="soft">Amounts in the smallest unit.</p>
${card('Events', `<p>They go: ${escape(of.manner)}</p>${manners.join('')}`)}
${card('Balance', waiting.join(''))}
${of.payouts.map(payout).join('')}
${[...of.disputes.map(dispute), ...of.refunds.map(refund), ...of.payments.map(payment)].join('')}
</main>`,
  })
}
