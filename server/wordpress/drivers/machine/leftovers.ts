// Ends container processes of an earlier run of the portal. They exit when their parent dies; one
// that does not must not write to the site beside a new container.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { removeTree } from './files.ts'

const gone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return commandOf(pid) === ''
  } catch {
    return true
  }
}

/** The command line of a process, or '' when there is none (a zombie has none either). */
function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  } catch {
    return ''
  }
}

export const pidFile = (runDir: string, name: string): string => path.join(runDir, `${name}.pid`)

/**
 * Ends every process that a pid file of `runDir` names, if it is still a container of that site
 * (pids are reused), and empties the folder. Answers how many.
 */
export async function endLeftovers(runDir: string, siteId: string): Promise<number> {
  const names = await fs.readdir(runDir).catch(() => [])
  let ended = 0
  for (const name of names.filter((one) => one.endsWith('.pid'))) {
    const pid = Number(await fs.readFile(path.join(runDir, name), 'utf8').catch(() => ''))
    if (!Number.isInteger(pid) || pid <= 1) continue
    const command = commandOf(pid)
    if (!command.includes('wordpress-wasm') || !command.includes(`--site ${siteId}`)) continue
    try {
      process.kill(pid, 'SIGKILL')
      ended++
    } catch {
      continue
    }
    const deadline = Date.now() + 5_000
    while (!gone(pid) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await removeTree(runDir)
  return ended
}
