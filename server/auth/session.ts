/** Access tokens: opaque, random, stored only as a hash, revocable, dead after twelve idle hours. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Session } from '../../contract/account.ts'
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'

const idleMs = hours(12)
/** The last use is written at most this often. */
const touchMs = minutes(1)

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface Caller {
  readonly customerId: string
  readonly sessionId: string
}

/** Where a call comes from. */
export interface Origin {
  readonly ip: string
  readonly userAgent: string
}

/** Closes what is open under these sessions, in every process, once the transaction is committed. */
export type EndLive = (tx: Tx, sessionIds: readonly string[]) => Promise<void>

export async function openSession(
  db: Queryable,
  clock: Clock,
  customerId: string,
  from: Origin,
): Promise<{ accessToken: string; expiresAt: Date }> {
  const accessToken = randomBytes(32).toString('base64url')
  const now = clock.now()
  const expiresAt = later(now, idleMs)
  await db
    .insertInto('session')
    .values({
      id: randomUUID(),
      token_hash: hashOf(accessToken),
      customer_id: customerId,
      ip: from.ip,
      user_agent: from.userAgent,
      created_at: now,
      last_used_at: now,
      expires_at: expiresAt,
    })
    .execute()
  return { accessToken, expiresAt }
}

/** Who a token belongs to; undefined when it is unknown, revoked or expired. */
export async function identify(db: Queryable, clock: Clock, token: string): Promise<Caller | undefined> {
  const tokenHash = hashOf(token)
  const now = clock.now()
  const session = await db
    .selectFrom('session')
    .select(['id', 'customer_id', 'last_used_at'])
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (!session) return undefined
  if (now.getTime() - session.last_used_at.getTime() > touchMs) {
    await db
      .updateTable('session')
      .set({ last_used_at: now, expires_at: later(now, idleMs) })
      .where('token_hash', '=', tokenHash)
      .execute()
  }
  return { customerId: session.customer_id, sessionId: session.id }
}

/** Ends a customer's sessions: all of them, `only` one, or all `but` one; answers how many. What is open under them closes. */
export async function endSessions(tx: Tx, endLive: EndLive, which: { customerId: string; only?: string; but?: string }): Promise<number> {
  // Held first: a socket that is let in meanwhile is either seen by `endLive` or not let in.
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where('customer_id', '=', which.customerId)
    .$if(which.only !== undefined, (query) => query.where('id', '=', which.only ?? ''))
    .$if(which.but !== undefined, (query) => query.where('id', '<>', which.but ?? ''))
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
export async function listSessions(db: Queryable, clock: Clock, { customerId, sessionId }: Caller): Promise<Session[]> {
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

export const dropExpired = async (db: Queryable, clock: Clock): Promise<void> =>
  void (await db.deleteFrom('session').where('expires_at', '<', clock.now()).execute())
