// The embedded driver for its own tests, in a folder of its own.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import {
  defaultFilesDir as filesDir,
  defaultRuntimeDir as runtimeDir,
  ensureWordpress,
} from '../scripts/wordpress-files.mjs'
import { zipOf } from '../sandbox/wordpress/zip.ts'
import type { SiteRuntime } from '../server/wordpress/driver.ts'
import type { Fixture } from '../server/wordpress/drivers/conformance.ts'
import { createEmbedded, type EmbeddedParts } from '../server/wordpress/drivers/embedded/index.ts'

export { filesDir, runtimeDir }

/**
 * Whether users other than root can run files of this checkout: not if it is inside root's own
 * closed folder. Sites then run as the portal's user, and the driver warns about it.
 */
export function checkoutIsOpen(): boolean {
  for (let folder = path.resolve(import.meta.dirname); ; folder = path.dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
    if (folder === path.dirname(folder)) return true
  }
}

/** Writes a file that a site's user can read, whatever this process's umask is. */
export function putOpenFile(target: string, text: string): void {
  // Restored at once, because the umask applies to the whole process.
  const before = process.umask(0o022)
  try {
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, text)
  } finally {
    process.umask(before)
  }
}

/** `other`: parts that this test replaces. */
export const open = (dataDir: string, other: Partial<EmbeddedParts> = {}): SiteRuntime =>
  createEmbedded({
    dataDir,
    runtimeDir,
    filesDir,
    nodePath: process.execPath,
    settings: { internet: false, maxContainers: 50, pageSeconds: 60, maxCpu: null, maxRamMb: null },
    log: { warn: () => {} },
    ...other,
  })

const processesWith = (words: string): number[] =>
  execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(words) && !/^\s*\d+\s+Z/.test(line))
    .map((line) => Number.parseInt(line, 10))

/** Process ids of a site's containers, found as an operator finds them. */
export const processesOf = (id: string, container = ''): number[] =>
  processesWith(`--site ${id} --container ${container}`)

/** Process ids of a site's PHP. */
export const phpProcessesOf = (id: string): number[] => processesWith(`--php-of ${id} `)

export async function fixture(
  other: Partial<EmbeddedParts> = {},
): Promise<Fixture & { driver: SiteRuntime; dataDir: string }> {
  if (other.program !== 'simulated.js') await ensureWordpress()
  const dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-wordpress-'))
  const driver = open(dataDir, other)
  return {
    dataDir,
    driver,
    wordpress: other.program === 'simulated.js' ? { mb: 5, files: 5 } : { mb: 50, files: 1_000 },
    close: () => driver.close(),
    async put(id, file, text) {
      putOpenFile(path.join(dataDir, 'sites', id, 'wordpress', file), text)
    },
    async zip(files) {
      const file = path.join(dataDir, `package-${randomUUID()}.zip`)
      const all = Object.entries(files).map(([name, content]) => ({ name, content }))
      await fs.writeFile(file, zipOf(all))
      return file
    },
    async kill(id, container) {
      for (const pid of processesOf(id, container)) process.kill(pid, 'SIGKILL')
    },
    async traces(id) {
      const names = await fs.readdir(path.join(dataDir, 'sites')).catch(() => [])
      return [
        ...names.filter((name) => name.includes(id)),
        ...[...processesOf(id), ...phpProcessesOf(id)].map((pid) => `process ${pid}`),
      ]
    },
    async dispose() {
      await driver.close()
      await fs.rm(dataDir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
