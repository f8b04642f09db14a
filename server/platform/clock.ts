import type { Queryable } from './db.ts'
import type { Notices } from './notices.ts'

/** The one clock that every rule reads, so that a test can simulate years in seconds. */
export interface Clock {
  now(): Date
  /** It may skip days at once, by hand: what it skips counts as lived (decision 148). */
  readonly travels?: boolean
}
export const systemClock: Clock = { now: () => new Date() }

export interface TravellingClock extends Clock {
  /**
   * Follows the offset in the database and reports each change. Returns a function that stops it.
   */
  follow(db: Queryable, notices: Pick<Notices, 'on'>, onMove: () => void): Promise<() => void>
}

/**
 * A process that moves the clock sends a NOTIFY on this channel; a periodic query finds moves whose
 * notice was lost.
 */
export const clockChannel = 'portal_clock'
const lookMs = 30_000

/** The portal's clock minus the wall clock, ms. */
export async function readOffset(db: Queryable): Promise<number> {
  const row = await db.selectFrom('clock_offset').select('offset_ms').executeTakeFirst()
  return Number(row?.offset_ms ?? 0)
}

/** A clock that `npm run portal -- clock` can move while the portal runs: for the sandbox only. */
export function createTravellingClock(): TravellingClock {
  let offsetMs = 0
  return {
    travels: true,
    now: () => new Date(Date.now() + offsetMs),
    async follow(db, notices, onMove) {
      offsetMs = await readOffset(db)
      let looking = false
      let again = false
      let stopped = false
      const look = (): void => {
        // A notice during a query may be about a change after it: query again.
        again = looking
        if (looking || stopped) return
        looking = true
        readOffset(db)
          .then((found) => {
            if (found === offsetMs) return
            offsetMs = found
            onMove()
          })
          // The health check reports a database that does not answer; the clock keeps its offset.
          .catch(() => undefined)
          .finally(() => {
            looking = false
            if (again) look()
          })
      }
      notices.on(clockChannel, { onNotice: look, onConnect: look })
      const timer = setInterval(look, lookMs)
      timer.unref()
      return () => {
        stopped = true
        clearInterval(timer)
      }
    },
  }
}

export const seconds = (n: number): number => n * 1000
export const minutes = (n: number): number => seconds(n * 60)
export const hours = (n: number): number => minutes(n * 60)
export const days = (n: number): number => hours(n * 24)

/** A moment some milliseconds away from another. */
export const later = (than: Date, byMs: number): Date => new Date(than.getTime() + byMs)
