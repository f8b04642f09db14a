/** SQL of the webhooks' room, and addresses and deliveries as the API shows them. */
import type { Selectable } from 'kysely'
import type { EventName } from '../../contract/realtime.ts'
import type { Delivery, Webhook, WebhookAttempt } from '../../contract/webhooks.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

export type EndpointRow = Selectable<DB['webhook_endpoint']>
export type DeliveryRow = Selectable<DB['webhook_delivery']>

/** What its secrets are sealed for. */
export const secretPurpose = (endpointId: string): string => `webhook:${endpointId}`

export function presentWebhook(row: EndpointRow, now: Date): Webhook {
  const { earlier_until: until } = row
  return {
    id: row.id,
    url: row.url,
    events: row.events as EventName[],
    createdAt: row.created_at.toISOString(),
    disabled:
      row.disabled_at && row.disabled_reason
        ? {
            at: row.disabled_at.toISOString(),
            reason: row.disabled_reason as NonNullable<Webhook['disabled']>['reason'],
          }
        : null,
    failingSince: row.failing_since?.toISOString() ?? null,
    earlierSecretUntil: until && until > now ? until.toISOString() : null,
  }
}

/** What is sent: the same bytes at each try. `complete` adds what is not stored, such as links. */
export const bodyOf = (
  row: Pick<DeliveryRow, 'event' | 'payload' | 'created_at'>,
  complete: (payload: object) => object,
): string =>
  JSON.stringify({
    type: row.event,
    timestamp: row.created_at.toISOString(),
    data: complete(row.payload as object),
  })

export const presentDelivery = (
  row: DeliveryRow,
  complete: (payload: object) => object,
): Delivery => ({
  id: row.id,
  event: row.event,
  state: row.state as Delivery['state'],
  createdAt: row.created_at.toISOString(),
  nextAt: row.next_at?.toISOString() ?? null,
  attempts: row.attempts as unknown as WebhookAttempt[],
  body: bodyOf(row, complete),
  answer: row.answer,
})

const endpointQuery = (db: Queryable, customerId: string, id: string) =>
  db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('id', '=', id)
    .where('customer_id', '=', customerId)

/** The customer's own. Refuses with not_found. */
export async function ownEndpoint(
  db: Queryable,
  customerId: string,
  id: string,
): Promise<EndpointRow> {
  const row = isUuid(id) ? await endpointQuery(db, customerId, id).executeTakeFirst() : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

/** The same, locked. */
export async function lockEndpoint(tx: Tx, customerId: string, id: string): Promise<EndpointRow> {
  const row = isUuid(id)
    ? await endpointQuery(tx, customerId, id).forNoKeyUpdate().executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

/** What waits is not sent any more. */
export async function failWaiting(tx: Tx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_at: null })
    .where('endpoint_id', 'in', endpointIds)
    .where('state', '=', 'waiting')
    .execute()
}

/** Deliveries of more than thirty days ago. */
export const dropOldDeliveries = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'webhook_delivery')
