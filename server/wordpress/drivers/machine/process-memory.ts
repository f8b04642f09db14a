// The memory of a process and its children.
import { readFileSync } from 'node:fs'

const megabyteOfKilobytes = 1024

/**
 * Memory of a process and its children, MB; null where the system does not tell it (no /proc). The
 * program's code, which all of them share, counts once.
 */
export function memoryOf(pid: number): number | null {
  try {
    let kilobytes = fieldOf(pid, 'VmRSS')
    for (const child of childrenOf(pid))
      kilobytes += fieldOf(child, 'RssAnon') + fieldOf(child, 'RssShmem')
    return Math.round(kilobytes / megabyteOfKilobytes)
  } catch {
    return null
  }
}

/** A field of /proc/<pid>/status, kB; proc(5). */
function fieldOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
}

/** Children of the main thread, the only one that starts processes. */
export function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return list.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    // The kernel has no CONFIG_PROC_CHILDREN.
    return []
  }
}
