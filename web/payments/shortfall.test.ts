import fc from 'fast-check'
import { expect, test } from 'vitest'
import { currency } from '../../contract/money.ts'
import { topUpOf } from './shortfall.ts'
import { readAmount } from './top-up-form.ts'
import { plainTyped } from './typed-amount.ts'

test('what is missing is asked for, in major units, and never less than can be topped up', () => {
  expect(topUpOf(126_000, 'VND', 10_000)).toEqual({ amount: '126000' })
  expect(topUpOf(1, 'VND', 10_000)).toEqual({ amount: '10000' })
  expect(topUpOf(1234, 'AUD', 500)).toEqual({ amount: '12.34' })
  expect(topUpOf(1, 'AUD', 500)).toEqual({ amount: '5' })
  expect(topUpOf(0, 'VND', 10_000)).toEqual({})
  expect(topUpOf(-5, 'VND', 10_000)).toEqual({})
})
test('the top-up screen reads it as the amount that covers what is missing', () => {
  const max = 500_000_000
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max }),
      fc.constantFrom(...currency.options),
      fc.integer({ min: 1, max: 10_000 }),
      (short, of, min) => {
        const { amount = '' } = topUpOf(short, of, min)
        expect(readAmount(plainTyped(amount, of, 'en'), of, { min, max })).toEqual({
          amount: Math.max(short, min),
        })
      },
    ),
  )
})
