import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromAlepayAmount, fromAlepayTime, paymentHours, vietnamesePhone } from './convert.ts'

describe('amounts, numbers, times', () => {
  it('every amount in đồng is read back, written either way', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), (amount) => {
        for (const written of [amount, String(amount), `${amount}.0`])
          expect(fromAlepayAmount(written)).toBe(BigInt(amount))
      }),
    )
    for (const wrong of [
      '',
      '1e',
      '-1',
      '1,000',
      ' 1',
      '0.5',
      0.5,
      -1,
      NaN,
      Infinity,
      null,
      undefined,
      {},
      [1],
      '9'.repeat(16),
    ])
      expect(fromAlepayAmount(wrong)).toBeUndefined()
  })

  it.each([
    ['+84912345678', '0912345678'],
    ['84912345678', '0912345678'],
    ['0084912345678', '0912345678'],
    ['+84 (0)912-345-678', '0912345678'],
    ['0912.345.678', '0912345678'],
    ['+842812345678', '02812345678'],
    ['+61412345678', undefined],
    ['12345678', undefined],
    ['', undefined],
  ])('the telephone number %s is %s', (phone, expected) =>
    expect(vietnamesePhone(phone)).toBe(expected),
  )

  it('hours come in halves, never less than was promised', () => {
    const from = new Date(0)
    expect(
      [1, 900_000, 1_800_000, 1_800_001, 3_600_000].map((ms) => paymentHours(from, new Date(ms))),
    ).toEqual(['0.5', '0.5', '0.5', '1', '1'])
    expect([
      fromAlepayTime(1000),
      fromAlepayTime('1000'),
      fromAlepayTime(0),
      fromAlepayTime('x'),
      fromAlepayTime(1e300),
    ]).toEqual([new Date(1000), new Date(1000), null, null, null])
  })
})
