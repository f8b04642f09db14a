/** The period that a statement covers. */
import { expect, test } from 'vitest'
import { closedPeriod } from './period.ts'

const now = new Date('2026-12-05T10:00:00Z')
const spanOf = (query: { from?: string; to?: string }): string[] => {
  const { from, to } = closedPeriod(query, now, 'en')
  return [from, to].map((at) => at.toISOString())
}

test('begins with the month of its end, also where that is a month’s last day', () => {
  expect(spanOf({ to: '2026-11-29' })).toEqual([
    '2026-11-01T00:00:00.000Z',
    '2026-11-30T00:00:00.000Z',
  ])
  expect(spanOf({ to: '2026-11-30' })).toEqual([
    '2026-11-01T00:00:00.000Z',
    '2026-12-01T00:00:00.000Z',
  ])
  expect(spanOf({})[0]).toBe('2026-12-01T00:00:00.000Z')
  expect(spanOf({ from: '2026-10-15', to: '2026-11-30' })[0]).toBe('2026-10-15T00:00:00.000Z')
})
