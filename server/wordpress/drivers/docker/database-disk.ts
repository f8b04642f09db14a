/**
 * The disk of one database: a file system of its own in a file, so that the kernel enforces its
 * limit. Ballast fills what the file has more than the plan, so a plan shrinks and grows while the
 * database runs.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'

const run = promisify(execFile)
const megabyte = 1_048_576
/** Least size: MariaDB's own files and the file system's. */
const leastBytes = 256 * megabyte
/**
 * Space beyond the plan. The site's PHP stops adding before it (native-files.js of the runtime): on
 * a disk that is full to the last byte MariaDB cannot undo a statement, and ends.
 */
const reserveBytes = 96 * megabyte
const fileName = 'disk.img'
/** Keeps the used bytes of the last unmount. */
const heldName = 'held.json'
const tries = 50
const tryMs = 100

/** The mount point, in the site's own folder. */
export const mountDirOf = (dir: string): string => path.join(dir, 'database-disk')

const ballastIn = (mountDir: string): string => path.join(mountDir, 'ballast')
/** The folder of the disk that MariaDB sees. */
export const dataIn = (mountDir: string): string => path.join(mountDir, 'data')
/** An empty folder of the disk, by which PHP learns how much is free. */
export const windowIn = (mountDir: string): string => path.join(mountDir, 'window')

/** The device that is mounted there; null: none. */
async function deviceAt(mountDir: string): Promise<string | null> {
  const mounts = await fs.readFile('/proc/self/mounts', 'utf8')
  // Special characters stand there as octal numbers; this folder's name has none.
  const line = mounts.split('\n').findLast((one) => one.split(' ')[1] === mountDir)
  return line?.split(' ')[0] ?? null
}

const isMounted = async (mountDir: string): Promise<boolean> => (await deviceAt(mountDir)) !== null

const folderOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const refused = (): DriverFailure =>
  new DriverFailure('rejected', "the disk of the database is not the portal's own")
const isThere = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error
}

/**
 * Opens the database's folder for `act`. PHP does not reach it. Processes of the site's user that
 * unpack a customer's upload come near it, so no link is followed on the way, and renaming
 * meanwhile changes nothing. `take` creates the folder where it is missing, and from then on only
 * root writes there.
 */
async function inDatabaseFolder<T>(
  databaseDir: string,
  how: 'take' | 'look',
  act: (at: (name: string) => string) => Promise<T>,
): Promise<T> {
  const opened: fs.FileHandle[] = []
  const at = (name: string): string => `/proc/${process.pid}/fd/${opened.at(-1)!.fd}/${name}`
  try {
    const content = path.dirname(databaseDir)
    opened.push(await fs.open(path.dirname(content), folderOnly))
    for (const one of [content, databaseDir]) {
      const place = at(path.basename(one))
      if (how === 'take') await fs.mkdir(place, { mode: 0o755 }).catch(isThere)
      opened.push(
        await fs.open(place, folderOnly).catch((error: NodeJS.ErrnoException) => {
          throw ['ELOOP', 'ENOTDIR'].includes(error.code ?? '') ? refused() : error
        }),
      )
    }
    if (how === 'take') {
      await opened.at(-1)!.chown(0, 0)
      await opened.at(-1)!.chmod(0o700)
    }
    return await act(at)
  } finally {
    for (const one of opened) await one.close()
  }
}

/**
 * Opens the disk's file; null where there is none. Refuses a file that PHP may have made, so that
 * it is never mounted.
 */
async function openImage(file: string): Promise<fs.FileHandle | null> {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const image = await fs.open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw ['ELOOP', 'EISDIR', 'ENXIO'].includes(error.code ?? '') ? refused() : error
  })
  if (image === null) return null
  const stat = await image.stat()
  if (stat.isFile() && stat.uid === 0 && stat.nlink === 1) return image
  await image.close()
  throw refused()
}

