/** SQL of the webhooks' room, and addresses and deliveries as the API shows them. */
import { randomUUID } from 'node:crypto'
import { sql, type Expression, type Selectable } from 'kysely'
import type { EventName } from '../../contract/realtime.ts'
import {
  testEvent,
  type Delivery,
  type Webhook,
  type WebhookAttempt,
} from '../../contract/webhooks.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

export type EndpointRow = Selectable<DB['webhook_endpoint']>
export type DeliveryRow = Selectable<DB['webhook_delivery']>

/** The owner of addresses: a customer, or (null) the operator. */
export type Owner = string | null

/** The purpose under which an address's secrets are sealed. */
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

/**
 * The body to send, with the same bytes at each try. `complete` adds parts that are not stored,
 * such as links.
 */
export const bodyOf = (
  row: Pick<DeliveryRow, 'event' | 'payload' | 'created_at'>,
  complete: (payload: object) => object,
): string =>
  JSON.stringify({
    type: row.event,
    timestamp: row.created_at.toISOString(),
    data: complete(row.payload as object),
  })

/** When it is tried next: later than it says where its receiver is left alone. */
const nextAtOf = (
  { next_at: at }: DeliveryRow,
  { put_off_at: from, put_off_until: until }: EndpointRow,
): Date | null => (at && from && until && at <= from && at < until ? until : at)

export const presentDelivery = (
  row: DeliveryRow,
  endpoint: EndpointRow,
  complete: (payload: object) => object,
): Delivery => ({
  id: row.id,
  event: row.event,
  state: row.state as Delivery['state'],
  createdAt: row.created_at.toISOString(),
  nextAt: nextAtOf(row, endpoint)?.toISOString() ?? null,
  attempts: row.attempts as unknown as WebhookAttempt[],
  body: bodyOf(row, complete),
  answer: row.answer,
})

/** The newest first. */
export const endpointsOf = (db: Queryable, owner: Owner) =>
  db
    .selectFrom('webhook_endpoint')
    .selectAll()
    .where('customer_id', owner === null ? 'is' : '=', owner)
    .orderBy('created_at', 'desc')
    .orderBy('id')

/** The owner's own. Refuses with not_found. */
export async function ownEndpoint(db: Queryable, owner: Owner, id: string): Promise<EndpointRow> {
  const row = isUuid(id)
    ? await endpointsOf(db, owner).where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

/** The same, locked. */
export async function lockEndpoint(tx: Tx, owner: Owner, id: string): Promise<EndpointRow> {
  const row = isUuid(id)
    ? await endpointsOf(tx, owner).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

const off = {
  en: 'This address is switched off. Switch it on first.',
  vi: 'Địa chỉ này đang tắt. Hãy bật lại trước.',
}
/** Locked, and called. Refuses with not_found, and with conflict one that is switched off. */
export async function lockCalled(tx: Tx, owner: Owner, id: string): Promise<EndpointRow> {
  const row = await lockEndpoint(tx, owner, id)
  if (row.disabled_at !== null) throw new Refusal('conflict', { fields: { id: off } })
  return row
}

/** Adds a test delivery for an address. Answers its id. */
export async function addTest(tx: Tx, now: Date, endpointId: string): Promise<string> {
  const id = randomUUID()
  await tx
    .insertInto('webhook_delivery')
    .values({
      id,
      endpoint_id: endpointId,
      event: testEvent,
      payload: JSON.stringify({}),
      state: 'waiting',
      next_at: now,
      created_at: now,
    })
    .execute()
  return id
}

/** A delivery waits to be sent once more. The caller holds its address. Refuses with not_found. */
export async function sendAgain(
  tx: Tx,
  now: Date,
  of: { readonly endpointId: string; readonly id: string },
): Promise<DeliveryRow> {
  const row = isUuid(of.id)
    ? await tx
        .updateTable('webhook_delivery')
        .set({ state: 'waiting', next_at: now, tries: 0 })
        .where('id', '=', of.id)
        .where('endpoint_id', '=', of.endpointId)
        .returningAll()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

/** Deliveries of an address, newest first. */
export const deliveriesOf = (
  db: Queryable,
  endpointId: string,
  page: PageRequest,
): Promise<KeysetPage<DeliveryRow>> =>
  newestFirst(
    db.selectFrom('webhook_delivery').selectAll().where('endpoint_id', '=', endpointId),
    'seq',
    page,
  )

/** Marks waiting deliveries as failed, so that they are not sent. */
export async function failWaiting(tx: Tx, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  await tx
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_at: null })
    .where('endpoint_id', 'in', endpointIds)
    .where('state', '=', 'waiting')
    .execute()
}

const mostOfRound = 5000
/** Deletes the operator's finished deliveries about customers who have `closed` their accounts. */
export async function dropOfClosed(db: Queryable, closed: Expression<{ id: string }>) {
  await sql`
    delete from webhook_delivery where state <> 'waiting' and id in (
      select s.delivery_id from webhook_subject s
      join webhook_delivery d on d.id = s.delivery_id and d.state <> 'waiting'
      where s.customer_id in (select id from (${closed}) c) limit ${mostOfRound})`.execute(db)
}

/** Deliveries of more than thirty days ago. */
export const dropOldDeliveries = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'webhook_delivery')
