/** The payment gateways that have a stand-in, by the names of the portal's drivers. */
import { bankTables, openBank } from './bank/index.ts'
import type { Database } from './database.ts'
import type { Gateway, GatewayOptions, Keys } from './gateway.ts'
import { alepayTables, openAlepay } from './alepay/index.ts'
import { openPayos, payosTables } from './payos/index.ts'
import { openSquare, squareTables } from './square/index.ts'
import { openStripe, stripeTables } from './stripe/index.ts'
import { openVnpay, vnpayTables } from './vnpay/index.ts'

interface Place {
  readonly tables: string
  readonly open: (db: Database, keys: Keys, options: GatewayOptions) => Gateway
  /**
   * Two lines for the sandbox's first page: one for a person, and one with the addresses for a
   * program. HTML.
   */
  readonly guide: { readonly person: string; readonly program: string }
}

export const gateways: Readonly<Record<string, Place>> = {
  vnpay: {
    tables: vnpayTables,
    open: openVnpay,
    guide: {
      person:
        'VNPAY: a top-up in the portal leads to its payment page here · <span lang="vi">nạp ' +
        'tiền trong cổng sẽ mở trang thanh toán tại đây</span>',
      program:
        '<code>GET /vnpay/paymentv2/vpcpay.html</code>, <code>POST ' +
        '/vnpay/merchant_webapi/api/transaction</code>',
    },
  },
  bank: {
    tables: bankTables,
    open: openBank,
    guide: {
      person:
        '<a href="/bank/app">A bank app</a>: transfers to the account of the provider · ' +
        '<span lang="vi">ứng dụng ngân hàng để chuyển khoản</span>',
      program: '<code>POST /bank/app</code>, <code>GET /sepay/userapi/transactions/list</code>',
    },
  },
  alepay: {
    tables: alepayTables,
    open: openAlepay,
    guide: {
      person:
        'Alepay: a top-up in the portal leads to its payment page here · <span lang="vi">nạp ' +
        'tiền trong cổng sẽ mở trang thanh toán tại đây</span>',
      program:
        '<code>POST /alepay/api/v3/checkout/request-payment</code>, ' +
        '<code>…/get-transaction-info</code>, <code>…/merchant-request-refund</code>, ' +
        '<code>…/get-refund-info</code>',
    },
  },
  payos: {
    tables: payosTables,
    open: openPayos,
    guide: {
      person:
        'payOS (VietQR): a top-up in the portal leads to its payment page here · ' +
        '<span lang="vi">nạp tiền trong cổng sẽ mở trang thanh toán tại đây</span>',
      program:
        '<code>POST /v2/payment-requests</code>, <code>GET /v2/payment-requests/{id}</code>, ' +
        '<code>POST …/cancel</code>',
    },
  },
  stripe: {
    tables: stripeTables,
    open: openStripe,
    guide: {
      person:
        '<a href="/stripe/dashboard">Stripe’s dashboard</a>: refunds, disputes, late and lost ' +
        'events; test cards such as 4242 4242 4242 4242 · <span lang="vi">bảng điều khiển của ' +
        'Stripe</span>',
      program:
        '<code>/v1/…</code>, <code>GET /stripe/v3/stripe.js</code>, <code>POST ' +
        '/stripe/dashboard</code>',
    },
  },
  square: {
    tables: squareTables,
    open: openSquare,
    guide: {
      person:
        '<a href="/square/dashboard">Square’s dashboard</a>: refunds and disputes; tokens ' +
        'such as cnon:card-nonce-ok · <span lang="vi">bảng điều khiển của Square</span>',
      program:
        '<code>POST /square/v2/payments</code>, <code>POST /square/v2/refunds</code>, ' +
        '<code>POST /square/dashboard</code>',
    },
  },
}
