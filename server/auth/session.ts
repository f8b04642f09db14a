/**
 * Access tokens: opaque, random, stored only as a hash, revocable, expired after twelve idle hours
 * and after thirty days in any case. A locked session continues under a new token once the password
 * is given.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Session } from '../../contract/account.ts'
import { days, hours, later, minutes, type Clock } from '../platform/clock.ts'
import { deleteInBatches } from '../platform/batches.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Caller, Origin } from '../platform/http.ts'

const idleMs = hours(12)
const longestMs = days(30)
/** Of one customer; the oldest ends for a new one. */
const maxSessions = 20
/** The last use is written at most this often. */
const lastUsedWriteMs = minutes(1)

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export type { Caller, Origin }
/**
 * Closes what is open under these sessions, in every process, once the transaction is committed.
 */
export type EndLive = (tx: Tx, sessionIds: readonly string[]) => Promise<void>

interface Token {
  readonly accessToken: string
  readonly expiresAt: Date
}
const newToken = (): string => randomBytes(32).toString('base64url')
/** When a session that is used now ends by itself. */
const expiryOf = (now: Date, endsAt: Date): Date =>
  new Date(Math.min(later(now, idleMs).getTime(), endsAt.getTime()))

/** Opens one; beyond twenty of a customer the oldest end. */
export async function openSession(
  tx: Tx,
  clock: Clock,
  endLive: EndLive,
  customerId: string,
  from: Origin,
): Promise<Token> {
  const accessToken = newToken()
  const id = randomUUID()
  const now = clock.now()
  const endsAt = later(now, longestMs)
  const expiresAt = expiryOf(now, endsAt)
  await tx
    .insertInto('session')
    .values({
      id,
      token_hash: hashOf(accessToken),
      customer_id: customerId,
      ip: from.ip,
      user_agent: from.userAgent,
      created_at: now,
      last_used_at: now,
      expires_at: expiresAt,
      ends_at: endsAt,
    })
    .execute()
  const beyond = await tx
    .selectFrom('session')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', '<>', id)
    .orderBy('created_at', 'desc')
    .orderBy('last_used_at', 'desc')
    .offset(maxSessions - 1)
    .execute()
  for (const old of beyond) await endSessions(tx, endLive, { customerId, only: old.id })
  return { accessToken, expiresAt }
}

/** Locks a session: its live connections close. */
export async function lockSession(
  tx: Tx,
  clock: Clock,
  endLive: EndLive,
  sessionId: string,
): Promise<void> {
  // Held first, as at an ending: no socket is let in meanwhile.
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
  if (!held) throw new Refusal('unauthenticated')
  await tx
    .updateTable('session')
    .set({ locked_at: clock.now() })
    .where('id', '=', sessionId)
    .execute()
  await endLive(tx, [sessionId])
}

/** Continues a session under a new token and revokes the old one. Refuses with unauthenticated. */
export async function renewToken(tx: Tx, clock: Clock, sessionId: string): Promise<Token> {
  const held = await tx
    .selectFrom('session')
    .select('ends_at')
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
  if (!held) throw new Refusal('unauthenticated')
  const accessToken = newToken()
  const now = clock.now()
  const expiresAt = expiryOf(now, held.ends_at)
  await tx
    .updateTable('session')
    .set({
      token_hash: hashOf(accessToken),
      locked_at: null,
      last_used_at: now,
      expires_at: expiresAt,
    })
    .where('id', '=', sessionId)
    .execute()
  return { accessToken, expiresAt }
}

/** Who a token belongs to; undefined when it is unknown, revoked or expired. */
export async function identify(
  db: Queryable,
  clock: Clock,
  token: string,
): Promise<Caller | undefined> {
  const tokenHash = hashOf(token)
  const now = clock.now()
  const session = await db
    .selectFrom('session')
    .select(['id', 'customer_id', 'last_used_at', 'locked_at', 'ends_at'])
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!session) return undefined
  const locked = session.locked_at !== null
  // A locked one is not in use.
  if (!locked && now.getTime() - session.last_used_at.getTime() > lastUsedWriteMs) {
    await db
      .updateTable('session')
      .set({ last_used_at: now, expires_at: expiryOf(now, session.ends_at) })
      .where('token_hash', '=', tokenHash)
      .execute()
  }
  return { customerId: session.customer_id, sessionId: session.id, locked }
}

/**
 * Revokes a customer's sessions: all of them, `only` one, or all `except` one; returns how many.
 * Their live connections close.
 */
export async function endSessions(
  tx: Tx,
  endLive: EndLive,
  which: { customerId: string; only?: string; except?: string },
): Promise<number> {
  // Locked first: a socket that opens meanwhile is either seen by `endLive` or refused.
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where('customer_id', '=', which.customerId)
    .$if(which.only !== undefined, (query) => query.where('id', '=', which.only ?? ''))
    .$if(which.except !== undefined, (query) => query.where('id', '<>', which.except ?? ''))
    .orderBy('id')
    .forUpdate()
    .execute()
  if (held.length === 0) return 0
  const ids = held.map(({ id }) => id)
  await endLive(tx, ids)
  await tx.deleteFrom('session').where('id', 'in', ids).execute()
  return ids.length
}

/** Those that are alive, the last used first. */
export async function listSessions(
  db: Queryable,
  clock: Clock,
  { customerId, sessionId }: Pick<Caller, 'customerId' | 'sessionId'>,
): Promise<Session[]> {
  const rows = await db
    .selectFrom('session')
    .select(['id', 'ip', 'user_agent', 'created_at', 'last_used_at'])
    .where('customer_id', '=', customerId)
    .where('expires_at', '>', clock.now())
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    current: row.id === sessionId,
    ip: row.ip,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
  }))
}

export const dropExpired = (db: Queryable, clock: Clock): Promise<void> =>
  deleteInBatches(db, 'session', 'expires_at', clock.now())
