/** Access tokens: opaque, random, stored only as a hash, revocable, dead after twelve idle hours. */
import { createHash, randomBytes } from 'node:crypto'
import { hours, later, minutes, type Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'

const idleMs = hours(12)
/** The last use is written at most this often. */
const touchMs = minutes(1)

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface Caller {
  readonly customerId: string
  readonly tokenHash: Buffer
}

export async function openSession(db: Queryable, clock: Clock, customerId: string): Promise<{ accessToken: string; expiresAt: Date }> {
  const accessToken = randomBytes(32).toString('base64url')
  const now = clock.now()
  const expiresAt = later(now, idleMs)
  await db
    .insertInto('session')
    .values({ token_hash: hashOf(accessToken), customer_id: customerId, created_at: now, last_used_at: now, expires_at: expiresAt })
    .execute()
  return { accessToken, expiresAt }
}

/** Who a token belongs to; undefined when it is unknown, revoked or expired. */
export async function identify(db: Queryable, clock: Clock, token: string): Promise<Caller | undefined> {
  const tokenHash = hashOf(token)
  const now = clock.now()
  const session = await db
    .selectFrom('session')
    .select(['customer_id', 'last_used_at'])
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
  return { customerId: session.customer_id, tokenHash }
}

export const revoke = async (db: Queryable, tokenHash: Buffer): Promise<void> =>
  void (await db.deleteFrom('session').where('token_hash', '=', tokenHash).execute())
export const revokeAll = async (db: Queryable, customerId: string): Promise<void> =>
  void (await db.deleteFrom('session').where('customer_id', '=', customerId).execute())
export const dropExpired = async (db: Queryable, clock: Clock): Promise<void> =>
  void (await db.deleteFrom('session').where('expires_at', '<', clock.now()).execute())
