import { randomUUID } from 'node:crypto'
import { webhooks as api, type Language } from '../../contract/index.ts'
import { encodeCursor, newestFirst, pageRequest } from '../platform/cursor.ts'
import { isUuid, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
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
import { lockEndpoint, ownEndpoint, presentDelivery, presentWebhook } from './store.ts'

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
  /** Of one customer: tests and repeats, which call somebody's server. */
  readonly wished: Limit
}

const off = {
  en: 'This address is switched off. Switch it on first.',
  vi: 'Địa chỉ này đang tắt. Hãy bật lại trước.',
}
const usualPage = 20

export function routes(http: Http, deps: WebhookRouteDeps): void {
  const { db, clock, sender, complete } = deps
  http.read(api.listWebhooks, ({ customerId }) => listEndpoints(db, clock, customerId))
  /** In the transaction that writes the address. */
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
      const endpoint = await lockEndpoint(tx, customerId, params.id)
      if (endpoint.disabled_at !== null) throw new Refusal('conflict', { fields: { id: off } })
      const [id, now] = [randomUUID(), clock.now()]
      await tx
        .insertInto('webhook_delivery')
        .values({
          id,
          endpoint_id: endpoint.id,
          event: api.testEvent,
          payload: JSON.stringify({}),
          state: 'waiting',
          next_at: now,
          created_at: now,
        })
        .execute()
      sender.wake(tx, [endpoint.id])
      return { id }
    },
  )
  http.read(api.listDeliveries, async ({ customerId, params, query, language }) => {
    const endpoint = await ownEndpoint(db, customerId, params.id)
    const { rows, next } = await newestFirst(
      db.selectFrom('webhook_delivery').selectAll().where('endpoint_id', '=', endpoint.id),
      'seq',
      pageRequest(query, language, usualPage),
    )
    return new Page(
      {
        webhook: presentWebhook(endpoint, clock.now()),
        deliveries: rows.map((row) => presentDelivery(row, complete)),
      },
      encodeCursor(next),
    )
  })
  http.write(
    api.replayDelivery,
    ({ customerId }) => deps.wished.take(customerId),
    async ({ tx, customerId, params }) => {
      const endpoint = await lockEndpoint(tx, customerId, params.id)
      if (endpoint.disabled_at !== null) throw new Refusal('conflict', { fields: { id: off } })
      const row = isUuid(params.delivery)
        ? await tx
            .updateTable('webhook_delivery')
            .set({ state: 'waiting', next_at: clock.now(), tries: 0 })
            .where('id', '=', params.delivery)
            .where('endpoint_id', '=', endpoint.id)
            .returningAll()
            .executeTakeFirst()
        : undefined
      if (!row) throw new Refusal('not_found')
      sender.wake(tx, [endpoint.id])
      return presentDelivery(row, complete)
    },
  )
}
