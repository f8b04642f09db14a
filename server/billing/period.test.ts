import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayIn, monthsAfter, secondsBetween, yearIn } from './period.ts'

const vietnam = 'Asia/Ho_Chi_Minh'
const sydney = 'Australia/Sydney'

/** The next renewals of an order, in UTC. */
const renewals = (ordered: string, count: number, zone: string): string[] =>
  Array.from({ length: count }, (_, n) =>
    monthsAfter(new Date(ordered), n + 1, zone)
      .toISOString()
      .slice(0, 16),
  )

/** The local time in a zone, computed independently of the code. */
const shown = (at: Date, zone: string): string => at.toLocaleString('sv-SE', { timeZone: zone })

describe('a monthly renewal', () => {
  test.each([
    [
      '2026-01-31T08:30Z',
      'UTC',
      ['2026-02-28T08:30', '2026-03-31T08:30', '2026-04-30T08:30', '2026-05-31T08:30'],
    ],
    ['2028-01-31T08:30Z', 'UTC', ['2028-02-29T08:30', '2028-03-31T08:30']],
    ['2028-02-29T23:59Z', 'UTC', ['2028-03-29T23:59', '2028-04-29T23:59']],
    ['2027-01-29T00:00Z', 'UTC', ['2027-02-28T00:00', '2027-03-29T00:00']],
    ['2026-12-31T12:00Z', 'UTC', ['2027-01-31T12:00', '2027-02-28T12:00', '2027-03-31T12:00']],
    // 31 January at 1 o'clock in Vietnam is still the 30th in UTC.
    ['2026-01-30T18:00Z', vietnam, ['2026-02-27T18:00', '2026-03-30T18:00', '2026-04-29T18:00']],
    // Sydney: 9 o'clock in the morning stays 9 o'clock, in summer (+11) and in winter (+10).
    [
      '2026-03-09T22:00Z',
      sydney,
      [
        '2026-04-09T23:00',
        '2026-05-09T23:00',
        '2026-06-09T23:00',
        '2026-07-09T23:00',
        '2026-08-09T23:00',
        '2026-09-09T23:00',
        '2026-10-09T22:00',
      ],
    ],
    // On 4 October 2026 half past two does not exist there: it renews an hour later, and the next
    // month at half past two again.
    ['2026-09-03T16:30Z', sydney, ['2026-10-03T16:30', '2026-11-03T15:30']],
    // On 5 April 2026 half past two occurs twice: the first one counts.
    ['2026-03-04T15:30Z', sydney, ['2026-04-04T15:30', '2026-05-04T16:30']],
  ])('of an order of %s in %s', (ordered, zone, expected) => {
    expect(renewals(ordered, expected.length, zone)).toEqual(expected)
  })

  test('an order of 29 February renews on the 29th, or the 28th in a February', () => {
    const all = renewals('2028-02-29T05:00Z', 48, vietnam)
    expect([all[11], all[23], all[35], all[47]]).toEqual([
      '2029-02-28T05:00',
      '2030-02-28T05:00',
      '2031-02-28T05:00',
      '2032-02-29T05:00',
    ])
  })

  test("comes on the anchor day or a shorter month's last, at the local time", () => {
    const moment = fc.date({
      min: new Date('2000-01-01'),
      max: new Date('2099-12-31'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(
        moment,
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom('UTC', vietnam, sydney),
        (ordered, months, zone) => {
          const [day = '', time] = shown(ordered, zone).split(' ')
          const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
          const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
          const due = new Date(Date.UTC(year, month - 1 + months, Math.min(date, lastDay)))
            .toISOString()
            .slice(0, 10)
          const renewed = monthsAfter(ordered, months, zone)
          const [onDay, atTime = ''] = shown(renewed, zone).split(' ')
          expect(onDay).toBe(due)
          // Once a year the clocks skip an hour.
          expect([time, `03${time?.slice(2)}`]).toContain(atTime)
          expect(renewed.getMilliseconds()).toBe(ordered.getMilliseconds())
          expect(monthsAfter(ordered, months + 1, zone).getTime()).toBeGreaterThan(
            renewed.getTime(),
          )
        },
      ),
    )
  })

  test('years and days are those of the zone', () => {
    const newYear = new Date('2026-12-31T17:30:00Z')
    expect([
      yearIn(vietnam, newYear),
      yearIn('UTC', newYear),
      dayIn(vietnam, newYear),
      dayIn(sydney, newYear),
    ]).toEqual([2027, 2026, '2027-01-01', '2027-01-01'])
  })

  test('seconds are whole ones', () => {
    expect(secondsBetween(new Date(0), new Date(1999))).toBe(1)
    expect(secondsBetween(new Date(5000), new Date(0))).toBe(0)
  })
})