async function makeImage(at: (name: string) => string, bytes: number): Promise<fs.FileHandle> {
  const made = at(`${fileName}.made`)
  await fs.rm(made, { recursive: true, force: true })
  const image = await fs.open(made, 'wx+', 0o600)
  try {
    await image.truncate(bytes)
    const extended = 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'
    const options = ['-q', '-F', '-m', '0', '-i', '65536', '-J', 'size=16', '-E', extended]
    await run('mkfs.ext4', [...options, made])
    await fs.rename(made, at(fileName))
    return image
  } catch (error) {
    await image.close()
    throw error
  }
}

/** The loop devices whose backing file is this very file. */
async function devicesOf(image: fs.FileHandle): Promise<string[]> {
  const { dev, ino } = await image.stat({ bigint: true })
  // Splits the device number as makedev(3) composes it.
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  const columns = ['--list', '--noheadings', '-O', 'NAME,BACK-INO,BACK-MAJ:MIN']
  const { stdout } = await run('losetup', columns)
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, inode, device]) => inode === String(ino) && device === `${major}:${minor}`)
    .map(([name = '']) => name)
}

/** Usable bytes, free bytes, and bytes of the ballast; ext4 keeps some for itself. */
async function figuresOf(mountDir: string) {
  const { blocks, bfree, bavail, bsize } = await fs.statfs(mountDir)
  const ballast = await fs.stat(ballastIn(mountDir)).then(
    (stat) => stat.size,
    () => 0,
  )
  return { whole: (blocks - bfree + bavail) * bsize, free: bavail * bsize, ballast }
}

/** Bytes that the database uses on its disk, mounted or not. */
export async function databaseUsed(databaseDir: string, mountDir: string): Promise<number> {
  if (await isMounted(mountDir)) {
    const { whole, free, ballast } = await figuresOf(mountDir)
    return Math.max(0, whole - free - ballast)
  }
  const held = await inDatabaseFolder(databaseDir, 'look', async (at) => {
    const file = await fs.open(at(heldName), constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      return (await file.stat()).uid === 0 ? await file.readFile('utf8') : '0'
    } finally {
      await file.close()
    }
  }).catch(() => '0')
  return Number(held) || 0
}

const imageBytesFor = (bytes: number): number =>
  Math.ceil((Math.max(leastBytes, bytes) + reserveBytes) / megabyte) * megabyte

/**
 * The size of the file system in the file, bytes (Linux, Documentation/filesystems/ext4/super.rst).
 */
async function fileSystemBytes(image: fs.FileHandle): Promise<number> {
  const superblock = Buffer.alloc(32)
  await image.read(superblock, 0, superblock.length, 1_024)
  // s_blocks_count_lo, s_log_block_size: these disks have fewer than 2^32 blocks.
  return superblock.readUInt32LE(4) * 2 ** (10 + superblock.readUInt32LE(24))
}

/**
 * Grows the file of a mounted disk to `wanted` bytes, and its file system with it. Rejects where
 * the kernel does not permit it: then the next mount does it.
 */
async function growMounted(image: fs.FileHandle, device: string, wanted: number): Promise<void> {
  if ((await fileSystemBytes(image)) >= wanted) return
  if (!(await devicesOf(image)).includes(device)) throw refused()
  if ((await image.stat()).size < wanted) await image.truncate(wanted)
  await run('losetup', ['--set-capacity', device])
  await run('resize2fs', [device])
}

/**
 * Limits the database to `bytes`. A file that is too small grows now, or with the next mount where
 * the kernel does not permit it: then `cannotGrow` is told why.
 */
export async function limitDatabase(
  databaseDir: string,
  mountDir: string,
  bytes: number,
  cannotGrow: (why: string) => void,
): Promise<void> {
  const device = await deviceAt(mountDir)
  if (device === null) return
  await inDatabaseFolder(databaseDir, 'take', async (at) => {
    const image = await openImage(at(fileName))
    try {
      if (image) await growMounted(image, device, imageBytesFor(bytes))
    } catch (error) {
      if (error instanceof DriverFailure) throw error
      cannotGrow((error as Error).message)
    } finally {
      await image?.close()
    }
  })
  const { whole, free, ballast } = await figuresOf(mountDir)
  const wanted = Math.max(0, Math.floor(whole - bytes - reserveBytes))
  // Where the database uses more already, the ballast takes all free space, so that nothing is
  // added.
  const size = Math.min(wanted, ballast + free)
  const file = ballastIn(mountDir)
  if (size < ballast) await fs.truncate(file, size)
  else if (size > ballast) await run('fallocate', ['-l', String(size), file])
}

