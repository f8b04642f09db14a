import { expect, test } from 'vitest'
import { minorOf } from './engine-api.ts'

test.each([
  ['an engine of Debian', '1.41', '1.12', 41],
  ['a newer one', '1.47', '1.24', 41],
  ['one that has given the old versions up', '1.52', '1.44', 44],
])('%s is spoken to in a version that it knows', (_which, ApiVersion, MinAPIVersion, minor) => {
  expect(minorOf({ ApiVersion, MinAPIVersion })).toBe(minor)
})

test.each([
  ['too old', { ApiVersion: '1.40', MinAPIVersion: '1.12' }],
  ['says nothing of itself', {}],
  ['is of another kind', { ApiVersion: '2.0', MinAPIVersion: '2.0' }],
])('one that %s is refused, with what it says', (_which, versions) => {
  expect(() => minorOf(versions)).toThrow(/of its API, and 1\.41 or newer is needed/)
})
