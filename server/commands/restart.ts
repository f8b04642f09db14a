import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Output } from './output.ts'
import { pidOfParent, pidOfPortal } from '../portal-pid.ts'
import { readSettings } from '../settings.ts'

/** The portal finishes what is in flight, then comes back. Seconds. */
const timeoutSeconds = 60
const lookMs = 100

/**
 * Has the portal that runs on this DATA_DIR started again, with the catalogue, the code and the
 * `.env` of now. Customers' sites go on.
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
  const began = performance.now()
  const parent = pidOfParent(config.DATA_DIR)
  if (parent === undefined) process.kill(before, 'SIGTERM')
  else process.kill(parent, 'SIGUSR2')
  for (;;) {
    const now = pidOfPortal(config.DATA_DIR)
    if (now !== undefined && now !== before) break
    if (performance.now() - began > timeoutSeconds * 1000) {
      out.refuse(`The portal did not come back within ${timeoutSeconds} s. Its log says why.`)
      return 1
    }
    await pause(lookMs)
  }
  const tookSeconds = Number(((performance.now() - began) / 1000).toFixed(1))
  out.line(`The portal was started again in ${tookSeconds.toFixed(1)} s. Customers' sites went on.`)
  out.fields({ tookSeconds })
  return 0
}
