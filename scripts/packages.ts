/**
 * A step of `npm run check`, without any network: every package of the lockfiles has a compatible
 * licence, a checksum that npm verifies, and no known vulnerability. `npm run sbom` instead prints
 * the bill of materials of both programs, in CycloneDX 1.6.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { satisfies } from 'semver'
import { z } from 'zod'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'))

const lockfileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
    }),
  ),
})
export type Lockfile = z.input<typeof lockfileSchema>

/** `packaging/advisories.json`; it is updated from GitHub's advisory database. */
const advisoriesSchema = z.object({
  /** The day on which the list was last compared with the database. */
  asOf: z.iso.date(),
  /** `digestOf` the packages for which the list was compared. */
  comparedFor: z.string(),
  advisories: z.array(
    z.strictObject({
      id: z.string().regex(/^(GHSA(-[a-z0-9]{4}){3}|CVE-\d{4}-\d{4,})$/),
      package: z.string(),
      /** A range in npm's semver syntax. */
      vulnerable: z.string(),
      severity: z.enum(['low', 'moderate', 'high', 'critical']),
      title: z.string(),
      /** Why it does no harm here, if no fixed version exists. */
      accepted: z.string().optional(),
    }),
  ),
})
export type Advisory = z.infer<typeof advisoriesSchema>['advisories'][number]

/** SPDX expressions that may be linked or bundled with Apache-2.0 code. */
const permissive = [
  '(MIT AND Zlib)',
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'Apache-2.0 AND MIT',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT AND OFL-1.1',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
]
/** The portal is Apache-2.0; the WordPress runtime (GPL-2.0-or-later) is a separate program. */
const programs = [
  {
    name: 'cloud-portal',
    lockfile: 'package-lock.json',
    licences: new Set([
      ...permissive,
      // File-level copyleft; none of these files is changed here (lightningcss, axe-core).
      'MPL-2.0',
      // Data: towns, named in THIRD-PARTY.md.
      'CC-BY-4.0',
    ]),
  },
  {
    name: 'wordpress-wasm',
    lockfile: 'runtimes/wordpress-wasm/package-lock.json',
    licences: new Set([...permissive, 'GPL-2.0-or-later']),
  },
]
/** Packages whose lockfile entry has no licence, and the licence in their own files. */
const licencesInFiles = new Map([
  ['buildcheck', 'MIT'],
  ['cpu-features', 'MIT'],
  ['ssh2', 'MIT'],
  ['png-js', 'MIT'],
  ['@php-wasm/util', 'GPL-2.0-or-later'],
])

interface Package {
  readonly name: string
  readonly version: string
  readonly licence: string | undefined
  readonly integrity: string | undefined
  /** True: neither shipped nor run in production. */
  readonly dev: boolean
}

/** Each package and version, once. */
export function packagesOf(lockfile: Lockfile): Package[] {
  const found = new Map<string, Package>()
  for (const [place, entry] of Object.entries(lockfileSchema.parse(lockfile).packages)) {
    if (place === '' || entry.link || entry.version === undefined) continue
    const name = place.replace(/^.*node_modules\//, '')
    const key = `${name}@${entry.version}`
    const dev = (entry.dev ?? false) && (found.get(key)?.dev ?? true)
    found.set(key, {
      name,
      version: entry.version,
      licence: entry.license ?? licencesInFiles.get(name),
      integrity: entry.integrity,
      dev,
    })
  }
  return [...found.values()]
}

/** The faults of these packages, one sentence each. */
export function faultsOf(
  packages: readonly Package[],
  allowed: ReadonlySet<string>,
  advisories: readonly Advisory[],
): string[] {
  return packages.flatMap(({ name, version, licence, integrity }) => [
    ...(licence !== undefined && allowed.has(licence)
      ? []
      : [`${name} ${version} has the licence ${licence ?? 'of nobody'}, which does not fit`]),
    ...(integrity?.startsWith('sha512-') ? [] : [`${name} ${version} has no sha512 checksum`]),
    ...advisories
      .filter((advisory) => advisory.package === name && advisory.accepted === undefined)
      .filter(({ vulnerable }) => satisfies(version, vulnerable, { includePrerelease: true }))
      .map(({ id, severity, title }) => `${name} ${version}: ${id} (${severity}): ${title}`),
  ])
}

/** A digest of names and versions, which changes with every update of packages. */
export const digestOf = (packages: readonly Package[]): string =>
  createHash('sha256')
    .update(
      packages
        .map(({ name, version }) => `${name}@${version}\n`)
        .toSorted()
        .join(''),
    )
    .digest('hex')

interface Contents {
  readonly name: string
  readonly packages: readonly Package[]
}

/**
 * One document: the portal's packages, and each other program as a component with its own packages.
 * CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
 */
export function bill(portal: Contents, others: readonly Contents[]): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: portal.name } },
    components: [
      ...componentsOf(portal),
      ...others.map((each) => ({
        type: 'application',
        name: each.name,
        components: componentsOf(each),
      })),
    ],
  }
}

const componentsOf = ({ packages }: Contents) =>
  packages.map(({ name, version, licence, integrity, dev }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace(/^@/, '%40')}@${version}`,
    scope: dev ? 'excluded' : 'required',
    ...(licence !== undefined && { licenses: [{ expression: licence }] }),
    ...(integrity !== undefined && {
      hashes: [
        {
          alg: 'SHA-512',
          content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
        },
      ],
    }),
  }))

if (process.argv[1] === import.meta.filename) {
  const { asOf, comparedFor, advisories } = advisoriesSchema.parse(
    read('packaging/advisories.json'),
  )
  const judged = programs.map(({ name, lockfile, licences }) => {
    const packages = packagesOf(lockfileSchema.parse(read(lockfile)))
    const faults = faultsOf(packages, licences, advisories)
    return { name, packages, faults: faults.map((fault) => `${lockfile}: ${fault}`) }
  })
  const digest = digestOf(judged.flatMap(({ packages }) => packages))
  const faults = judged.flatMap((program) => program.faults)
  if (digest !== comparedFor)
    faults.push(
      `packaging/advisories.json was compared for other packages on ${asOf}: compare it again ` +
        `with GitHub's advisory database, date it and set comparedFor to ${digest}`,
    )
  if (process.argv.includes('--sbom')) {
    const [portal, ...others] = judged
    if (portal) process.stdout.write(`${JSON.stringify(bill(portal, others), null, 2)}\n`)
    if (faults.length > 0) process.stderr.write(`${faults.join('\n')}\n`)
  } else
    process.stdout.write(
      faults.length > 0
        ? `${faults.join('\n')}\n`
        : `${judged.reduce((sum, { packages }) => sum + packages.length, 0)} packages: licences ` +
            `fit, checksums are there, none of the ${advisories.length} advisories ` +
            `listed on ${asOf} applies.\n`,
    )
  process.exitCode = faults.length === 0 ? 0 : 1
}
