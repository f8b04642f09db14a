/** Who may look into the database of a server: by a ticket, then for half an hour by a sign-in. */
import { createHash, randomBytes } from 'node:crypto'
import { openMinutes } from '../../contract/wordpress-database.ts'
import { later, minutes, seconds, type Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Caller } from '../platform/http.ts'

const ticketMs = seconds(60)
const hashOf = (ticket: string): Buffer => createHash('sha256').update(ticket).digest()

/** Makes a ticket for this sign-in, and deletes expired ones. */
export async function giveTicket(
  tx: Tx,
  clock: Clock,
  of: { readonly siteId: string; readonly caller: Caller },
): Promise<string> {
  const now = clock.now()
  const { customerId, sessionId } = of.caller
  await tx
    .deleteFrom('site_database_access')
    .where('session_id', '=', sessionId)
    .where((is) =>
      is.or([
        is('open_until', '<', now),
        is.and([is('open_until', 'is', null), is('ticket_until', '<', now)]),
      ]),
    )
    .execute()
  const ticket = randomBytes(32).toString('base64url')
  await tx
    .insertInto('site_database_access')
    .values({
      ticket_hash: hashOf(ticket),
      site_id: of.siteId,
      customer_id: customerId,
      session_id: sessionId,
      ticket_until: later(now, ticketMs),
    })
    .execute()
  return ticket
}

/**
 * Uses up a ticket; answers until when the database is open. Refuses with link_expired a ticket
 * that is invalid or belongs to another sign-in.
 */
export async function enter(
  tx: Tx,
  clock: Clock,
  of: { readonly siteId: string; readonly caller: Caller; readonly ticket: string },
): Promise<Date> {
  const now = clock.now()
  const row = await tx
    .updateTable('site_database_access')
    .set({ open_until: later(now, minutes(openMinutes)) })
    .where('ticket_hash', '=', hashOf(of.ticket))
    .where('site_id', '=', of.siteId)
    .where('session_id', '=', of.caller.sessionId)
    .where('customer_id', '=', of.caller.customerId)
    .where('open_until', 'is', null)
    .where('ticket_until', '>', now)
    .returning('open_until')
    .executeTakeFirst()
  if (!row?.open_until) throw new Refusal('link_expired')
  return row.open_until
}

/** Until when the database is open to this sign-in; null: it is not. */
export async function openUntil(
  db: Database | Queryable,
  clock: Clock,
  of: { readonly siteId: string; readonly caller: Caller },
): Promise<Date | null> {
  const row = await db
    .selectFrom('site_database_access')
    .select('open_until')
    .where('session_id', '=', of.caller.sessionId)
    .where('site_id', '=', of.siteId)
    .where('customer_id', '=', of.caller.customerId)
    .where('open_until', '>', clock.now())
    .orderBy('open_until', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.open_until ?? null
}

export async function leave(
  tx: Tx,
  of: { readonly siteId: string; readonly caller: Caller },
): Promise<void> {
  await tx
    .deleteFrom('site_database_access')
    .where('session_id', '=', of.caller.sessionId)
    .where('site_id', '=', of.siteId)
    .execute()
}
