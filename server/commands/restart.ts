import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Output } from './output.ts'
import { pidOfParent, pidOfPortal } from '../portal-pid.ts'
import { readSettings } from '../settings.ts'

/** How long a new process may take, seconds: a little more than the parent gives it. */
const patience = 65
const lookMs = 100

/**
 * Has another process take the place of the portal that runs on this DATA_DIR, with the catalogue,
 * the code and the `.env` of now. No call fails meanwhile, and customers' sites go on.
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
    if (performance.now() - began > patience * 1000) {
      out.refuse(
        `No new process was ready within ${patience} s: the present one goes on. The log says why.`,
      )
      return 1
    }
    await pause(lookMs)
  }
  const tookSeconds = Number(((performance.now() - began) / 1000).toFixed(1))
  out.line(
    `The portal was started again in ${tookSeconds.toFixed(1)} s. API, pages and sites went on.`,
  )
  out.fields({ tookSeconds })
  return 0
}
