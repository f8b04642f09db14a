/**
 * Monthly periods, counted from an anchor in the time zone of the customer's region. An order on 31
 * January renews on 28 February and then on 31 March, at the same local time. Every end is computed
 * from the anchor and not from the previous end, so that a short month or a change of the clocks
 * shifts one renewal only.
 */

/** Milliseconds. */
const day = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const number = 'numeric'
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: number,
      month: number,
      day: number,
      hour: number,
      minute: number,
      second: number,
    })
    formats.set(zone, format)
  }
  return format
}

/** A zone's local time minus UTC at a moment, ms, from the zone's rules. */
function askedOffset(zone: string, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value)
  const { year = 0, month = 1, day: date = 1, hour = 0, minute = 0, second = 0 } = parts
  const milliseconds = ((at % 1000) + 1000) % 1000
  return Date.UTC(year, month - 1, date, hour, minute, second, milliseconds) - at
}

/** Cached offsets by zone and by day of UTC; null: the clocks change on that day. */
const offsets = new Map<string, Map<number, number | null>>()

/**
 * Formatting dates is slow, and a forecast needs thousands. A day that begins and ends with the
 * same offset has it all day, so the offset is cached per day.
 */
function offsetOf(zone: string, at: number): number {
  let known = offsets.get(zone)
  if (!known) offsets.set(zone, (known = new Map<number, number | null>()))
  const date = Math.floor(at / day)
  let offset = known.get(date)
  if (offset === undefined) {
    offset = askedOffset(zone, date * day)
    if (offset !== askedOffset(zone, (date + 1) * day)) offset = null
    known.set(date, offset)
  }
  return offset ?? askedOffset(zone, at)
}

/** The local time in a zone, as the number of ms at which UTC shows the same. */
const shownAt = (zone: string, at: number): number =>
  zone === 'UTC' ? at : at + offsetOf(zone, at)

/**
 * The moment of a local time in a zone. In autumn, when it occurs twice, the first; in spring, when
 * it is skipped, later by the size of the skip.
 */
function momentOf(zone: string, shown: number): number {
  const offsetAt = (at: number): number => shownAt(zone, at) - at
  const [before, after] = [offsetAt(shown - day), offsetAt(shown + day)]
  const early = shown - before
  const late = shown - after
  return before === after || offsetAt(early) === before || offsetAt(late) !== after ? early : late
}

/** The moment a number of whole months after the anchor. */
export function monthsAfter(anchor: Date, months: number, zone: string): Date {
  const shown = new Date(shownAt(zone, anchor.getTime()))
  const month = shown.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(shown.getUTCFullYear(), month + 1, 0)).getUTCDate()
  const timeOfDay = ((shown.getTime() % day) + day) % day
  return new Date(
    momentOf(
      zone,
      Date.UTC(shown.getUTCFullYear(), month, Math.min(shown.getUTCDate(), lastDay)) + timeOfDay,
    ),
  )
}

/** The year in a zone's local time; it is part of an invoice's number. */
export const yearIn = (zone: string, at: Date): number =>
  new Date(shownAt(zone, at.getTime())).getUTCFullYear()
/** The day in a zone: 2026-12-31. */
export const dayIn = (zone: string, at: Date): string =>
  new Date(shownAt(zone, at.getTime())).toISOString().slice(0, 10)

/** Whole seconds between two moments, rounded down; 0 if `to` is earlier. */
export const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000))

/** The beginning of a day (2026-12-31) in a zone. */
export const midnightOf = (zone: string, date: string): Date =>
  new Date(momentOf(zone, Date.parse(`${date}T00:00:00Z`)))
/** The last second of the day that is a number of whole days after a moment. */
export function endOfDayAfter(zone: string, moment: Date, days: number): Date {
  const next = Date.parse(`${dayIn(zone, moment)}T00:00:00Z`) + (days + 1) * day
  return new Date(midnightOf(zone, new Date(next).toISOString().slice(0, 10)).getTime() - 1000)
}
/**
 * The last day in a zone (2026-12-31) that is over at a moment, or ends with its second. What is
 * due at the end of a day in another zone is told with it: the day named is not too late.
 */
export const lastDayBy = (zone: string, moment: Date): string => {
  const next = dayIn(zone, new Date(moment.getTime() + 1000))
  return new Date(Date.parse(`${next}T00:00:00Z`) - day).toISOString().slice(0, 10)
}
/** The local time in a zone: 2026-12-31 23:59:59. */
export const timeIn = (zone: string, at: Date): string =>
  new Date(shownAt(zone, at.getTime())).toISOString().slice(0, 19).replace('T', ' ')