/**
 * Mounts the disk, and makes it first where there is none. DriverFailure rejected where its file is
 * not the portal's own.
 */
export async function mountDatabase(
  databaseDir: string,
  mountDir: string,
  bytes: number,
  user: number,
): Promise<void> {
  await fs.mkdir(mountDir, { recursive: true, mode: 0o755 })
  const wanted = imageBytesFor(bytes)
  await inDatabaseFolder(databaseDir, 'take', async (at) => {
    const image = (await openImage(at(fileName))) ?? (await makeImage(at, wanted))
    try {
      await mountImage(image, at(fileName), mountDir, wanted)
    } finally {
      await image.close()
    }
  })
  for (const folder of [windowIn(mountDir), dataIn(mountDir)]) {
    await fs.mkdir(folder, { mode: folder === windowIn(mountDir) ? 0o755 : 0o700 }).catch(isThere)
    if (!(await fs.lstat(folder)).isDirectory()) throw refused()
  }
  const data = await fs.open(dataIn(mountDir), folderOnly)
  try {
    await data.chown(user, user)
  } finally {
    await data.close()
  }
}

async function mountImage(
  image: fs.FileHandle,
  file: string,
  mountDir: string,
  wanted: number,
): Promise<void> {
  const mounted = await deviceAt(mountDir)
  if (mounted !== null) {
    // The database ended by itself, and its disk is still mounted: PHP sees this one.
    if ((await devicesOf(image)).includes(mounted)) return
    await unmount(mountDir)
  }
  // Two mounts would destroy the file system. A device that was just unmounted may stay in use for
  // a moment.
  for (let left = tries; (await devicesOf(image)).length > 0; left--) {
    if (left === 0) throw new Error('the disk of the database is still in use')
    await pause(tryMs)
  }
  if ((await image.stat()).size < wanted) await image.truncate(wanted)
  // Also true where an earlier growth was cut off between file and file system.
  const isSmaller = (await fileSystemBytes(image)) < wanted
  const device = (await run('losetup', ['--find', '--show', file])).stdout.trim()
  try {
    // losetup opens the path, where another file may stand by now.
    if (!(await devicesOf(image)).includes(device)) throw refused()
    if (isSmaller) {
      // e2fsck repairs what a crash of the machine has left; exit code 1: it did so.
      await run('e2fsck', ['-f', '-y', device]).catch((error: { code?: number }) => {
        if (error.code !== 1) throw error
      })
      await run('resize2fs', [device])
    }
    const options = 'noatime,nodev,nosuid,noexec,nosymfollow'
    await run('mount', ['-t', 'ext4', '-o', options, device, mountDir])
  } finally {
    // While the disk is mounted this means: detach when it is unmounted.
    await run('losetup', ['--detach', device]).catch(() => {})
  }
}

/** Does nothing where the disk is not mounted. */
export async function unmountDatabase(databaseDir: string, mountDir: string): Promise<void> {
  if (!(await isMounted(mountDir))) return
  const used = await databaseUsed(databaseDir, mountDir)
  await unmount(mountDir)
  await inDatabaseFolder(databaseDir, 'take', async (at) => {
    await fs.rm(at(heldName), { force: true })
    await fs.writeFile(at(heldName), String(used), { flag: 'wx', mode: 0o600 })
  }).catch(() => {})
}

async function unmount(mountDir: string): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await run('umount', [mountDir])
      return
    } catch (error) {
      // A container that has just ended may use the disk for a moment.
      if (left === 0) throw error
      await pause(tryMs)
    }
  }
}
