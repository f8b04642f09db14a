/**
 * The process id of the portal that runs on a data folder, for an operator's command to find it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const fileOf = (dataDir: string): string => path.join(dataDir, 'portal.pid')

/** Notes this process, and the one that starts it again: its parent, if it is not `parent`. */
export function notePid(dataDir: string, parent = process.ppid): void {
  // A fresh machine that only runs sites has put nothing there yet.
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(fileOf(dataDir), `${process.pid}\n${parent}\n`)
}

const notedPids = (dataDir: string): number[] =>
  readFileSync(fileOf(dataDir), 'utf8').trim().split('\n').map(Number)

/**
 * The process that starts the portal again and takes settings anew; undefined where none is noted.
 */
export function pidOfParent(dataDir: string): number | undefined {
  const [, parent] = notedPids(dataDir)
  return parent !== undefined && Number.isInteger(parent) && parent > 1 ? parent : undefined
}

/**
 * Undefined when none runs. Process ids are used again, so one that cannot be a portal's is none.
 */
export function pidOfPortal(dataDir: string): number | undefined {
  try {
    const [pid = 0] = notedPids(dataDir)
    if (!Number.isInteger(pid) || pid <= 1) return undefined
    process.kill(pid, 0)
    const command = commandOf(pid)
    return command === undefined || /\bserver\/(?:api|main)\.[jt]s/.test(command) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Undefined where the system does not say. */
function commandOf(pid: number): string | undefined {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  if (process.platform === 'win32') return undefined
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

/** A killed process takes a moment to end with all its children, ms. */
const leaveMs = 5_000
const lookMs = 50

/**
 * Throws when another portal runs on this data folder: two would run the same sites and, once one
 * of them stops, take the database from under the other. `own` is the process id that is no other
 * one.
 */
export async function refuseSecondPortal(dataDir: string, own: number | undefined): Promise<void> {
  // If the system does not name a process, a reused pid would block the start for ever.
  if (process.platform === 'win32') return
  for (let waited = 0; ; waited += lookMs) {
    const pid = pidOfPortal(dataDir)
    if (pid === undefined || pid === own) return
    if (waited >= leaveMs)
      throw new Error(
        `DATA_DIR ${dataDir} is in use by a portal that runs (process ${pid}): stop it, or ` +
          'set another DATA_DIR.',
      )
    await pause(lookMs)
  }
}
