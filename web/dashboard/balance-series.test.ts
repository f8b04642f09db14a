import { expect, test } from 'vitest'
import { axisStepsOf, balanceSeries } from './balance-series.ts'

const day = 86_400
const now = 100 * day
const entry = (created: number, amount: number, ending_balance: number) => ({
  id: String(created),
  description: '',
  amount,
  currency: 'VND' as const,
  created,
  ending_balance,
})

test('the line begins with the balance that the first entry found', () => {
  const series = balanceSeries(
    [entry(99 * day, -200, 800), entry(90 * day, 500, 1000), entry(50 * day, 500, 500)],
    now,
    30,
    null,
  )
  expect(series.points.map((point) => point.balance)).toEqual([500, 1000, 800])
  expect([series.received, series.spent]).toEqual([500, 200])
})
test('without an entry in the span the last balance holds', () =>
  expect(balanceSeries([entry(50 * day, 500, 500)], now, 30, null).points).toEqual([
    { at: 70 * day, balance: 500, received: false },
  ]))
test('a list that does not reach back shortens the span', () =>
  expect(balanceSeries([entry(99 * day, -200, 800)], now, 30, 95 * day).from).toBe(95 * day))
test('the axis steps are round', () => {
  expect(axisStepsOf(12_828_000, 'VND')).toEqual({ step: 5_000_000, top: 15_000_000 })
  expect(axisStepsOf(0, 'AUD')).toEqual({ step: 100, top: 100 })
})
