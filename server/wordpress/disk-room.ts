/** Room on servers' disks for what their owners write, by whichever way. */
import type { WordpressDriver } from './driver.ts'

/** What is written through this process is added meanwhile. */
const measuredMs = 60_000

/**
 * False: the disk has no room for so many bytes. Otherwise they count as written.
 * @param whole of the file that begins with them: the disk is measured, and has to have room for it
 */
export type TakeRoom = (
  of: { readonly siteId: string; readonly diskMb: number },
  bytes: number,
  whole?: number,
) => Promise<boolean>

/** Counts what is written on top of what each disk held when it was last measured. */
export function createDiskRoom(driver: Pick<WordpressDriver, 'state'>): TakeRoom {
  const disks = new Map<string, { readonly usedMb: number; readonly at: number; bytes: number }>()
  return async ({ siteId, diskMb }, bytes, whole) => {
    let disk = disks.get(siteId)
    if (!disk || whole !== undefined || Date.now() - disk.at > measuredMs) {
      const { diskUsedMb: usedMb } = await driver.state(siteId)
      disk = { usedMb, at: Date.now(), bytes: 0 }
      for (const [id, { at }] of disks) if (disk.at - at > measuredMs) disks.delete(id)
      disks.set(siteId, disk)
    }
    if (disk.usedMb + (disk.bytes + (whole ?? bytes)) / 1_048_576 > diskMb) return false
    disk.bytes += bytes
    return true
  }
}
