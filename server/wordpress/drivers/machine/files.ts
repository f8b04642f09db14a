// Folders of sites: copying, measuring and removing them. PHP may not create symbolic links, and
// nothing here would follow one.
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Copies a tree with its modification times (opcache compares them); shares blocks where the file
 * system can.
 */
export async function copyTree(from: string, to: string): Promise<void> {
  await fs.mkdir(path.dirname(to), { recursive: true })
  if (process.platform === 'linux') {
    try {
      await run('cp', ['-a', '--reflink=auto', '--', from, to])
      return
    } catch {
      // This cp has no --reflink (busybox): the portable way below is used.
      await fs.rm(to, { recursive: true, force: true })
    }
  }
  await fs.cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
}

/** Copies the content of a folder into an existing one. */
export async function copyInto(from: string, to: string): Promise<void> {
  await run('cp', ['-a', '--reflink=auto', '--', `${from}/.`, to])
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/**
 * Bytes of the regular files below `dir`, without following links and without `skip`; 0 when `dir`
 * does not exist. Rejects when a folder cannot be read, because its size is unknown.
 */
export async function bytesBelow(dir: string, skip?: string): Promise<number> {
  let entries
  try {
    entries = await fs.readdir(dir, { withFileTypes: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0
    throw error
  }
  let sum = 0
  for (const entry of entries) {
    const full = path.join(dir, entry.name)
    if (full === skip) continue
    if (entry.isDirectory()) sum += await bytesBelow(full, skip)
    else if (entry.isFile()) {
      sum += await fs.lstat(full).then(
        (stat) => stat.size,
        () => 0,
      )
    }
  }
  return sum
}

/** Writes a small file so that a kill leaves the old one or the new one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const scratch = `${file}.${process.pid}.new`
  await fs.writeFile(scratch, text)
  await fs.rename(scratch, file)
}

const exists = (file: string): Promise<boolean> =>
  fs.lstat(file).then(
    () => true,
    () => false,
  )

/** Prefix of trees that are out of use and to be removed. */
const doomedPrefix = '.removing-'
/** Trees that are being removed now: a sweep leaves them alone. */
const underWay = new Set<string>()

/**
 * Removes a tree for good; links are removed, not followed. `rm` works by descriptors, so a path
 * longer than PATH_MAX (4096 bytes) does not stop it, as it stops `fs.rm`. Rejects when a part of
 * the tree is left.
 */
async function removeForGood(dir: string): Promise<void> {
  underWay.add(dir)
  try {
    const byDescriptor = async (): Promise<void> => {
      if (process.platform === 'win32') throw new Error('no rm here')
      await run('rm', ['-rf', '--', dir])
    }
    try {
      await byDescriptor()
    } catch {
      // Some folders deny their owner access, or there is no such program.
      await run('chmod', ['-R', 'u+rwX', '--', dir]).catch(() => {})
      await byDescriptor().catch(async (error: unknown) => {
        // A program of the site may still have one of its folders open, and add to it. Removal by
        // paths would then follow links that it swaps in.
        if (process.platform === 'linux' && codeOf(error) !== 'ENOENT') return
        await fs.rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
      })
    }
    if (await exists(dir)) throw new Error(`${path.basename(dir)} could not be removed`)
  } finally {
    underWay.delete(dir)
  }
}

/**
 * Removes a tree: renames it first, so that a half-removed site is never taken for one. Resolves
 * when nothing of it is left, including what a killed or failed earlier try left.
 */
export async function removeTree(dir: string): Promise<void> {
  const parent = path.dirname(dir)
  const mine = `${doomedPrefix}${path.basename(dir)}-`
  try {
    await fs.rename(dir, path.join(parent, `${mine}${process.pid}-${Date.now().toString(36)}`))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const names: string[] = await fs.readdir(parent).catch(() => [])
  for (const name of names) if (name.startsWith(mine)) await removeForGood(path.join(parent, name))
}

/**
 * Removes leftovers of earlier processes below `dir`: trees marked for removal, and names for which
 * `isScratch` is true. Answers how many are still there.
 */
export async function sweepDoomed(
  dir: string,
  isScratch: (name: string) => boolean = () => false,
): Promise<number> {
  const names: string[] = await fs.readdir(dir).catch(() => [])
  let left = 0
  for (const name of names) {
    const full = path.join(dir, name)
    if (underWay.has(full)) continue
    if (name.startsWith(doomedPrefix) || isScratch(name))
      await removeForGood(full).catch(() => left++)
  }
  return left
}
