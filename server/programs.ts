/**
 * The programs of a release, by name. `npm run build` bundles each into `dist/server`
 * (scripts/server-bundle.ts). Node also runs the TypeScript directly, as a developer's start does.
 * A process starts others of its own kind; confined programs are always bundled.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'

export type Program = 'main' | 'api' | 'name-server-process' | 'command'

/** The folder of the release whose code this is. */
export const releaseRoot = path.resolve(import.meta.dirname, '..')

/** The path of a program's bundle, whether or not it exists. */
export const builtProgram = (release: string, name: Program): string =>
  path.join(release, 'dist', 'server', `${name}.js`)
const plainProgram = (release: string, name: Program): string =>
  path.join(release, 'server', `${name}.ts`)

// A bundle is JavaScript: the one property of a module that the bundler leaves as it is.
const runsBundle = import.meta.filename.endsWith('.js')

/** A program of this release, in the form of this process. */
export const programOf = (name: Program): string =>
  runsBundle ? builtProgram(releaseRoot, name) : plainProgram(releaseRoot, name)

/** A program of a release in another folder: its bundle, if it has one. */
export function programOfRelease(release: string, name: Program): string {
  const built = builtProgram(release, name)
  return existsSync(built) ? built : plainProgram(release, name)
}
