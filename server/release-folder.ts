/**
 * The folder of another release whose code is to take over: a command writes its path into the data
 * folder, and the parent tries it with its next replacement of the portal's process. The note goes
 * either way, so that a command sees how the try ended.
 */
import {
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { builtProgram, programOfRelease } from './programs.ts'

const fileOf = (dataDir: string): string => path.join(dataDir, 'release.next')

export function noteRelease(dataDir: string, folder: string): void {
  const file = fileOf(dataDir)
  writeFileSync(`${file}.new`, folder)
  renameSync(`${file}.new`, file)
}

/** Undefined: the release stays the one that runs. */
export function notedRelease(dataDir: string): string | undefined {
  try {
    return readFileSync(fileOf(dataDir), 'utf8')
  } catch {
    return undefined
  }
}

export const forgetRelease = (dataDir: string): void => rmSync(fileOf(dataDir), { force: true })

/** A source of the server that is younger than its bundle, which would not hold it. */
function sourceYoungerThanBundle(folder: string): string | undefined {
  const bundle = builtProgram(folder, 'api')
  if (!existsSync(bundle)) return undefined
  const built = statSync(bundle).mtimeMs
  return globSync('{server,contract,sandbox}/**/*.ts', { cwd: folder }).find(
    (source) => !source.endsWith('.test.ts') && statSync(path.join(folder, source)).mtimeMs > built,
  )
}

/**
 * Why the code in this folder cannot be started; undefined: it can. It must be built already,
 * because nothing is installed under a running portal.
 */
export function whyNoRelease(folder: string): string | undefined {
  const api = path.relative(folder, programOfRelease(folder, 'api'))
  const needed = [api, 'node_modules', path.join('dist', 'web', 'index.html')]
  const missing = needed.find((part) => !existsSync(path.join(folder, part)))
  if (missing !== undefined)
    return `${folder} has no ${missing}: it must hold a release on which npm run build was run.`
  const younger = sourceYoungerThanBundle(folder)
  return younger === undefined
    ? undefined
    : `${younger} in ${folder} changed after npm run build: run it again.`
}
