/** Phone numbers as people write them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countryOf, normalisePhone } from './phone.ts'

describe('phone numbers', () => {
  test.each([
    ['0912345678', '+84912345678'],
    ['091 234 56 78', '+84912345678'],
    ['(091) 234-5678', '+84912345678'],
    ['84912345678', '+84912345678'],
    ['+84 91.234.5678', '+84912345678'],
    ['+61 412 345 678', '+61412345678'],
    ['+1 (415) 555-0100', '+14155550100'],
    ['0212345678', undefined],
    ['+84212345678', undefined],
    ['+840912345678', undefined],
    ['091234567', undefined],
    ['09123456789', undefined],
    ['+0123456789', undefined],
    ['12345678', undefined],
    ['', undefined],
    ['+', undefined],
    ['+849123456781', undefined],
    ['+61 2 9876 5432', undefined],
    ['+1 809 555 0100', undefined],
  ])('%s is %s', (text, normal) => expect(normalisePhone(text)).toBe(normal))

  test.each([
    ['AUD', '0412 345 678', '+61412345678'],
    ['AUD', '61 412 345 678', '+61412345678'],
    ['AUD', '0912 345 678', '+84912345678'],
    ['AUD', '02 9876 5432', undefined],
    ['USD', '(415) 555-0100', '+14155550100'],
    ['USD', '1 415 555 0100', '+14155550100'],
    ['EURO', '+49 1512 3456789', '+4915123456789'],
    ['EURO', '01512 3456789', undefined],
    ['VN', '0412 345 678', undefined],
  ] as const)('in the region %s %s is %s', (region, text, normal) =>
    expect(normalisePhone(text, region)).toBe(normal),
  )

  const vietnamese = fc
    .tuple(fc.constantFrom('3', '5', '7', '8', '9'), fc.stringMatching(/^\d{8}$/))
    .map((parts) => parts.join(''))
  const spaced = (digits: string) =>
    fc
      .array(fc.constantFrom('', ' ', '.', '-', '(', ')'), {
        minLength: digits.length,
        maxLength: digits.length,
      })
      .map((gaps) => [...digits].map((digit, at) => digit + (gaps[at] ?? '')).join(''))

  test('all ways to write one Vietnamese number are one', () => {
    fc.assert(
      fc.property(
        vietnamese.chain((digits) =>
          fc.tuple(fc.constant(digits), spaced(digits), fc.constantFrom('0', '84', '+84')),
        ),
        ([digits, written, prefix]) => {
          expect(normalisePhone(prefix + written)).toBe(`+84${digits}`)
        },
      ),
    )
  })
  test('what comes out is E.164, and comes out again', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\+?[\d .()-]{6,20}$/)), (text) => {
        const normal = normalisePhone(text)
        if (normal === undefined) return
        expect(normal).toMatch(/^\+[1-9]\d{7,14}$/)
        expect(normalisePhone(normal)).toBe(normal)
        if (normal.startsWith('+61')) expect(countryOf(normal)).toBe('AU')
      }),
    )
  })
})
