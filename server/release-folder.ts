/**
 * The folder of another release whose code is to take over: a command writes its path into the data
 * folder, and the parent tries it with its next replacement of the portal's process. The note goes
 * either way, so that a command sees how the try ended.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const fileOf = (dataDir: string): string => path.join(dataDir, 'release.next')

/** What the portal's process runs, below the folder of a release. */
export const portalModule = path.join('server', 'api.ts')

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

/**
 * Why the code in this folder cannot be started, or undefined. It has to be built there: nothing is
 * installed beneath a portal that runs.
 */
export function whyNoRelease(folder: string): string | undefined {
  const needed = [portalModule, 'node_modules', path.join('dist', 'web', 'index.html')]
  const missing = needed.find((part) => !existsSync(path.join(folder, part)))
  return missing === undefined
    ? undefined
    : `${folder} has no ${missing}: it must hold a release on which npm run build was run.`
}
