/**
 * Wrong passwords of one account cause growing delays: none for the first five, 2 s for the sixth,
 * then 4 s, 8 s … at most a minute. No number of them locks the account.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import type { Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

/** Failures before the first delay. */
const freeFailures = 5
const longestSeconds = 60
/** Failures are forgotten this long after the last one, ms. */
const memoryMs = minutes(15)

export interface Delays {
  /** Refuses with rate_limited during a delay. */
  check(key: string): Promise<void>
  /**
   * Counts a failure; answers how many seconds of delay it began, if any. Refuses with rate_limited
   * when a delay began while it was being judged.
   */
  fail(key: string): Promise<number | undefined>
  forget(key: string, tx?: Queryable): Promise<void>
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()

export function createDelays(db: Queryable, clock: Clock): Delays {
  const delays: Delays = {
    async check(key) {
      const row = await db
        .selectFrom('sign_in_failure')
        .select('blocked_until')
        .where('key', '=', hashOf(key))
        .where('blocked_until', '>', clock.now())
        .executeTakeFirst()
      if (!row) return
      const ms = row.blocked_until.getTime() - clock.now().getTime()
      throw new Refusal('rate_limited', { retryAfterSeconds: ms / 1000 })
    },
    async fail(key) {
      const now = clock.now()
      // One statement: each of several parallel guesses counts, and none counts after a delay has
      // begun.
      const { rows } = await sql<{ seconds: number }>`
        insert into sign_in_failure as f (key, failures, blocked_until, expires_at)
        values (${hashOf(key)}, 1, ${now}, ${later(now, memoryMs)})
        on conflict (key) do update set
          failures = case when f.expires_at <= ${now} then 1 else f.failures + 1 end,
          blocked_until = case
            when f.expires_at <= ${now} or f.failures < ${freeFailures} then ${now}::timestamptz
            else ${now}::timestamptz + make_interval(
              secs => least(${longestSeconds}, 2 ^ least(f.failures + 1 - ${freeFailures}, 30))
            )
          end,
          expires_at = ${later(now, memoryMs)}
        where f.blocked_until <= ${now}
        returning extract(epoch from blocked_until - ${now}::timestamptz)::float as seconds
      `.execute(db)
      const [counted] = rows
      if (counted) return counted.seconds > 0 ? counted.seconds : undefined
      await delays.check(key)
      // The delay has just ended.
      throw new Refusal('rate_limited', { retryAfterSeconds: 1 })
    },
    async forget(key, tx = db) {
      await tx.deleteFrom('sign_in_failure').where('key', '=', hashOf(key)).execute()
    },
  }
  return delays
}

export const dropOldFailures = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'sign_in_failure')
