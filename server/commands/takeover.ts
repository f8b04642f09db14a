/** Waiting for another process of the portal to take over, as `restart` and `upgrade` do. */
import { setTimeout as pause } from 'node:timers/promises'
import { pidOfParent, pidOfPortal } from '../portal-pid.ts'

/** How long a new process may take, seconds: a little more than the parent gives it. */
export const patienceSeconds = 65
const lookMs = 100

/**
 * Asks the parent for another process in the place of `before`, and waits until it is there.
 * Answers the seconds that it took; undefined when it is not there in time, or `isGivenUp` says so.
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
