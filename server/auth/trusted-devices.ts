/** Browsers that are not asked for the second factor for 30 days, identified by a cookie. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Security } from '../../contract/second-factor.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Origin } from './session.ts'

const keptMs = days(30)
export const trustSeconds = keptMs / 1000

const hashOf = (cookie: string): Buffer => createHash('sha256').update(cookie).digest()

/** Answers the cookie. */
export async function trustDevice(
  tx: Tx,
  clock: Clock,
  customerId: string,
  from: Origin,
): Promise<string> {
  const cookie = randomBytes(32).toString('base64url')
  const now = clock.now()
  await tx
    .insertInto('trusted_device')
    .values({
      id: randomUUID(),
      customer_id: customerId,
      token_hash: hashOf(cookie),
      ip: from.ip,
      user_agent: from.userAgent,
      created_at: now,
      expires_at: later(now, keptMs),
    })
    .execute()
  return cookie
}

export async function isTrusted(
  db: Queryable,
  clock: Clock,
  customerId: string,
  cookie: string | undefined,
): Promise<boolean> {
  if (cookie === undefined) return false
  const found = await db
    .selectFrom('trusted_device')
    .select('id')
    .where('token_hash', '=', hashOf(cookie))
    .where('customer_id', '=', customerId)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  return found !== undefined
}

export async function listDevices(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<Security['devices']> {
  const rows = await db
    .selectFrom('trusted_device')
    .select(['id', 'ip', 'user_agent', 'created_at', 'expires_at'])
    .where('customer_id', '=', customerId)
    .where('expires_at', '>', clock.now())
    .orderBy('created_at', 'desc')
    .limit(50)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    ip: row.ip,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }))
}

/** Refuses with not_found. */
export async function forgetDevice(tx: Tx, customerId: string, id: string): Promise<void> {
  const gone = isUuid(id)
    ? await tx
        .deleteFrom('trusted_device')
        .where('id', '=', id)
        .where('customer_id', '=', customerId)
        .returning('id')
        .executeTakeFirst()
    : undefined
  if (!gone) throw new Refusal('not_found')
}

/** Called after a password change, and with the removal of the last factor. */
export async function forgetDevices(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('trusted_device').where('customer_id', '=', customerId).execute()
}

export const dropOldDevices = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'trusted_device')
