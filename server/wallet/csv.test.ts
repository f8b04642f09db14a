import { expect, test } from 'vitest'
import { csvRow } from './csv.ts'

test.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+84', "'+84"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ["'=1", "''=1"],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
])('a text %j stands as %j, and runs nowhere', (text, cell) => {
  expect(csvRow([text])).toBe(`${cell}\r\n`)
})

test('numbers stay numbers, negative ones too', () => {
  expect(csvRow([1, -5, { number: '-12.50' }])).toBe('1,-5,-12.50\r\n')
})
