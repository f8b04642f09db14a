import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'
import { envFileOf } from '../env-file.ts'
import { pidOfPortal } from '../portal-pid.ts'
import { releaseRoot } from '../programs.ts'
import { forgetRelease, notedRelease, noteRelease, whyNoRelease } from '../release-folder.ts'
import type { Output } from './output.ts'
import { askForTakeover } from './takeover.ts'

/**
 * Files of the operator in the folder of this release, one sentence each: a start in `folder` would
 * take those of that release in their place, such as its sample catalogue.
 */
function leftBehind(config: Config, folder: string): string[] {
  if (folder === releaseRoot) return []
  const files = {
    ENV_FILE: envFileOf(process.env),
    CATALOG: config.CATALOG,
    DATA_DIR: config.DATA_DIR,
  }
  return Object.entries(files)
    .filter(([, file]) => existsSync(file) && file.startsWith(releaseRoot + path.sep))
    .map(
      ([name, file]) =>
        `${file} lies in the folder of the former release: a full start in ${folder} does not ` +
        `read it. Keep it outside of releases, and set ${name}.`,
    )
}

/**
 * Replaces the portal that runs on this DATA_DIR by the code of another folder, without a failed
 * call. Code that does not start changes nothing. The same command with the previous release's
 * folder goes back.
 */
export async function upgradeCommand(
  config: Config,
  _databaseUrl: string,
  [given]: readonly string[],
  out: Output,
): Promise<number> {
  if (given === undefined) {
    out.refuse('Which folder holds the release? upgrade <folder>')
    return 64
  }
  const folder = path.resolve(given)
  const fault = whyNoRelease(folder)
  if (fault !== undefined) {
    out.refuse(fault)
    return 1
  }
  const before = pidOfPortal(config.DATA_DIR)
  if (before === undefined) {
    out.refuse(`No portal runs on ${config.DATA_DIR}.`)
    return 1
  }
  noteRelease(config.DATA_DIR, folder)
  const tookSeconds = await askForTakeover(
    config.DATA_DIR,
    before,
    () => notedRelease(config.DATA_DIR) === undefined,
  )
  if (tookSeconds === undefined) {
    forgetRelease(config.DATA_DIR)
    out.refuse(
      `The release in ${folder} did not get ready: the present one goes on. The log says why.`,
    )
    return 1
  }
  out.line(
    `The release in ${folder} took over in ${tookSeconds.toFixed(1)} s. API, pages and sites ` +
      'went on.',
  )
  const warnings = leftBehind(config, folder)
  for (const one of warnings) out.line(one)
  out.fields({ folder, tookSeconds, warnings })
  return 0
}
