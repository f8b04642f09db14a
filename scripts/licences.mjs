/**
 * A step of `npm run check`: every package of the lockfiles has a licence that fits, the portal's
 * (Apache-2.0) and that of the WordPress runtime (GPL-2.0-or-later), which is a program of its own.
 * `npm sbom --sbom-format cyclonedx --package-lock-only` writes the bill of materials.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './bootstrap.mjs'

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
const portal = new Set([
  ...permissive,
  // Copyleft by file only; none of these files is changed here (lightningcss, axe-core).
  'MPL-2.0',
  // Data: towns, named in THIRD-PARTY.md.
  'CC-BY-4.0',
])
const runtime = new Set([...permissive, 'GPL-2.0-or-later'])
/** Packages whose lockfile entry names none, and what their own files say. */
const named = { 'png-js': 'MIT', '@php-wasm/util': 'GPL-2.0-or-later' }

const wrong = []
let counted = 0
for (const { lockfile, allowed } of [
  { lockfile: 'package-lock.json', allowed: portal },
  { lockfile: 'runtimes/wordpress-wasm/package-lock.json', allowed: runtime },
]) {
  const { packages } = JSON.parse(readFileSync(path.join(root, lockfile), 'utf8'))
  for (const [place, { license, link }] of Object.entries(packages)) {
    if (place === '' || link) continue
    counted++
    const name = place.replace(/^.*node_modules\//, '')
    const licence = license ?? named[name]
    if (!allowed.has(licence)) wrong.push(`${lockfile}: ${name}: ${licence ?? 'no licence'}`)
  }
}
process.stdout.write(
  wrong.length === 0
    ? `${counted} packages, all under licences that fit.\n`
    : `${wrong.join('\n')}\n`,
)
process.exit(wrong.length === 0 ? 0 : 1)
