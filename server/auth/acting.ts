/**
 * Acting sessions: a person at work in another customer's account (decision 107). Each depends on
 * the person's own session: it ends and is locked with it, and its use keeps it alive.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { actingPrefix } from '../../contract/acting.ts'
import { dropOld } from '../platform/batches.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { keepInUse } from './session.ts'

const lifeMs = hours(12)
/** Per session; a new one ends the oldest. */
const maxActing = 10

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * Begins an acting session; only this answer contains the token. `ended`: the memberships of the
 * session's other acting sessions, which ended to make room.
 */
export async function beginActing(
  tx: Tx,
  clock: Clock,
  { memberId, sessionId }: { readonly memberId: string; readonly sessionId: string },
): Promise<{
  readonly token: string
  readonly expiresAt: Date
  readonly ended: readonly string[]
}> {
  const token = `${actingPrefix}${randomBytes(32).toString('base64url')}`
  const id = randomUUID()
  const now = clock.now()
  // Lock the session, as its ending does.
  const { ends_at: endsAt } = await tx
    .selectFrom('session')
    .select('ends_at')
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const expiresAt = new Date(Math.min(later(now, lifeMs).getTime(), endsAt.getTime()))
  await tx
    .insertInto('acting_session')
    .values({
      id,
      token_hash: hashOf(token),
      member_id: memberId,
      session_id: sessionId,
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
  const beyond = await tx
    .selectFrom('acting_session')
    .select(['id', 'member_id'])
    .where('session_id', '=', sessionId)
    .where('id', '<>', id)
    .orderBy('created_at', 'desc')
    .offset(maxActing - 1)
    .execute()
  for (const old of beyond) await endActing(tx, old.id)
  return { token, expiresAt, ended: beyond.map((old) => old.member_id) }
}

/** The person's session, and the membership it acts under. */
export interface Acting {
  readonly id: string
  readonly memberId: string
  readonly sessionId: string
  readonly personId: string
  readonly locked: boolean
}

/** Undefined: unknown or ended, or its session has ended. */
export async function actingOf(
  db: Queryable,
  clock: Clock,
  token: string,
): Promise<Acting | undefined> {
  const now = clock.now()
  const row = await db
    .selectFrom('acting_session as a')
    .innerJoin('session as s', 's.id', 'a.session_id')
    .select(['a.id', 'a.member_id', 's.id as session_id', 's.customer_id', 's.locked_at'])
    .select(['s.last_used_at', 's.ends_at', 's.remembered'])
    .where('a.token_hash', '=', hashOf(token))
    .where('a.expires_at', '>', now)
    .where('s.expires_at', '>', now)
    .executeTakeFirst()
  if (!row) return undefined
  const locked = row.locked_at !== null
  if (!locked) await keepInUse(db, now, { ...row, id: row.session_id })
  return {
    id: row.id,
    memberId: row.member_id,
    sessionId: row.session_id,
    personId: row.customer_id,
    locked,
  }
}

/** Ends one. */
export async function endActing(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('acting_session').where('id', '=', id).execute()
}

/** Ends all open work under these memberships. */
export async function endActingOf(tx: Tx, memberIds: readonly string[]): Promise<void> {
  if (memberIds.length === 0) return
  // Lock the sessions, as a beginning does.
  await tx
    .selectFrom('session')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('acting_session').select('session_id').where('member_id', 'in', memberIds),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
  await tx.deleteFrom('acting_session').where('member_id', 'in', memberIds).execute()
}

/** The end of a session's work under a membership. Undefined: it is not at work. */
export async function actingUntil(
  db: Queryable,
  clock: Clock,
  { memberId, sessionId }: { readonly memberId: string; readonly sessionId: string },
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('acting_session')
    .select('expires_at')
    .where('member_id', '=', memberId)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', clock.now())
    .orderBy('expires_at', 'desc')
    .executeTakeFirst()
  return row?.expires_at
}

/**
 * The sessions with access to an account: its own, and those of members at work in it. Locks them
 * until the transaction ends.
 */
export async function sessionsOpenTo(
  tx: Tx,
  of: { readonly customerId: string; readonly memberIds: readonly string[] },
): Promise<string[]> {
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where((eb) =>
      eb.or([
        eb('customer_id', '=', of.customerId),
        eb(
          'id',
          'in',
          eb
            .selectFrom('acting_session')
            .select('session_id')
            .where('member_id', '=', sql<string>`any (${[...of.memberIds]}::uuid[])`),
        ),
      ]),
    )
    .orderBy('id')
    .forUpdate()
    .execute()
  return held.map(({ id }) => id)
}

export const dropOldActing = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'acting_session')
