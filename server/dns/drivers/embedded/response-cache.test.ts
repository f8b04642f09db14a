import { expect, test } from 'vitest'
import { ResponseCache } from './response-cache.ts'

/** A query for a name of its own: header, one label of four letters, root, type and class. */
function query(number: number): Buffer {
  const bytes = Buffer.alloc(22)
  bytes[12] = 4
  for (let at = 0; at < 4; at++) bytes[13 + at] = 0x61 + (Math.floor(number / 26 ** at) % 26)
  return bytes
}

test('holds what is asked for, and no more bytes of long responses than it may', () => {
  const cache = new ResponseCache()
  const long = Buffer.alloc(1232)
  const ask = (number: number) => cache.find(query(number))
  cache.store(query(0), 22, long)
  expect(ask(0)).toHaveLength(1232)
  for (let number = 1; number < 20_000; number++) cache.store(query(number), 22, long)
  const held = Array.from({ length: 20_000 }, (_, number) => ask(number)).filter(Boolean).length
  expect(held).toBeGreaterThan(0)
  expect(held * (1232 + 22)).toBeLessThanOrEqual(17 * 2 ** 20)
  expect(ask(0)).toBeUndefined()
})
