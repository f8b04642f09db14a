import { expect, test } from 'vitest'
import { vietnamDay } from './vietnam-day.ts'

test.each([
  ['2026-11-25T17:00:00.000Z', '2026-11-26', 'the midnight with which a day begins'],
  ['2026-11-25T16:59:59.000Z', '2026-11-25', 'the last second of a day'],
  ['2026-12-31T20:00:00.000Z', '2027-01-01', 'the first hours of a year'],
])('%s is on %s in Vietnam: %s', (when, day) => {
  expect(vietnamDay(when)).toBe(day)
})
