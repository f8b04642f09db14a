import { expect, test } from 'vitest'
import { checkoutAddress, readAmount, transactionCode } from './top-up-form.ts'

const limits = { min: 10_000, max: 500_000_000 }

test('an amount is held to the limits', () => {
  expect(readAmount('', 'VND', limits)).toEqual({ amount: 0, problem: 'empty' })
  expect(readAmount('0', 'VND', limits).problem).toBe('empty')
  expect(readAmount('9999', 'VND', limits).problem).toBe('low')
  expect(readAmount('10000', 'VND', limits)).toEqual({ amount: 10_000 })
  expect(readAmount('500000001', 'VND', limits).problem).toBe('high')
  expect(readAmount('12.5', 'VND', limits).problem).toBe('bad')
})
test('cents are minor units', () =>
  expect(readAmount('12.5', 'AUD', { min: 500, max: 100_000 })).toEqual({ amount: 1250 }))
test('http is upgraded only where the portal itself is https', () => {
  expect(checkoutAddress('http://pay.example/x', 'https:')).toBe('https://pay.example/x')
  expect(checkoutAddress('http://127.0.0.1:8081/x', 'http:')).toBe('http://127.0.0.1:8081/x')
})
test('the code is found under any name that contains transId', () => {
  expect(transactionCode('?vnp_Amount=1&vnp_transId=T-1')).toBe('T-1')
  expect(transactionCode('?transId=0123')).toBe('0123')
  expect(transactionCode('?code=1')).toBeUndefined()
})
