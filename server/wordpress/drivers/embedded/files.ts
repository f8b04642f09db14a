// Folders of sites: copying, measuring and removing them. PHP may not create symbolic links, and nothing here would follow one.
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Copies a tree with its modification times (opcache compares them); shares blocks where the file system can. */
export async function copyTree(from: string, to: string): Promise<void> {
  await fs.mkdir(path.dirname(to), { recursive: true })
  if (process.platform === 'linux') {
    try {
      await run('cp', ['-a', '--reflink=auto', '--', from, to])
      return
    } catch {
      // A cp without --reflink (busybox): the portable way below.
      await fs.rm(to, { recursive: true, force: true })
    }
  }
  await fs.cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
}

/** Bytes of the regular files below `dir`, links not followed, `skip` left out; 0 when it is not there. */
export async function bytesBelow(dir: string, skip?: string): Promise<number> {
  const entries = await fs.readdir(dir, { withFileTypes: true }).catch(() => [])
  let sum = 0
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    if (entry.isDirectory()) sum += await bytesBelow(full)
    else if (entry.isFile()) {
      sum += await fs.lstat(full).then(
        (stat) => stat.size,
        () => 0,
      )
    }
  }
  return sum
}

/** Removes a tree: links are removed, not followed. Renamed out of sight first, so that a half-removed site is never taken for one. */
export async function removeTree(dir: string): Promise<void> {
  const doomed = path.join(path.dirname(dir), `.removing-${path.basename(dir)}-${process.pid}-${Date.now().toString(36)}`)
  try {
    await fs.rename(dir, doomed)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await fs.rm(doomed, { recursive: true, force: true, maxRetries: 3 })
}

/** Writes a small file so that a kill leaves the old one or the new one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const scratch = `${file}.${process.pid}.new`
  await fs.writeFile(scratch, text)
  await fs.rename(scratch, file)
}
