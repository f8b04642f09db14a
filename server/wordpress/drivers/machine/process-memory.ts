// What a process and those that it started take of the machine's memory.
import { readFileSync } from 'node:fs'

const megabyteOfKilobytes = 1024

/**
 * Memory of a process and its children's, MB; null where the system does not say (no /proc). The
 * program itself, which lies in memory once for all of them, counts once.
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

/** kB, of /proc/<pid>/status; proc(5). */
function fieldOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
}

/** Of the main thread, which alone starts processes. */
export function childrenOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return list.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    // A kernel without CONFIG_PROC_CHILDREN.
    return []
  }
}
