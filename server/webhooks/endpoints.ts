/** Addresses that are called: made, changed, switched off and on, and their secrets. */
import { randomUUID } from 'node:crypto'
import { mostOperatorWebhooks } from '../../contract/operator-webhooks.ts'
import type { Webhook } from '../../contract/webhooks.ts'
import { mostWebhooks, secretOverlapHours } from '../../contract/webhooks.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { newSecret } from './signature.ts'
import {
  endpointsOf,
  failWaiting,
  lockEndpoint,
  presentWebhook,
  secretPurpose,
  type EndpointRow,
  type Owner,
} from './store.ts'

const texts = {
  tooMany: {
    en: `You have ${mostWebhooks} addresses already. Delete one first.`,
    vi: `Bạn đã có ${mostWebhooks} địa chỉ. Hãy xoá bớt trước.`,
  },
  url: {
    en: 'Write a public address that begins with https:// (port 443 or 8443).',
    vi: 'Hãy ghi một địa chỉ công khai bắt đầu bằng https:// (cổng 443 hoặc 8443).',
  },
  rotated: {
    en: 'Both secrets sign for 24 hours after a new one was made. Make another one after that.',
    vi: 'Sau khi tạo khoá mới, cả hai khoá cùng ký trong 24 giờ. Hãy tạo khoá khác sau đó.',
  },
} satisfies Record<string, Sentence>

export interface EndpointNeeds {
  readonly clock: Clock
  readonly secrets: Secrets
  /** An address as it is kept; undefined for one that is never called. */
  readonly readUrl: (typed: string) => string | undefined
}

const urlOf = ({ readUrl }: EndpointNeeds, typed: string): string => {
  const url = readUrl(typed)
  if (url === undefined) throw new Refusal('invalid_input', { fields: { url: texts.url } })
  return url
}

/** The newest first. */
export async function listEndpoints(
  db: Queryable,
  clock: Clock,
  customerId: Owner,
): Promise<Webhook[]> {
  const rows = await endpointsOf(db, customerId).execute()
  return rows.map((row) => presentWebhook(row, clock.now()))
}

/**
 * Adds an address. Refuses with invalid_input and conflict. For the operator's addresses the caller
 * holds the lock that serializes acts (the trail).
 */
export async function createEndpoint(
  tx: Tx,
  needs: EndpointNeeds,
  of: { readonly customerId: Owner; readonly url: string; readonly events: readonly string[] },
): Promise<{ webhook: Webhook; secret: string }> {
  const url = urlOf(needs, of.url)
  // The lock serialises a customer's new endpoints, so that two at once cannot evade the limit.
  if (of.customerId !== null)
    await tx
      .selectFrom('customer')
      .select('id')
      .where('id', '=', of.customerId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow()
  const { length } = await endpointsOf(tx, of.customerId).execute()
  if (length >= (of.customerId === null ? mostOperatorWebhooks : mostWebhooks))
    throw new Refusal('conflict', { fields: { url: texts.tooMany } })
  const [id, secret, now] = [randomUUID(), newSecret(), needs.clock.now()]
  const row = await tx
    .insertInto('webhook_endpoint')
    .values({
      id,
      customer_id: of.customerId,
      url,
      events: [...new Set(of.events)],
      secret: needs.secrets.seal(secretPurpose(id), secret),
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { webhook: presentWebhook(row, now), secret }
}

/** Refuses with not_found and invalid_input. */
export async function changeEndpoint(
  tx: Tx,
  needs: EndpointNeeds,
  of: {
    readonly customerId: Owner
    readonly id: string
    readonly url?: string | undefined
    readonly events?: readonly string[] | undefined
    readonly enabled?: boolean | undefined
  },
): Promise<Webhook> {
  const before = await lockEndpoint(tx, of.customerId, of.id)
  const now = needs.clock.now()
  const isOff = before.disabled_at !== null
  const url = of.url === undefined ? before.url : urlOf(needs, of.url)
  const row = await tx
    .updateTable('webhook_endpoint')
    .set({
      url,
      // Failures of the previous address say nothing about the new one.
      ...(url !== before.url && { failing_since: null, put_off_at: null, put_off_until: null }),
      events: of.events === undefined ? before.events : [...new Set(of.events)],
      ...(of.enabled === true &&
        isOff && { disabled_at: null, disabled_reason: null, failing_since: null }),
      ...(of.enabled === false && !isOff && { disabled_at: now, disabled_reason: 'owner' }),
    })
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (of.enabled === false) await failWaiting(tx, [before.id])
  return presentWebhook(row, now)
}

/** Refuses with not_found. */
export async function deleteEndpoint(tx: Tx, customerId: Owner, id: string): Promise<void> {
  const { id: own } = await lockEndpoint(tx, customerId, id)
  await tx.deleteFrom('webhook_endpoint').where('id', '=', own).execute()
}

/** Makes a new secret; the previous one also signs for a day. Refuses with not_found. */
export async function rotateSecret(
  tx: Tx,
  { clock, secrets }: EndpointNeeds,
  of: { readonly customerId: Owner; readonly id: string },
): Promise<{ webhook: Webhook; secret: string }> {
  const before = await lockEndpoint(tx, of.customerId, of.id)
  const [secret, now] = [newSecret(), clock.now()]
  // The receiver may still use either: a third would end one of them before its time.
  if (before.earlier_until !== null && before.earlier_until > now)
    throw new Refusal('conflict', { fields: { secret: texts.rotated } })
  const row = await tx
    .updateTable('webhook_endpoint')
    .set({
      secret: secrets.seal(secretPurpose(before.id), secret),
      earlier_secret: before.secret,
      earlier_until: later(now, hours(secretOverlapHours)),
    })
    .where('id', '=', before.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { webhook: presentWebhook(row, now), secret }
}

/** The secrets that sign a call now, the newest first. */
export function secretsOf(row: EndpointRow, secrets: Secrets, now: Date): string[] {
  const purpose = secretPurpose(row.id)
  const newest = secrets.open(purpose, row.secret)
  return row.earlier_secret && row.earlier_until && row.earlier_until > now
    ? [newest, secrets.open(purpose, row.earlier_secret)]
    : [newest]
}

/** Calls no address of a customer any more, until they switch it on again; answers how many. */
export async function pauseEndpoints(tx: Tx, clock: Clock, customerId: string): Promise<number> {
  // In the same order in which senders lock them, so that there is no deadlock.
  await tx
    .selectFrom('webhook_endpoint')
    .select('id')
    .where('customer_id', '=', customerId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const rows = await tx
    .updateTable('webhook_endpoint')
    .set({ disabled_at: clock.now(), disabled_reason: 'safety' })
    .where('customer_id', '=', customerId)
    .where('disabled_at', 'is', null)
    .returning('id')
    .execute()
  await failWaiting(
    tx,
    rows.map(({ id }) => id),
  )
  return rows.length
}
