/** Stored notifications: events that a customer missed, and the bell. */
import type { Language } from '../../contract/errors.ts'
import type { EventName, Notification } from '../../contract/realtime.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst } from '../platform/cursor.ts'
import type { Database, Queryable } from '../platform/db.ts'

/** The bell's sentence for each event, written by the module that publishes it. */
export type Titles = Record<EventName, (payload: unknown, language: Language) => string>

/** A row of a release that had other events is named by its event. */
function titleOf(
  titles: Partial<Record<string, Titles[EventName]>>,
  event: string,
  payload: unknown,
  language: Language,
): string {
  return titles[event]?.(payload, language) ?? event
}

/**
 * Newest first. `before` pages downwards; `after` answers only what is newer than a known id.
 * Events get an id when the relay has sent them.
 */
export async function listNotifications(
  db: Queryable,
  of: {
    customerId: string
    limit: number
    before: bigint | null
    after: bigint | null
    language: Language
    complete: (payload: object) => object
    titles: Titles
  },
): Promise<{ data: Notification[]; unread: number; next: bigint | null }> {
  let query = db
    .selectFrom('notification')
    .select(['seq', 'event', 'payload', 'created_at', 'read_at'])
    .where('customer_id', '=', of.customerId)
    .where('seq', 'is not', null)
  if (of.after !== null) query = query.where('seq', '>', of.after)
  const { rows, next } = await newestFirst(query, 'seq', of)
  return {
    data: rows.map((row) => ({
      id: String(row.seq),
      event: row.event as EventName,
      title: titleOf(of.titles, row.event, row.payload, of.language),
      payload: of.complete(row.payload as object) as Record<string, unknown>,
      read: row.read_at !== null,
      createdAt: row.created_at.toISOString(),
    })),
    unread: await unreadCount(db, of.customerId),
    next,
  }
}

export async function unreadCount(db: Queryable, customerId: string): Promise<number> {
  const row = await db
    .selectFrom('notification')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('customer_id', '=', customerId)
    .where('read_at', 'is', null)
    .where('seq', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(row.n)
}

/**
 * Marks the given ids, all up to one, or all; an event that was not sent yet stays unread. Ids of
 * another customer's notifications change nothing.
 */
export async function markRead(
  db: Queryable,
  clock: Clock,
  customerId: string,
  which: { readonly ids?: readonly bigint[] | undefined; readonly upTo?: bigint | undefined },
): Promise<void> {
  let query = db
    .updateTable('notification')
    .set({ read_at: clock.now() })
    .where('customer_id', '=', customerId)
    .where('read_at', 'is', null)
    .where('seq', 'is not', null)
  const { ids, upTo } = which
  if (upTo !== undefined) query = query.where('seq', '<=', upTo)
  if (ids) query = query.where('seq', 'in', ids.length > 0 ? [...ids] : [-1n])
  await query.execute()
}

/**
 * The bell is no archive: the lists of invoices, entries and servers show what happened. An event
 * that was not sent yet stays.
 */
export async function dropOldNotifications(db: Database, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'notification')
}
