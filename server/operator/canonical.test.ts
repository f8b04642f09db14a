/** Canonical JSON: equal values have one text, and others another one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical } from './canonical.ts'

/** The same value with the names of every object in another order. */
const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, shuffled(inner)]),
  )
}

test('is JSON that says the same, whatever the order of names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // JSON knows no negative zero.
      const plain: unknown = JSON.parse(JSON.stringify(value))
      const text = canonical(plain)
      expect(JSON.parse(text)).toEqual(plain)
      expect(canonical(shuffled(plain))).toBe(text)
      expect(canonical(JSON.parse(text))).toBe(text)
    }),
  )
})

test('differs where values differ', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [one, other].map((value): unknown => JSON.parse(JSON.stringify(value)))
      const isEqual = canonical(a) === canonical(b)
      if (isEqual) expect(a).toEqual(b)
      else expect(a).not.toEqual(b)
    }),
  )
})

test('takes bigint for a number, a date for its text, and leaves out what is undefined', () => {
  const at = new Date('2026-11-25T14:00:00.123Z')
  expect(canonical({ b: 12n, a: at, c: undefined, d: [null, undefined] })).toBe(
    '{"a":"2026-11-25T14:00:00.123Z","b":12,"d":[null,null]}',
  )
})
