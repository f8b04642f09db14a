import { expect, test } from 'vitest'
import { smsPrefix } from './sms-prefix.ts'

test.each([
  ['Let’s Panel', "Let's Panel: "],
  ['Đám Mây Việt', 'Dam May Viet: '],
  ['[Cloud] {9}', 'Cloud 9: '],
  ['A – B', 'A - B: '],
  ['云', ''],
])('the SMS of %s begin with "%s"', (brand, begin) => {
  expect(smsPrefix(brand)).toBe(begin)
})
