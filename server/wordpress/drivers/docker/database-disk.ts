/**
 * The disk of one database: a file system of its own in a file, so that the kernel holds its limit.
 * What a plan has less than the file is taken by ballast, so a plan shrinks and grows while the
 * database runs.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const megabyte = 1_048_576
/** MariaDB's own files and the file system's. */
const leastBytes = 256 * megabyte
/**
 * Beyond the plan: the site's PHP stops adding before (native-files.js of the runtime), for MariaDB
 * cannot undo a statement on a disk that is full to the last byte, and ends.
 */
const reserveBytes = 96 * megabyte
const fileName = 'disk.img'
/** What it held when it was last unmounted, bytes. */
const heldName = 'held.json'
const tries = 50
const tryMs = 100

const exists = (file: string): Promise<boolean> =>
  fs.stat(file).then(
    () => true,
    () => false,
  )

/** Where it is mounted, in the site's own folder. */
export const mountDirOf = (dir: string): string => path.join(dir, 'database-disk')

const ballastIn = (mountDir: string): string => path.join(mountDir, 'ballast')
/** What MariaDB sees of it. */
export const dataIn = (mountDir: string): string => path.join(mountDir, 'data')
/** An empty folder of it, by which PHP knows what is free. */
export const windowIn = (mountDir: string): string => path.join(mountDir, 'window')

async function isMounted(mountDir: string): Promise<boolean> {
  const mounts = await fs.readFile('/proc/self/mounts', 'utf8')
  // Spaces and the like stand there as octal numbers; the folder's own name has none.
  return mounts.split('\n').some((line) => line.split(' ')[1] === mountDir)
}

/** Bytes that can be had in all, that are free, and of the ballast; ext4 keeps some for itself. */
async function figuresOf(mountDir: string) {
  const { blocks, bfree, bavail, bsize } = await fs.statfs(mountDir)
  const ballast = await fs.stat(ballastIn(mountDir)).then(
    (stat) => stat.size,
    () => 0,
  )
  return { whole: (blocks - bfree + bavail) * bsize, free: bavail * bsize, ballast }
}

/** What the database takes of it, bytes; also while it is not mounted. */
export async function databaseUsed(databaseDir: string, mountDir: string): Promise<number> {
  if (await isMounted(mountDir)) {
    const { whole, free, ballast } = await figuresOf(mountDir)
    return Math.max(0, whole - free - ballast)
  }
  const held = await fs.readFile(path.join(databaseDir, heldName), 'utf8').catch(() => '0')
  return Number(held) || 0
}

/** From now on it may take so many bytes in all. */
export async function limitDatabase(mountDir: string, bytes: number): Promise<void> {
  if (!(await isMounted(mountDir))) return
  const { whole, free, ballast } = await figuresOf(mountDir)
  const wanted = Math.max(0, Math.floor(whole - bytes - reserveBytes))
  // Where it holds more already, nothing more goes in.
  const size = Math.min(wanted, ballast + free)
  const file = ballastIn(mountDir)
  if (size < ballast) await fs.truncate(file, size)
  else if (size > ballast) await run('fallocate', ['-l', String(size), file])
}

/** Mounts it, and makes it where there is none. */
export async function mountDatabase(
  databaseDir: string,
  mountDir: string,
  bytes: number,
  user: number,
): Promise<void> {
  const file = path.join(databaseDir, fileName)
  // A database that ended by itself: PHP sees this one.
  if (await isMounted(mountDir)) return
  await fs.mkdir(mountDir, { recursive: true, mode: 0o755 })
  const wanted = Math.ceil((Math.max(leastBytes, bytes) + reserveBytes) / megabyte) * megabyte
  if (!(await exists(file))) {
    const made = `${file}.made`
    await fs.rm(made, { force: true })
    await run('truncate', ['-s', String(wanted), made])
    const extended = 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'
    const options = ['-q', '-F', '-m', '0', '-i', '65536', '-J', 'size=16', '-E', extended]
    await run('mkfs.ext4', [...options, made])
    await fs.rename(made, file)
  } else if ((await fs.stat(file)).size < wanted) {
    await run('truncate', ['-s', String(wanted), file])
    // It mends what a cut end of the machine has left; 1: it did so.
    await run('e2fsck', ['-f', '-y', file]).catch((error: { code?: number }) => {
      if (error.code !== 1) throw error
    })
    await run('resize2fs', [file])
  }
  await run('mount', ['-o', 'loop,noatime,nodev,nosuid,noexec', file, mountDir])
  const data = dataIn(mountDir)
  await fs.mkdir(windowIn(mountDir), { recursive: true })
  await fs.mkdir(data, { recursive: true, mode: 0o700 })
  await fs.chown(data, user, user)
}

/** Does nothing where it is not mounted. */
export async function unmountDatabase(databaseDir: string, mountDir: string): Promise<void> {
  if (!(await isMounted(mountDir))) return
  const used = await databaseUsed(databaseDir, mountDir)
  for (let left = tries; ; left--) {
    try {
      await run('umount', [mountDir])
      break
    } catch (error) {
      // A container that has just ended may hold it for a moment.
      if (left === 0) throw error
      await pause(tryMs)
    }
  }
  await fs.writeFile(path.join(databaseDir, heldName), String(used)).catch(() => {})
}
