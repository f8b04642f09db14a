import {
  autoTopUp as autoTopUpApi,
  cards as cardApi,
  payments as api,
  vouchers as voucherApi,
} from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import { pageByKey } from '../platform/cursor.ts'
import type { Database } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import type { AutoTopUps } from './auto-top-up.ts'
import { positionOf, type Cards } from './cards.ts'
import type { Checkout } from './checkout.ts'
import type { Disputes } from './disputes.ts'
import type { PaymentDriver } from './driver.ts'
import type { Orders } from './orders.ts'
import type { Inquiry } from './inquiry.ts'
import type { Settlement } from './settle.ts'
import type { Vouchers } from './vouchers.ts'
import { receiveWebhook, type WebhookObserver } from './webhooks.ts'

export interface PaymentRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly checkout: Checkout
  readonly settlement: Settlement
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly cards: Cards
  readonly autoTopUps: AutoTopUps
  readonly orders: Orders
  readonly disputes: Disputes
  readonly inquiry: Pick<Inquiry, 'askNow'>
  readonly vouchers: Vouchers
  readonly onWebhook: WebhookObserver
  /** Per customer: each start is a call to a gateway. */
  readonly paymentStarts: Limit
  /** Per address: anybody can send forged webhooks, and we store those. */
  readonly forgeries: Limit
}

export function routes(http: Http, deps: PaymentRouteDeps): void {
  const { db, checkout, cards, autoTopUps, orders, paymentStarts } = deps

  http.act(api.checkout, async ({ customerId, body, ip, language, actionId }) => {
    await paymentStarts.take(customerId)
    return await checkout.begin({
      ...body,
      buyer: await orders.buyerOf(customerId),
      ip,
      language,
      actionId,
    })
  })
  http.read(api.getTransaction, async ({ customerId, caller, query, language }) => {
    // A view changes nothing, and the answer may settle the payment.
    if (query.ask === 'now' && caller?.heldBy !== 'view')
      await deps.inquiry.askNow(customerId, query.transactionCode)
    return await checkout.find(db, customerId, query.transactionCode, language)
  })
  http.read(api.getTransfer, ({ customerId, query, language }) =>
    checkout.transfer(db, customerId, query.transactionCode, language),
  )

  http.read(api.listTransfers, ({ customerId }) => checkout.waitingTransfers(db, customerId))

  http.read(cardApi.cardSetup, async ({ customerId }) => {
    await paymentStarts.take(customerId)
    return await cards.setUp(await orders.buyerOf(customerId))
  })
  http.read(cardApi.listMethods, async ({ customerId, query, language }) => {
    const all = await cards.list(await orders.buyerOf(customerId))
    const { rows, next } = pageByKey(all, query, language, positionOf)
    return new Page(
      rows.map(({ created: _created, ...shown }) => shown),
      next,
    )
  })
  http.act(cardApi.attachMethod, async ({ customerId, body }) => {
    await cards.attach(await orders.buyerOf(customerId), body.methodId)
    return null
  })
  http.act(cardApi.detachMethod, async ({ customerId, params }) => {
    await cards.detach(await orders.buyerOf(customerId), params.id)
    return null
  })
  http.act(cardApi.cardCheckout, async ({ customerId, body, ip, language, actionId }) => {
    await paymentStarts.take(customerId)
    return await cards.open({
      ...body,
      buyer: await orders.buyerOf(customerId),
      ip,
      language,
      actionId,
    })
  })
  http.act(cardApi.confirmCard, async ({ customerId, params, body }) =>
    cards.confirm(await orders.buyerOf(customerId), params.transId, body.method_id),
  )
  http.act(api.squareCheckout, async ({ customerId, body, ip, language, actionId }) => {
    await paymentStarts.take(customerId)
    return await cards.charge({
      buyer: await orders.buyerOf(customerId),
      amount: body.amount,
      locationId: body.locationId,
      sourceId: body.source_id,
      verificationToken: body.verification_token ?? null,
      ip,
      language,
      actionId,
    })
  })

  http.read(autoTopUpApi.getAutoTopUp, async ({ customerId }) =>
    autoTopUps.read(db, await orders.buyerOf(customerId)),
  )
  http.act(autoTopUpApi.setAutoTopUp, async ({ customerId, body, language }) => {
    // Each change may charge the card of a low wallet: the limit stops people who test stolen
    // cards.
    await paymentStarts.take(customerId)
    return await autoTopUps.set(await orders.buyerOf(customerId), body, language)
  })
  http.write(autoTopUpApi.stopAutoTopUp, async ({ tx, customerId }) => {
    await autoTopUps.stop(tx, customerId)
    return null
  })

  http.write(voucherApi.redeemVoucher, ({ tx, customerId, body, ip }) =>
    deps.vouchers.redeem(tx, { customerId, code: body.code, ip }),
  )

  // Gateways speak their own formats: the body is kept as it came, byte for byte.
  void http.server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.route({
      method: ['GET', 'POST'],
      url: '/api/webhooks/:driver',
      handler: async (request, reply) => {
        const driver = deps.drivers.get((request.params as { driver: string }).driver)
        if (!driver) throw new Refusal('not_found')
        const url = new URL(request.url, 'http://portal')
        const answer = await receiveWebhook(deps, driver, {
          method: request.method,
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [
              name,
              Array.isArray(value) ? value.join(', ') : value,
            ]),
          ),
          query: url.searchParams,
          rawBody: request.body instanceof Buffer ? request.body : Buffer.alloc(0),
          ip: request.ip,
        })
        return reply.code(answer.status).type(answer.contentType).send(answer.body)
      },
    })
  })
}
