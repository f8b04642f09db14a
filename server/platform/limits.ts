/**
 * Attempt counters on PostgreSQL, shared by every process. They have a small pool of their own, so
 * that a counter never waits for a transaction that waits for the counter.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { rateLimits, type RateLimited } from '../../contract/rate-limits.ts'
import { connections } from './connection-budget.ts'
import { openPool } from './database-client.ts'
import { Refusal } from './errors.ts'

export interface Limit {
  /** Counts one attempt. Refuses with rate_limited when there are too many. */
  take(key: string): Promise<void>
  /** Refuses when the key has used up its attempts, without counting one. */
  check(key: string): Promise<void>
  /** Takes one counted attempt back. */
  giveBack(key: string): Promise<void>
  forget(key: string): Promise<void>
}

export interface Limits {
  /** The limit of that name in contract/rate-limits.ts; `attempts` where the provider sets them. */
  limit(name: RateLimited, attempts?: number): Limit
  /** Drops counters that have run out. */
  forgetExpired(): Promise<void>
  close(): Promise<void>
}

/**
 * Rows deleted per statement, so that a flood does not hit the statement timeout. There is no index
 * for them: it would cost each counted call more than one hourly scan of the whole table.
 */
const forgottenAtOnce = 5000

const refuse = (msBeforeNext: number): never => {
  throw new Refusal('rate_limited', { retryAfterSeconds: msBeforeNext / 1000 })
}

/**
 * Keys are email and network addresses, of any length: the table holds only their hash, which
 * always fits.
 */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url')

/**
 * The rate limiter's library computes with numbers, where the rest of the portal reads int8 as
 * bigint.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as 'text'),
}

export function createLimits(url: string): Limits {
  const pool = openPool(
    url,
    connections.limits,
    { types, query_timeout: 10_000, application_name: 'portal-limits' },
    () => undefined,
  )
  return {
    limit(name, attempts = rateLimits[name].attempts) {
      const counter = new RateLimiterPostgres({
        storeClient: pool,
        storeType: 'pool',
        tableName: 'rate_limit',
        tableCreated: true,
        keyPrefix: name,
        points: attempts,
        duration: rateLimits[name].seconds,
        clearExpiredByTimeout: false,
      })
      return {
        async take(key) {
          try {
            await counter.consume(hashOf(key))
          } catch (reason) {
            if (reason instanceof RateLimiterRes) refuse(reason.msBeforeNext)
            throw reason
          }
        },
        async check(key) {
          const known = await counter.get(hashOf(key))
          if (known && known.consumedPoints >= attempts) refuse(known.msBeforeNext)
        },
        async giveBack(key) {
          await counter.reward(hashOf(key), 1)
        },
        async forget(key) {
          await counter.delete(hashOf(key))
        },
      }
    },
    async forgetExpired() {
      for (;;) {
        const { rowCount } = await pool.query(
          `delete from rate_limit where ctid = any (array(
            select ctid from rate_limit where expire < $1 limit $2))`,
          [Date.now(), forgottenAtOnce],
        )
        if ((rowCount ?? 0) < forgottenAtOnce) return
      }
    },
    close: () => pool.end(),
  }
}
