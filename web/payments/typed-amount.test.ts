import { expect, test } from 'vitest'
import { groupTyped, plainTyped } from './typed-amount.ts'

test('what is typed is grouped as the language groups, and read back', () => {
  expect(groupTyped('1000000', 'VND', 'en')).toBe('1.000.000')
  expect(plainTyped('1.000.0005', 'VND', 'vi')).toBe('10000005')
  expect(plainTyped('000', 'VND', 'vi')).toBe('0')
  expect(groupTyped('1234.5', 'AUD', 'aud')).toBe('1,234.5')
  expect(plainTyped('1,234.567', 'AUD', 'aud')).toBe('1234.56')
  expect(plainTyped('1.234,5', 'AUD', 'vi')).toBe('1234.5')
})

test('what is no amount is not read as another one', () => {
  for (const text of ['-5', ' −5', '1e5', '2 E3'])
    for (const currency of ['VND', 'AUD'] as const)
      expect(plainTyped(text, currency, 'en')).toBe('')
})

test('an amount that is pasted in the grouping of another language is read as it is meant', () => {
  expect(plainTyped('1,234.50', 'AUD', 'vi')).toBe('1234.50')
  expect(plainTyped('A$1.234,50', 'AUD', 'aud')).toBe('1234.50')
  // Typed: a digit was just deleted from a group.
  expect(plainTyped('1.23,5', 'AUD', 'vi')).toBe('123.5')
})

test('decimals that a bank writes after an amount of đồng are not more digits of it', () => {
  for (const text of ['100,000.00', '100.000,00 đ', '100000.0'])
    expect(plainTyped(text, 'VND', 'vi')).toBe('100000')
  expect(plainTyped('100.000 đ', 'VND', 'vi')).toBe('100000')
  // The last digit of "100.000" and of "1.000.000" was deleted.
  expect(plainTyped('100.00', 'VND', 'vi')).toBe('10000')
  expect(plainTyped('1.000.00', 'VND', 'vi')).toBe('100000')
})
