/** Counts each site's visits until somebody takes the sums. */

import { answerTimeBounds } from '../platform/answer-times.ts'

export interface Visits {
  requests: number
  /** Answered 4xx, and 5xx. */
  clientErrors: number
  serverErrors: number
  /** Answered with a page or file that the edge kept. */
  cached: number
  /** From the request's head to the end of the response, summed, ms. */
  totalMs: number
  /** How many took how long, by `answerTimeBounds`. */
  times: number[]
}

export const noVisits = (): Visits => ({
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  cached: 0,
  totalMs: 0,
  times: Array.from({ length: answerTimeBounds.length + 1 }, () => 0),
})

export interface Traffic {
  /** @param tookMs until the answer ended */
  note(site: string, status: number, tookMs: number, isCached: boolean): void
  /** All since the last call, by site. */
  take(): Map<string, Visits>
}

export function createTraffic(): Traffic {
  let bySite = new Map<string, Visits>()
  return {
    note(site, status, tookMs, isCached) {
      let visits = bySite.get(site)
      if (!visits) {
        visits = noVisits()
        bySite.set(site, visits)
      }
      visits.requests += 1
      if (status >= 500) visits.serverErrors += 1
      else if (status >= 400) visits.clientErrors += 1
      if (isCached) visits.cached += 1
      const ms = Math.max(0, Math.round(tookMs))
      visits.totalMs += ms
      const found = answerTimeBounds.findIndex((bound) => ms <= bound)
      visits.times[found < 0 ? answerTimeBounds.length : found]! += 1
    },
    take() {
      const taken = bySite
      bySite = new Map()
      return taken
    },
  }
}
