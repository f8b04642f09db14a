/**
 * What a site's files may take of the disk, held by the kernel where the sites lie on btrfs with
 * quotas: they are a subvolume with a limit. Elsewhere they are only counted.
 * Source: btrfs-quota(8), btrfs-qgroup(8).
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** statfs(2), BTRFS_SUPER_MAGIC. */
const btrfsType = 0x9123_683e
/** Of each subvolume's top (BTRFS_FIRST_FREE_OBJECTID). */
const subvolumeInode = 256
/** A subvolume's own records. */
const leastBytes = 65_536

type Warn = (detail: object, message: string) => void

export interface Disks {
  /** The kernel holds limits. */
  readonly isHeld: boolean
  /**
   * Makes an empty folder that can be given a limit.
   * @param inPlace it is for a disk in a file, which is overwritten where it is
   */
  make(folder: string, inPlace: boolean): Promise<void>
  limit(folder: string, bytes: number): Promise<void>
  /** Null: it has to be counted. */
  used(folder: string): Promise<number | null>
}

const plain: Disks = {
  isHeld: false,
  make: async (folder) => void (await fs.mkdir(folder, { recursive: true })),
  limit: async () => {},
  used: async () => null,
}

/** Sites that were here before quotas, or came by a copy of the folder, are plain folders. */
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
    // What was written last counts, too: it is brought to the disk first.
    const args = ['qgroup', 'show', '--sync', '--raw', '-f', folder]
    const { stdout } = await run('btrfs', args)
    const row = stdout.split('\n').find((line) => /^0\/\d+\s/.test(line))
    return row === undefined ? null : Number(row.trim().split(/\s+/)[1])
  },
})

/** How disks are held in that folder, or where it will be made. */
export async function disksOf(wanted: string, warn: Warn): Promise<Disks> {
  let folder = wanted
  while (!(await fs.stat(folder).catch(() => null))) folder = path.dirname(folder)
  if ((await fs.statfs(folder)).type !== btrfsType) return plain
  try {
    await run('btrfs', ['qgroup', 'show', folder])
    return btrfs(warn)
  } catch {
    // Quotas are off, or these are not our own to set.
    return plain
  }
}
