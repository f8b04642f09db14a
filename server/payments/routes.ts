import { payments as api } from '../../contract/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import type { Log } from '../platform/log.ts'
import type { RegionCode } from '../../contract/money.ts'
import type { Checkout } from './checkout.ts'
import type { PaymentDriver } from './driver.ts'
import type { Settlement } from './settle.ts'
import { receiveNotice } from './webhooks.ts'

export interface PaymentRouteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly checkout: Checkout
  readonly settlement: Settlement
  readonly drivers: ReadonlyMap<string, PaymentDriver>
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ id: string; email: string; name: string; phone: string; regionCode: RegionCode }>
}

export function routes(http: Http, deps: PaymentRouteDeps): void {
  const { db, checkout } = deps

  http.write(api.checkout, async ({ tx, customerId, body, ip, language }) => {
    const buyer = await deps.customer(tx, customerId)
    return await checkout.begin(tx, { buyer, amount: body.amount, type: body.type, method: body.method, ip, language })
  })

  http.read(api.getTransaction, ({ customerId, query, language }) => checkout.find(db, customerId, query.transactionCode, language))

  // Gateways speak their own formats: the body is kept as it came, byte for byte.
  void http.server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.route({
      method: ['GET', 'POST'],
      url: '/api/webhooks/:driver',
      handler: async (request, reply) => {
        const driver = deps.drivers.get((request.params as { driver: string }).driver)
        if (!driver) throw new Refusal('not_found')
        const url = new URL(request.url, 'http://portal')
        const answer = await receiveNotice(deps, driver, {
          method: request.method,
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
          ),
          query: url.searchParams,
          rawBody: request.body instanceof Buffer ? request.body : Buffer.alloc(0),
        })
        return reply.code(answer.status).type(answer.contentType).send(answer.body)
      },
    })
  })
}
