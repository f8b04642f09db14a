/** The process id of the portal that runs on a data folder, for an operator's command to find it. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const fileOf = (dataDir: string): string => path.join(dataDir, 'portal.pid')

export const notePid = (dataDir: string): void => writeFileSync(fileOf(dataDir), `${process.pid}\n`)

/** Undefined when none runs. Process ids are used again, so one that cannot be a portal's is none. */
export function pidOfPortal(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(fileOf(dataDir), 'utf8'))
    if (!Number.isInteger(pid) || pid <= 1) return undefined
    process.kill(pid, 0)
    if (process.platform === 'linux' && !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('api.ts')) return undefined
    return pid
  } catch {
    return undefined
  }
}
