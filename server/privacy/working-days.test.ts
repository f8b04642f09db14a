/** The clock of requests about personal data: which days count in Vietnam. */
import { describe, expect, test } from 'vitest'
import { afterDays, afterWorkingDays, isWorkingDay } from './working-days.ts'

describe('a working day', () => {
  test.each([
    ['2026-01-01', 'New Year'],
    ['2026-02-16', 'the eve of Tết'],
    ['2026-02-17', 'Tết'],
    ['2026-02-20', 'the fourth day of Tết'],
    ['2026-04-27', 'instead of the Hùng kings’ day, a Sunday'],
    ['2026-04-30', 'Reunification'],
    ['2026-05-01', 'Labour Day'],
    ['2026-09-02', 'National Day'],
    ['2026-11-28', 'a Saturday'],
    ['2027-02-05', 'the eve of Tết'],
    ['2027-02-11', 'instead of the second weekend day of Tết'],
    ['2027-04-16', 'the Hùng kings’ day'],
    ['2027-05-03', 'instead of Labour Day, a Saturday'],
  ])('is not %s, %s', (day) => {
    expect(isWorkingDay(day)).toBe(false)
  })

  test.each(['2026-02-13', '2026-02-23', '2026-04-28', '2026-11-26', '2027-02-12'])(
    'is %s',
    (day) => {
      expect(isWorkingDay(day)).toBe(true)
    },
  )
})

describe('a clock', () => {
  test('begins on the day after, and ends with the day in Vietnam', () => {
    // Thursday evening in Vietnam; the next day is the first.
    const from = new Date('2026-11-26T15:00:00Z')
    expect(afterWorkingDays(from, 1)).toEqual(new Date('2026-11-27T16:59:59Z'))
    expect(afterWorkingDays(from, 2)).toEqual(new Date('2026-11-30T16:59:59Z'))
    // The same moment two hours later is Friday there.
    expect(afterWorkingDays(new Date('2026-11-26T17:00:00Z'), 1)).toEqual(
      new Date('2026-11-30T16:59:59Z'),
    )
    expect(afterDays(from, 30)).toEqual(new Date('2026-12-26T16:59:59Z'))
  })

  test('stands still over Tết', () => {
    const from = new Date('2026-02-13T03:00:00Z')
    expect(afterWorkingDays(from, 1)).toEqual(new Date('2026-02-23T16:59:59Z'))
    expect(afterWorkingDays(from, 10)).toEqual(new Date('2026-03-06T16:59:59Z'))
  })
})
