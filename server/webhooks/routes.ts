import { webhooks as api, type Language } from '../../contract/index.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  rotateSecret,
  type EndpointNeeds,
} from './endpoints.ts'
import { addressLetter } from './letter.ts'
import type { Sender } from './send.ts'
import {
  addTest,
  deliveriesOf,
  lockCalled,
  ownEndpoint,
  presentDelivery,
  presentWebhook,
  sendAgain,
} from './store.ts'

export interface WebhookRouteDeps extends EndpointNeeds {
  readonly db: Database
  readonly sender: Sender
  readonly portalUrl: string
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly complete: (payload: object) => object
  /** Limit per customer: tests and repeats call other people's servers. */
  readonly wished: Limit
}

const usualPage = 20

export function routes(http: Http, deps: WebhookRouteDeps): void {
  const { db, clock, sender, complete } = deps
  http.read(api.listWebhooks, ({ customerId }) => listEndpoints(db, clock, customerId))
  /** Called in the transaction that writes the address. */
  const tellOf = async (tx: Tx, customerId: string, { id, url }: api.Webhook): Promise<void> => {
    const { email, language } = await deps.customer(tx, customerId)
    const link = `${deps.portalUrl}/account/webhooks/${id}`
    const { subject, text } = addressLetter(language, { url, link })
    await deps.mail(tx, email, subject, text)
  }
  http.write(api.createWebhook, async ({ tx, customerId, body }) => {
    const made = await createEndpoint(tx, deps, { customerId, ...body })
    await tellOf(tx, customerId, made.webhook)
    return made
  })
  http.write(api.changeWebhook, async ({ tx, customerId, params, body }) => {
    const before = await ownEndpoint(tx, customerId, params.id)
    const changed = await changeEndpoint(tx, deps, { customerId, id: params.id, ...body })
    if (changed.url !== before.url) await tellOf(tx, customerId, changed)
    return changed
  })
  http.write(api.deleteWebhook, async ({ tx, customerId, params }) => {
    await deleteEndpoint(tx, customerId, params.id)
    return null
  })
  http.write(api.rotateSecret, ({ tx, customerId, params }) =>
    rotateSecret(tx, deps, { customerId, id: params.id }),
  )
  http.write(
    api.testWebhook,
    ({ customerId }) => deps.wished.take(customerId),
    async ({ tx, customerId, params }) => {
      const endpoint = await lockCalled(tx, customerId, params.id)
      const id = await addTest(tx, clock.now(), endpoint.id)
      sender.wake(tx, [endpoint.id])
      return { id }
    },
  )
  http.read(api.listDeliveries, async ({ customerId, params, query, language }) => {
    const endpoint = await ownEndpoint(db, customerId, params.id)
    const page = pageRequest(query, language, usualPage)
    const { rows, next } = await deliveriesOf(db, endpoint.id, page)
    return new Page(
      {
        webhook: presentWebhook(endpoint, clock.now()),
        deliveries: rows.map((row) => presentDelivery(row, endpoint, complete)),
      },
      encodeCursor(next),
    )
  })
  http.write(
    api.replayDelivery,
    ({ customerId }) => deps.wished.take(customerId),
    async ({ tx, customerId, params }) => {
      const endpoint = await lockCalled(tx, customerId, params.id)
      const of = { endpointId: endpoint.id, id: params.delivery }
      const row = await sendAgain(tx, clock.now(), of)
      sender.wake(tx, [endpoint.id])
      return presentDelivery(row, endpoint, complete)
    },
  )
}
