import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { formatDay } from '../format.ts'
import { followTimeZone } from '../time-zone.ts'
import { endOfDay, monthsLater, startOfDay } from './day-bounds.ts'

afterEach(() => followTimeZone(null))

test.each([
  ['Asia/Ho_Chi_Minh', '2026-01-01', '2025-12-31T17:00:00.000Z', '2026-01-01T17:00:00.000Z'],
  // Days of twenty-three and of twenty-five hours.
  ['Australia/Melbourne', '2026-10-04', '2026-10-03T14:00:00.000Z', '2026-10-04T13:00:00.000Z'],
  ['Australia/Melbourne', '2026-04-05', '2026-04-04T13:00:00.000Z', '2026-04-05T14:00:00.000Z'],
  // A day without a midnight: it begins at one o'clock.
  ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z', '2024-04-26T21:00:00.000Z'],
  // A day with two midnights: the first one counts.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  // Samoa crossed the date line: this day has no moment.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
])('%s: %s begins and ends', (zone, day, start, end) => {
  followTimeZone(zone)
  expect([startOfDay(day), endOfDay(day)]).toEqual([start, end])
})

test('in every zone a day begins with its first moment, and ends where the next begins', () => {
  const second = 1000
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'UTC')
  const date = fc.date({
    min: new Date('1970-01-03'),
    max: new Date('2100-01-01'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(zone, date, (name, moment) => {
      followTimeZone(name)
      const day = moment.toISOString().slice(0, 10)
      const [start, end] = [Date.parse(startOfDay(day)), Date.parse(endOfDay(day))]
      expect(formatDay(start) >= day).toBe(true)
      expect(formatDay(start - second) < day).toBe(true)
      expect(formatDay(end - second) <= day).toBe(true)
      const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
      expect(new Date(end).toISOString()).toBe(startOfDay(next))
    }),
    { numRuns: 400 },
  )
})

test('a year that is only half typed is no year 0', () => {
  for (const day of ['0000-01-01', '0001-01-01', '0020-06-30'])
    expect(startOfDay(day)).toMatch(/^1970-01-01T/)
})

test('months are counted over the year', () => {
  expect(monthsLater('2026-12', 1)).toBe('2027-01')
  expect(monthsLater('2026-01', -1)).toBe('2025-12')
  expect(monthsLater('2026-03', -23)).toBe('2024-04')
})
