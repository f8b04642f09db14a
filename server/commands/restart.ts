import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { pidOfPortal } from '../portal-pid.ts'
import { readSettings } from '../settings.ts'

/** The portal finishes what is in flight, then comes back. Seconds. */
const patience = 60
const lookMs = 100

/** Ends the portal that runs on this DATA_DIR; its parent starts it again, with the catalogue and the code of now. Customers' sites go on. */
export async function restartCommand(config: Config): Promise<number> {
  const settings = readSettings(process.env)
  if ('faults' in settings) {
    process.stderr.write(
      `The portal would not come back, so it goes on as it is:\n${settings.faults.map((fault) => `  - ${fault}\n`).join('')}`,
    )
    return 1
  }
  const before = pidOfPortal(config.DATA_DIR)
  if (before === undefined) {
    process.stderr.write(`No portal runs on ${config.DATA_DIR}.\n`)
    return 1
  }
  const began = performance.now()
  process.kill(before, 'SIGTERM')
  for (;;) {
    const now = pidOfPortal(config.DATA_DIR)
    if (now !== undefined && now !== before) break
    if (performance.now() - began > patience * 1000) {
      process.stderr.write(`The portal did not come back within ${patience} s. Its log says why.\n`)
      return 1
    }
    await pause(lookMs)
  }
  process.stdout.write(`The portal was started again in ${((performance.now() - began) / 1000).toFixed(1)} s. Customers' sites went on.\n`)
  return 0
}
