/** Room on servers' disks for what their owners write, whichever way they write it. */
import type { WordpressDriver } from './driver.ts'

/** How long a measurement is used; bytes written through this process meanwhile are added to it. */
const measuredMs = 60_000

/**
 * Reserves `bytes` on the disk. False: there is no room for them.
 * @param whole length of the file that begins with them, bytes: the disk is measured, and must have
 *   room for all of it
 */
export type TakeRoom = (
  of: { readonly siteId: string; readonly diskMb: number },
  bytes: number,
  whole?: number,
) => Promise<boolean>

/** Adds what is written through this process to the last measurement of each disk. */
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
