/** The cluster is made: initdb in a folder beside its own, which is renamed once it is whole. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { onWindows, type Binaries, type RunAs } from './binaries.ts'
import { isAlive } from './lock.ts'

/** The environment of every PostgreSQL program, independent of the portal's own. */
export const childEnvironment = (): NodeJS.ProcessEnv => ({
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  ...(onWindows ? { SystemRoot: process.env['SystemRoot'] ?? '' } : {}),
})

function syncFolder(folder: string): void {
  if (onWindows) return
  const handle = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
}

/** Throws with what initdb said. */
export async function createCluster(
  base: string,
  dataFolder: string,
  password: string,
  binaries: Binaries,
  runAs: RunAs,
): Promise<void> {
  const unfinished = `${dataFolder}.new-${process.pid}`
  const passwordFile = path.join(base, `.pw-${process.pid}`)
  const give = (file: string): void => {
    if (runAs.uid !== undefined) fs.chownSync(file, runAs.uid, runAs.gid ?? runAs.uid)
  }
  fs.mkdirSync(unfinished, { mode: 0o700 })
  give(unfinished)
  fs.writeFileSync(passwordFile, password, { mode: 0o600 })
  give(passwordFile)
  try {
    const result = await new Promise<{ code: number | null; errors: string }>((resolve, reject) => {
      // The builtin locale does not drift with the host's glibc or ICU.
      const child = spawn(
        binaries.initdb,
        [
          '-D',
          unfinished,
          '-U',
          'postgres',
          '-A',
          'scram-sha-256',
          `--pwfile=${passwordFile}`,
          '-E',
          'UTF8',
          '--locale=C',
          '--locale-provider=builtin',
          '--builtin-locale=C.UTF-8',
          '--no-instructions',
        ],
        { ...runAs, env: childEnvironment(), cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] },
      )
      let errors = ''
      child.stderr.on('data', (chunk: Buffer) => {
        errors += chunk.toString()
      })
      child.on('error', reject)
      child.on('close', (code) => {
        resolve({ code, errors })
      })
    })
    if (result.code !== 0) throw new Error(`initdb failed: ${result.errors.trim()}`)
    try {
      fs.renameSync(unfinished, dataFolder)
    } catch (error) {
      // Another process may have won the race for the first boot.
      if (!fs.existsSync(path.join(dataFolder, 'PG_VERSION'))) throw error
    }
    syncFolder(base)
  } finally {
    for (const leftover of [passwordFile, unfinished])
      fs.rmSync(leftover, { recursive: true, force: true })
  }
}

/** Removes what a killed first boot has left. */
export function removeLeftovers(base: string): void {
  for (const name of fs.readdirSync(base)) {
    const match = /^(?:pgdata\.new|\.pw)-(\d+)$/.exec(name)
    if (!match || isAlive(Number(match[1]))) continue
    try {
      fs.rmSync(path.join(base, name), { recursive: true, force: true })
    } catch (error) {
      // An initdb of the killed first boot may still be writing; the next start tries again.
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
}
