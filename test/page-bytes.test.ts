import { expect, test } from 'vitest'
import { fontBytes, scriptBytes, styleBytes } from './page-bytes.ts'

test('no screen loads more than its budget', () => {
  const routes = scriptBytes()
  expect(routes.length).toBeGreaterThan(25)
  expect(routes.filter(({ bytes }) => bytes > 160_000)).toEqual([])
  expect(styleBytes()).toBeLessThan(15_000)
  expect(fontBytes()).toBeLessThan(40_000)
})
