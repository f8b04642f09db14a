/** The clock of requests about personal data: which days count in Vietnam. */
import { describe, expect, test } from 'vitest'
import { days } from '../platform/clock.ts'
import { afterDays, afterWorkingDays, isWorkingDay } from './working-days.ts'

const firstDaysOfTet =
  '2026-02-17 2027-02-06 2028-01-26 2029-02-13 2030-02-02 2031-01-23 2032-02-11'.split(' ')
const dayAfter = (day: string, by: number): string =>
  new Date(Date.parse(day) + days(by)).toISOString().slice(0, 10)
const isWeekend = (day: string): boolean => [0, 6].includes(new Date(day).getUTCDay())

describe('a working day', () => {
  test.each([
    ['2026-01-01', 'New Year'],
    ['2026-02-16', 'the eve of Tết'],
    ['2026-02-17', 'Tết'],
    ['2026-02-19', 'the third day of Tết'],
    ['2026-04-27', 'instead of the Hùng kings’ day, a Sunday'],
    ['2026-04-30', 'Reunification'],
    ['2026-05-01', 'Labour Day'],
    ['2026-09-02', 'National Day'],
    ['2026-11-28', 'a Saturday'],
    ['2027-02-05', 'the eve of Tết'],
    ['2027-02-09', 'instead of Tết, a Saturday'],
    ['2027-02-10', 'instead of the second day of Tết, a Sunday'],
    ['2027-04-16', 'the Hùng kings’ day'],
    ['2027-05-03', 'instead of Labour Day, a Saturday'],
  ])('is not %s, %s', (day) => {
    expect(isWorkingDay(day)).toBe(false)
  })

  test.each([
    // The fourth day of Tết, and what is given for it, where there are two days before.
    '2026-02-20',
    '2027-02-11',
    '2026-02-13',
    '2026-04-28',
    '2026-11-26',
  ])('is %s', (day) => {
    expect(isWorkingDay(day)).toBe(true)
  })
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
    expect(afterWorkingDays(from, 1)).toEqual(new Date('2026-02-20T16:59:59Z'))
    expect(afterWorkingDays(from, 10)).toEqual(new Date('2026-03-05T16:59:59Z'))
  })

  test('is not late over Tết, whichever days are chosen', () => {
    for (const year of [2026, 2027, 2028, 2029, 2030, 2031, 2032])
      for (const chosen of [
        [-1, 0, 1, 2, 3],
        [-2, -1, 0, 1, 2],
      ]) {
        const [newYear = ''] = firstDaysOfTet.filter((day) => day.startsWith(`${year}`))
        const at = (by: number): string => dayAfter(newYear, by)
        const off = new Set(chosen.map(at))
        let instead = (chosen.at(-1) ?? 0) + 1
        for (const _ of chosen.filter((one) => isWeekend(at(one)))) {
          while (isWeekend(at(instead))) instead += 1
          off.add(at(instead))
          instead += 1
        }
        for (let by = -9; by < 14; by++)
          if (!isWorkingDay(at(by)) && !isWeekend(at(by)))
            expect([...off], `${at(by)} is off`).toContain(at(by))
      }
  })
})
