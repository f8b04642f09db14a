/** Warns of a full disk: reports the free space under the data folder in time. */
import { statfsSync, type StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { Log } from './log.ts'

export interface DiskSpace {
  /** Bytes. */
  readonly free: number
  readonly size: number
}

const spaceIn = ({ bavail, blocks, bsize }: StatsFs): DiskSpace => ({
  free: bavail * bsize,
  size: blocks * bsize,
})

/** The space that an unprivileged process may still use, bytes. */
export const diskSpaceOf = async (folder: string): Promise<DiskSpace> =>
  spaceIn(await statfs(folder))

/** The same at once, for what must keep its turn. */
export const diskSpaceNow = (folder: string): DiskSpace => spaceIn(statfsSync(folder))

const gigabyte = 1_073_741_824
/**
 * `little`: below a tenth of the disk, at most 20 GB. `too little`: below a fiftieth, at most 2 GB.
 */
export function shortageOf({ free, size }: DiskSpace): 'little' | 'too little' | undefined {
  if (free < Math.min(size / 50, 2 * gigabyte)) return 'too little'
  return free < Math.min(size / 10, 20 * gigabyte) ? 'little' : undefined
}

/** Logs a shortage once a call, as a warning or an error; answers it in a sentence for machines. */
export async function checkDiskSpace(
  folder: string,
  log: Pick<Log, 'warn' | 'error'>,
): Promise<string | undefined> {
  const space = await diskSpaceOf(folder)
  const shortage = shortageOf(space)
  if (shortage === undefined) return undefined
  const freeGb = Number((space.free / gigabyte).toFixed(1))
  log[shortage === 'little' ? 'warn' : 'error']({ folder, freeGb }, 'the disk is nearly full')
  return shortage === 'too little' ? `only ${freeGb} GB are free` : undefined
}
