/**
 * Sessions of the staff: opaque, random, stored only as a hash; each ends after eight hours, used
 * or not. Ended ones are kept for 90 days, because they show the networks from which a member
 * signed in.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { endViews } from '../auth/index.ts'
import { dropOld } from '../platform/batches.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import type { Origin } from '../platform/http.ts'

const lifeMs = hours(8)
export const lifeSeconds = lifeMs / 1000

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface OpenedStaffSession {
  readonly id: string
  readonly cookie: string
  readonly expiresAt: Date
}

export async function openStaffSession(
  tx: Tx,
  clock: Clock,
  staffId: string,
  from: Origin,
): Promise<OpenedStaffSession> {
  const cookie = randomBytes(32).toString('base64url')
  const id = randomUUID()
  const now = clock.now()
  const expiresAt = later(now, lifeMs)
  await tx
    .insertInto('staff_session')
    .values({
      id,
      token_hash: hashOf(cookie),
      staff_id: staffId,
      ip: from.ip,
      network: from.network,
      user_agent: from.userAgent,
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
  return { id, cookie, expiresAt }
}

/** Living sessions with their members; a disabled member has none. */
const living = (db: Queryable, clock: Clock) =>
  db
    .selectFrom('staff_session as s')
    .innerJoin('staff as m', 'm.id', 's.staff_id')
    .select(['s.id', 's.staff_id', 's.expires_at', 'm.name', 'm.email', 'm.role', 'm.networks'])
    .where('s.expires_at', '>', clock.now())
    .where('s.ended_at', 'is', null)
    .where('m.disabled_at', 'is', null)
export const livingSession = (db: Queryable, clock: Clock, cookie: string) =>
  living(db, clock).where('s.token_hash', '=', hashOf(cookie)).executeTakeFirst()

/** Whether a member was signed in from this network within 90 days. */
export async function wasSeenFrom(
  db: Queryable,
  staffId: string,
  network: string,
): Promise<boolean> {
  const seen = await db
    .selectFrom('staff_session')
    .select('id')
    .where('staff_id', '=', staffId)
    .where('network', '=', network)
    .limit(1)
    .executeTakeFirst()
  return seen !== undefined
}

/** Like `livingSession`, by the session's id instead of its cookie. */
export const livingSessionOf = (db: Queryable, clock: Clock, id: string) =>
  living(db, clock).where('s.id', '=', id).executeTakeFirst()

/** Ends one session of a member, or all; answers how many. Their views of customers end too. */
export async function endStaffSessions(
  tx: Tx,
  clock: Clock,
  staffId: string,
  only?: string,
): Promise<number> {
  const ended = await tx
    .updateTable('staff_session')
    .set({ ended_at: clock.now() })
    .where('staff_id', '=', staffId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .$if(only !== undefined, (query) => query.where('id', '=', only ?? ''))
    .returning('id')
    .execute()
  await endViews(tx, clock, { column: 'staff_session_id', is: ended.map(({ id }) => id) })
  return ended.length
}

export const dropOldStaffSessions = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'staff_session')
