import { expect, test } from 'vitest'
import type { UsageHistory, UsagePoint } from '../../contract/wordpress-usage.ts'
import { counts, dotsOf, levels, pathOf, spansOf, sumOf } from './usage-series.ts'

const from = Date.UTC(2026, 10, 25)
const point = (span: number, one: Partial<UsagePoint> = {}): UsagePoint => ({
  at: new Date(from + span * 300_000).toISOString(),
  requests: 1,
  clientErrors: 0,
  serverErrors: 0,
  cached: 0,
  medianMs: null,
  p95Ms: null,
  memory: 100,
  cpu: 0,
  disk: 0,
  mariadb_disk_size: 0,
  ...one,
})
const history = (spans: number, points: UsagePoint[]): UsageHistory => ({
  from: new Date(from).toISOString(),
  to: new Date(from + spans * 300_000).toISOString(),
  minutes: 5,
  points,
})

test('between rows nothing was counted, before and after them nothing is known', () => {
  const spans = spansOf(history(6, [point(1, { requests: 4 }), point(3, { requests: 2 })]))
  const requests = counts(spans, (one) => one.requests)
  expect(requests).toEqual([null, 4, 0, 2, null, null])
  expect(sumOf(requests)).toBe(6)
})

test('a level holds for an hour without rows, and no longer', () => {
  const spans = spansOf(history(40, [point(1), point(20, { memory: 50 }), point(39)]))
  const memory = levels(spans, 5, (one) => one.memory)
  expect(memory.slice(0, 3)).toEqual([null, 100, 100])
  expect(memory.slice(13, 20)).toEqual([100, null, null, null, null, null, null])
  expect(memory.slice(20, 33)).toEqual(Array.from({ length: 13 }, () => 50))
  expect(memory.at(-1)).toBe(100)
})

test('a row outside of the period is left out', () => {
  expect(spansOf(history(2, [point(-1), point(5)]))).toEqual([undefined, undefined])
})

test('a gap begins a new piece, and one value alone is a dot', () => {
  const values = [0, 5, null, 10, null]
  expect(pathOf(values, 10)).toBe('M0.00 100.00L25.00 50.00M75.00 0.00')
  expect(dotsOf(values, 10)).toBe('M75.00 0.00h0.01')
  expect(dotsOf([1, null, 3], 3)).toBe('M0.00 66.67h0.01M100.00 0.00h0.01')
  expect(pathOf([], 10)).toBe('')
  expect(dotsOf([], 10)).toBe('')
})
