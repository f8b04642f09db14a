import { expect, test } from 'vitest'
import { onward, returnPath } from './session.ts'

test.each(['/wallet?a=1', '/account/team#token=x'])('%s is a path of our own', (path) => {
  expect(returnPath(path)).toBe(path)
  expect(onward(path)).toEqual({ next: path })
})

// Browsers leave tabs and line breaks out of an address.
test.each([
  undefined,
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example',
  '/\n/evil.example',
  '/login?next=/',
])('%j is none', (path) => {
  expect(returnPath(path)).toBe('/')
  expect(onward(path)).toEqual({})
})
