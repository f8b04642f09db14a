import { expect, test } from 'vitest'
import { diskGb, formatElapsed, formatTime, ramGb, signedMoney } from './format.ts'

test('times are local, with the real month', () =>
  expect(formatTime(new Date(2026, 0, 5, 14, 3, 9))).toBe('2026-01-05 14:03:09'))
test('1000 MB of memory are 1 GB, 1024 MB of disk are 1 GB', () => {
  expect(ramGb(2000, 'en')).toBe('2')
  expect(ramGb(512, 'vi')).toBe('0,5')
  expect(diskGb(20_480, 'vi')).toBe('20')
})
test('an amount carries its sign', () => {
  expect(signedMoney(5_000_000, 'VND', 'en')).toBe('+5.000.000\u00a0đ')
  expect(signedMoney(-378_000, 'VND', 'vi')).toBe('\u2212378.000\u00a0đ')
  expect(signedMoney(-123_450, 'AUD', 'aud')).toBe('\u22121,234.50\u00a0AUD')
})

test('elapsed time grows an hour when it needs one', () => {
  expect(formatElapsed(75)).toBe('01:15')
  expect(formatElapsed(3675)).toBe('1:01:15')
  expect(formatElapsed(-5)).toBe('00:00')
})
