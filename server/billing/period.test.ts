import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextRenewal } from './period.ts'

/** The days of the next renewals of an order. */
function renewals(ordered: string, count: number): string[] {
  let at = new Date(ordered)
  const anchor = at.getUTCDate()
  return Array.from({ length: count }, () => (at = nextRenewal(at, anchor)).toISOString().slice(0, 16))
}

describe('a monthly renewal', () => {
  test.each([
    ['2026-01-31T08:30Z', ['2026-02-28T08:30', '2026-03-31T08:30', '2026-04-30T08:30', '2026-05-31T08:30']],
    ['2028-01-31T08:30Z', ['2028-02-29T08:30', '2028-03-31T08:30']],
    ['2028-02-29T23:59Z', ['2028-03-29T23:59', '2028-04-29T23:59']],
    ['2027-01-29T00:00Z', ['2027-02-28T00:00', '2027-03-29T00:00']],
    ['2026-12-15T12:00Z', ['2027-01-15T12:00']],
    ['2026-12-31T12:00Z', ['2027-01-31T12:00', '2027-02-28T12:00', '2027-03-31T12:00']],
    ['2026-10-30T12:00Z', ['2026-11-30T12:00', '2026-12-30T12:00', '2027-01-30T12:00', '2027-02-28T12:00', '2027-03-30T12:00']],
  ])('of an order of %s', (ordered, expected) => {
    expect(renewals(ordered, expected.length)).toEqual(expected)
  })

  test('comes every month, on the anchor day or the last day of a shorter month, at the same time of day', () => {
    const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 60 }), (ordered, months) => {
        const anchor = ordered.getUTCDate()
        let at = ordered
        for (let n = 0; n < months; n++) at = nextRenewal(at, anchor)
        const passed = (at.getUTCFullYear() - ordered.getUTCFullYear()) * 12 + at.getUTCMonth() - ordered.getUTCMonth()
        const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
        expect(passed).toBe(months)
        expect(at.getUTCDate()).toBe(Math.min(anchor, lastDay))
        expect(at.getTime() % 86_400_000).toBe(ordered.getTime() % 86_400_000)
      }),
    )
  })
})
