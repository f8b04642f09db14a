import os from 'node:os'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkDiskSpace, diskSpaceOf, shortageOf } from './disk-space.ts'

const gigabyte = 1_073_741_824

test('a shortage is told before the disk is full, and earlier the less is left', () => {
  expect(shortageOf({ free: 60 * gigabyte, size: 500 * gigabyte })).toBeUndefined()
  expect(shortageOf({ free: 15 * gigabyte, size: 500 * gigabyte })).toBe('little')
  expect(shortageOf({ free: 1.9 * gigabyte, size: 500 * gigabyte })).toBe('too little')
  expect(shortageOf({ free: 1.9 * gigabyte, size: 20 * gigabyte })).toBe('little')
  const rank = { none: 0, little: 1, 'too little': 2 }
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.maxSafeNat(), (size, a, b) => {
      const of = (free: number) => rank[shortageOf({ free: Math.min(free, size), size }) ?? 'none']
      expect(of(Math.min(a, b))).toBeGreaterThanOrEqual(of(Math.max(a, b)))
    }),
  )
})

test('the disk of a folder is measured', async () => {
  const { free, size } = await diskSpaceOf(os.tmpdir())
  expect(free).toBeGreaterThan(0)
  expect(size).toBeGreaterThanOrEqual(free)
  const said: unknown[] = []
  const log = {
    warn: (what: unknown) => said.push(what),
    error: (what: unknown) => said.push(what),
  }
  const told = await checkDiskSpace(os.tmpdir(), log as never)
  expect(said.length).toBe(shortageOf({ free, size }) === undefined ? 0 : 1)
  expect(told === undefined).toBe(shortageOf({ free, size }) !== 'too little')
})
