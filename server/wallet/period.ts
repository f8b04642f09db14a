/** A span of time as a caller names it: days or moments, UTC where nothing else is said. */
import type { Language } from '../../contract/errors.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { days, later } from '../platform/clock.ts'
import { Refusal } from '../platform/errors.ts'

/** `from` belongs to it, `to` does not. Null: open. */
export interface Period {
  readonly from: Date | null
  readonly to: Date | null
}

const isDay = (text: string): boolean => text.length === 10
/** A time of day without an offset is UTC; JavaScript would take the server's zone. */
const instant = (text: string): Date =>
  new Date(isDay(text) || /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`)

/**
 * Refuses a period that ends before it begins. A `to` that is a day belongs to the period whole.
 */
export function periodOf(
  query: { from?: string | undefined; to?: string | undefined },
  language: Language,
): Period {
  const from = query.from === undefined ? null : instant(query.from)
  const named = query.to === undefined ? null : instant(query.to)
  const to = named && query.to !== undefined && isDay(query.to) ? later(named, days(1)) : named
  if (from && named && from > named)
    throw new Refusal('invalid_input', { fields: { from: ruleText('period_order', language) } })
  return { from, to }
}

/**
 * Like `periodOf`, with both ends set: `to` defaults to now, and `from` to the beginning of `to`'s
 * month.
 */
export function closedPeriod(
  query: { from?: string | undefined; to?: string | undefined },
  now: Date,
  language: Language,
): { from: Date; to: Date } {
  const { from, to } = periodOf(query, language)
  // The end is exclusive: 1 ms more includes entries posted in this very millisecond.
  const end = to ?? later(now, 1)
  // The end is exclusive: for a month's last day it is the next month's first moment.
  const last = later(end, -1)
  const begin = from ?? new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), 1))
  if (begin > end)
    throw new Refusal('invalid_input', { fields: { from: ruleText('period_order', language) } })
  return { from: begin, to: end }
}
