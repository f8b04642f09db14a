import { expect, test } from 'vitest'
import { dayInVietnam, fromVietnam, inVietnam } from './vietnam-time.ts'

test('a day begins there seven hours before it does in Greenwich', () => {
  expect(dayInVietnam('2026-11-21').toISOString()).toBe('2026-11-20T17:00:00.000Z')
  expect(inVietnam(dayInVietnam('2026-12-31'))).toBe('2026-12-31T00:00:00')
})

test('a day that the month does not have is none', () => {
  expect(fromVietnam('2026-02-30T10:00:00')).toBeNull()
  for (const day of ['2026-02-30', '2026-13-01', 'today', ''])
    expect(() => dayInVietnam(day)).toThrow(RangeError)
})
