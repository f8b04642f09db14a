/**
 * When days and months begin in the zone in which times are shown: the customer's chosen one, or
 * else the browser's.
 */
import { formatDay } from '../format.ts'

const daySeconds = 86_400

/**
 * The first moment near a day (yyyy-MM-dd) for which `wanted` holds. It is searched for, because
 * clocks may skip midnight, or a whole day.
 */
function firstMoment(near: string, wanted: (written: string) => boolean): string {
  // No zone differs from UTC by a whole day. No entry is older than 1970, and databases do not know
  // the year 0.
  let before = Math.max(0, Date.parse(near) / 1000 - daySeconds)
  let at = before + 3 * daySeconds
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2)
    if (wanted(formatDay(middle * 1000))) at = middle
    else before = middle
  }
  return new Date(at * 1000).toISOString()
}

export const startOfDay = (day: string): string => firstMoment(day, (written) => written >= day)
/** The moment at which the next day begins. */
export const endOfDay = (day: string): string => firstMoment(day, (written) => written > day)

/** The month (yyyy-MM) `count` months later. */
export function monthsLater(month: string, count: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + count)).toISOString().slice(0, 7)
}
