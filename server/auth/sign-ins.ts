/** The history of sign-ins of accounts that exist, kept for 90 days. */
import type { SignIn } from '../../contract/account.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import { newestFirst, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { keptSince } from '../platform/retention.ts'
import type { Origin } from './session.ts'

export async function noteSignIn(
  db: Queryable,
  clock: Clock,
  customerId: string,
  from: Origin,
  outcome: Exclude<SignIn['outcome'], 'viewed'>,
): Promise<void> {
  await db
    .insertInto('sign_in')
    .values({
      customer_id: customerId,
      at: clock.now(),
      ip: from.ip,
      user_agent: from.userAgent,
      outcome,
    })
    .execute()
}

/**
 * Whether the account was signed in to before, as far as known. True also for an account older than
 * the history, because it may have been.
 */
export async function wasSignedIn(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<boolean> {
  const before = await db
    .selectFrom('customer')
    .select('id')
    .where('id', '=', customerId)
    .where((eb) =>
      eb.or([
        eb('created_at', '<', keptSince('sign_in', clock.now())),
        eb.exists(
          eb
            .selectFrom('sign_in')
            .select('sign_in.id')
            .whereRef('sign_in.customer_id', '=', 'customer.id')
            .where('outcome', '=', 'succeeded'),
        ),
      ]),
    )
    .executeTakeFirst()
  return before !== undefined
}

/** Newest first. */
export async function listSignIns(
  db: Queryable,
  customerId: string,
  page: PageRequest,
): Promise<{ signIns: SignIn[]; next: bigint | null }> {
  const query = db
    .selectFrom('sign_in')
    .select(['id', 'at', 'ip', 'user_agent', 'outcome', 'until'])
    .where('customer_id', '=', customerId)
  const { rows, next } = await newestFirst(query, 'id', page)
  return {
    signIns: rows.map(({ id, at, ip, user_agent, outcome, until }) => ({
      id: String(id),
      at: at.toISOString(),
      ip,
      userAgent: user_agent,
      outcome: outcome as SignIn['outcome'],
      until: until?.toISOString() ?? null,
    })),
    next,
  }
}

export const dropOldSignIns = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'sign_in')
