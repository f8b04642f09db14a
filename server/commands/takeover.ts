/** Waits for another process of the portal to take over, for `restart` and `upgrade`. */
import { setTimeout as pause } from 'node:timers/promises'
import { pidOfParent, pidOfPortal } from '../portal-pid.ts'

/** Time limit for a new process, seconds: a little more than the parent allows it. */
export const patienceSeconds = 65
const lookMs = 100

/**
 * Requests another process in place of `before` from the parent, and waits for it. Answers the
 * seconds it took; undefined: it did not come in time, or `isGivenUp` holds.
 */
export async function askForTakeover(
  dataDir: string,
  before: number,
  isGivenUp: () => boolean = () => false,
): Promise<number | undefined> {
  const began = performance.now()
  const parent = pidOfParent(dataDir)
  if (parent === undefined) process.kill(before, 'SIGTERM')
  else process.kill(parent, 'SIGUSR2')
  while (performance.now() - began < patienceSeconds * 1000) {
    const now = pidOfPortal(dataDir)
    if (now !== undefined && now !== before)
      return Number(((performance.now() - began) / 1000).toFixed(1))
    if (isGivenUp()) return undefined
    await pause(lookMs)
  }
  return undefined
}
