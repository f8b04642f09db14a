/**
 * The limit of a site's files. Where the sites lie on btrfs with quotas, each site is a subvolume
 * and the kernel enforces the limit. Elsewhere the files are only counted. Source: btrfs-quota(8),
 * btrfs-qgroup(8).
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** statfs(2), BTRFS_SUPER_MAGIC. */
const btrfsType = 0x9123_683e
/** The inode of every subvolume's top (BTRFS_FIRST_FREE_OBJECTID). */
const subvolumeInode = 256
/** Least limit: a subvolume's own records. */
const leastBytes = 65_536

type Warn = (detail: object, message: string) => void

export interface Disks {
  /** Whether the kernel enforces limits. */
  readonly isHeld: boolean
  /**
   * Makes an empty folder that can be given a limit.
   * @param inPlace the folder is for a disk in a file, which is overwritten in place
   */
  make(folder: string, inPlace: boolean): Promise<void>
  limit(folder: string, bytes: number): Promise<void>
  /** Used bytes; null: they must be counted. */
  used(folder: string): Promise<number | null>
}

const plain: Disks = {
  isHeld: false,
  make: async (folder) => void (await fs.mkdir(folder, { recursive: true })),
  limit: async () => {},
  used: async () => null,
}

/** False for a plain folder: the site is older than the quotas, or its folder was copied. */
const isSubvolume = async (folder: string): Promise<boolean> =>
  (await fs.stat(folder)).ino === subvolumeInode

const btrfs = (warn: Warn): Disks => ({
  isHeld: true,
  async make(folder, inPlace) {
    await fs.mkdir(path.dirname(folder), { recursive: true })
    if (await fs.stat(folder).catch(() => null)) return
    await run('btrfs', ['subvolume', 'create', folder])
    if (inPlace) await run('chattr', ['+C', folder])
  },
  async limit(folder, bytes) {
    if (!(await isSubvolume(folder))) {
      warn({ folder }, 'the files of a site are counted and not held: no subvolume of btrfs')
      return
    }
    const least = String(Math.max(leastBytes, Math.floor(bytes)))
    await run('btrfs', ['qgroup', 'limit', least, folder])
  },
  async used(folder) {
    if (!(await fs.stat(folder).catch(() => null))) return 0
    if (!(await isSubvolume(folder))) return null
    // --sync writes pending data to the disk first, so that the newest writes count, too.
    const args = ['qgroup', 'show', '--sync', '--raw', '-f', folder]
    const { stdout } = await run('btrfs', args)
    const row = stdout.split('\n').find((line) => /^0\/\d+\s/.test(line))
    return row === undefined ? null : Number(row.trim().split(/\s+/)[1])
  },
})

/** The kind of limits in that folder, or in the parent where it will be made. */
export async function disksOf(wanted: string, warn: Warn): Promise<Disks> {
  let folder = wanted
  while (!(await fs.stat(folder).catch(() => null))) folder = path.dirname(folder)
  if ((await fs.statfs(folder)).type !== btrfsType) return plain
  try {
    await run('btrfs', ['qgroup', 'show', folder])
    return btrfs(warn)
  } catch {
    // Quotas are off, or this process may not set them.
    return plain
  }
}
