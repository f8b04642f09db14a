import { expect, test } from 'vitest'
import { wholeNumber } from './whole-number.ts'

test('what is no whole number is not read as another one', () => {
  expect(['20', ' 20 ', '007', '195000'].map(wholeNumber)).toEqual([20, 20, 7, 195_000])
  for (const text of ['10.5', '1,5', '-5', '1e3', '20 GB', '', '1234567', '٢'])
    expect(wholeNumber(text), text).toBeUndefined()
})
