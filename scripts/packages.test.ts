import { expect, test } from 'vitest'
import { bill, digestOf, faultsOf, packagesOf, type Advisory, type Lockfile } from './packages.ts'

const integrity = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const lockfile: Lockfile = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/good': { version: '2.1.0', license: 'MIT', integrity },
    'node_modules/tool': { version: '1.0.0', license: 'MIT', integrity, dev: true },
    'node_modules/good/node_modules/@some/part': { version: '0.9.0', license: 'MIT', integrity },
  },
}
const allowed = new Set(['MIT'])
const advisory: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: '@some/part',
  vulnerable: '<0.9.1 || >=1.0.0 <1.0.3',
  severity: 'high',
  title: 'a fault',
}

test('packages with a fitting licence, a checksum and no advisory pass', () => {
  expect(faultsOf(packagesOf(lockfile), allowed, [])).toEqual([])
  expect(faultsOf(packagesOf(lockfile), allowed, [{ ...advisory, vulnerable: '<0.9.0' }])).toEqual(
    [],
  )
})

test('a known vulnerability, a foreign licence and a missing checksum are named', () => {
  const packages = packagesOf({
    packages: {
      ...lockfile.packages,
      'node_modules/foreign': { version: '3.0.0', license: 'AGPL-3.0-only', integrity },
      'node_modules/bare': { version: '4.0.0', integrity: 'sha1-AAAA' },
    },
  })
  expect(faultsOf(packages, allowed, [advisory])).toEqual([
    '@some/part 0.9.0: GHSA-aaaa-bbbb-cccc (high): a fault',
    'foreign 3.0.0 has the licence AGPL-3.0-only, which does not fit',
    'bare 4.0.0 has the licence of nobody, which does not fit',
    'bare 4.0.0 has no sha512 checksum',
  ])
})

test('an accepted advisory passes with its reason', () => {
  const accepted = { ...advisory, accepted: 'only the development server is affected' }
  expect(faultsOf(packagesOf(lockfile), allowed, [accepted])).toEqual([])
})

test('the bill of materials names each package, its licence and its checksum', () => {
  const packages = packagesOf(lockfile)
  const runtime = { name: 'runtime', packages: packages.slice(0, 1) }
  expect(bill({ name: 'portal', packages }, [runtime])).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: 'portal' } },
    components: [
      {
        purl: 'pkg:npm/good@2.1.0',
        scope: 'required',
        licenses: [{ expression: 'MIT' }],
        hashes: [{ alg: 'SHA-512', content: '07'.repeat(64) }],
      },
      { purl: 'pkg:npm/tool@1.0.0', scope: 'excluded' },
      { purl: 'pkg:npm/%40some/part@0.9.0', scope: 'required' },
      { type: 'application', name: 'runtime', components: [{ purl: 'pkg:npm/good@2.1.0' }] },
    ],
  })
})

test('other packages than the advisories were compared for are noticed', () => {
  const packages = packagesOf(lockfile)
  expect(digestOf(packages.toReversed())).toBe(digestOf(packages))
  expect(digestOf(packages.slice(1))).not.toBe(digestOf(packages))
})
