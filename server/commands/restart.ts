import type { Config } from '../config.ts'
import type { Output } from './output.ts'
import { pidOfPortal } from '../portal-pid.ts'
import { readSettings } from '../settings.ts'
import { askForTakeover, patienceSeconds } from './takeover.ts'

/**
 * Replaces the portal that runs on this DATA_DIR by a new process with the present catalogue, code
 * and `.env`. No call fails meanwhile, and customers' sites continue.
 */
export async function restartCommand(
  config: Config,
  _databaseUrl: string,
  _options: readonly string[],
  out: Output,
): Promise<number> {
  const settings = readSettings(process.env)
  if ('faults' in settings) {
    const faults = settings.faults.map((fault) => `  - ${fault}`).join('\n')
    out.refuse(`The portal would not come back, so it goes on as it is:\n${faults}`)
    return 1
  }
  const before = pidOfPortal(config.DATA_DIR)
  if (before === undefined) {
    out.refuse(`No portal runs on ${config.DATA_DIR}.`)
    return 1
  }
  const tookSeconds = await askForTakeover(config.DATA_DIR, before)
  if (tookSeconds === undefined) {
    out.refuse(
      `No new process was ready within ${patienceSeconds} s: the present one goes on. ` +
        'The log says why.',
    )
    return 1
  }
  out.line(
    `The portal was started again in ${tookSeconds.toFixed(1)} s. API, pages and sites went on.`,
  )
  out.fields({ tookSeconds })
  return 0
}
