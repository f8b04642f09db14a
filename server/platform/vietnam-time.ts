/** The clocks of Vietnam, which has one zone and no summer time. */

const offset = '+07:00'
const offsetMs = 7 * 3_600_000

/**
 * The moment when the clocks there show `local` (2026-11-21T10:31:00, or with a space for the T;
 * parts of a second are left out); null for anything else.
 */
export function fromVietnam(local: string): Date | null {
  const shown = local
    .trim()
    .replace(' ', 'T')
    .replace(/\.\d{1,9}$/, '')
  const at = new Date(`${shown}${offset}`)
  // A day that the month does not have would become one of the next.
  return !Number.isNaN(at.getTime()) && inVietnam(at) === shown ? at : null
}

/** Vietnam's local time: 2026-11-21T10:31:00. */
export const inVietnam = (at: Date): string =>
  new Date(at.getTime() + offsetMs).toISOString().slice(0, 19)

/** When a day (2026-11-21) begins in Vietnam. Throws a RangeError when the text is not a day. */
export function dayInVietnam(day: string): Date {
  const at = fromVietnam(`${day}T00:00:00`)
  if (!at) throw new RangeError('no day')
  return at
}
