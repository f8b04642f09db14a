import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchOf, compareVersions, isNewer } from './versions.ts'

test('versions are in the order that PHP has', () => {
  // Each is older than the next (php.net, version_compare).
  const order = ['1.0-other', '1.0-dev', '1.0a1', '1.0-beta', '1.0RC1', '1.0', '1.0pl1', '1.0.1']
  for (const [index, version] of [...order, '1.1', '1.10', '2'].entries())
    for (const [at, other] of [...order, '1.1', '1.10', '2'].entries())
      if (
        !(version === '1.0pl1' && other === '1.0.1') &&
        !(other === '1.0pl1' && version === '1.0.1')
      )
        expect(compareVersions(version, other), `${version} ${other}`).toBe(Math.sign(index - at))
  expect(compareVersions('6.7', '6.7.0')).toBe(-1)
  expect(compareVersions('1.0_1', '1.0-1')).toBe(0)
})

test('the order is one, whatever stands there', () => {
  const version = fc.oneof(
    fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.')),
    fc.string({ maxLength: 12 }),
  )
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(compareVersions(one, one)).toBe(0)
      expect(Math.sign(compareVersions(one, other)) + Math.sign(compareVersions(other, one))).toBe(
        0,
      )
      expect(isNewer(one, other) && isNewer(other, one)).toBe(false)
    }),
  )
})

test('a branch is what comes before the last number', () => {
  expect(['7.1.2', '7.1', '6.10.3-beta1', 'x'].map(branchOf)).toEqual(['7.1', '7.1', '6.10', 'x'])
})
