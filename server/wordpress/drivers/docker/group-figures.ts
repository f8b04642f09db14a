// A container's use of memory and processor, as the kernel counts it for its control group: version
// 2, or version 1 with a tree for each controller.
import { readFileSync } from 'node:fs'
import path from 'node:path'

const megabyte = 1_048_576
const root = '/sys/fs/cgroup'

interface Places {
  /** The file with the memory in use, bytes. */
  readonly memory: string
  /** Finds in memory.stat the file cache that can be given back at once. */
  readonly inactive: RegExp
  readonly stat: string
  /** Processor time so far, ms. */
  readonly cpu: () => number
}

function placesOf(pid: number): Places | null {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n')
  const whereIs = (controller: string): string | undefined =>
    lines.map((line) => line.split(':')).find((one) => one[1]?.split(',').includes(controller))?.[2]
  const [memory, cpu] = [whereIs('memory'), whereIs('cpuacct')]
  const read = (file: string): string => readFileSync(file, 'utf8')
  if (memory !== undefined && cpu !== undefined) {
    const folder = path.join(root, 'memory', memory)
    return {
      memory: path.join(folder, 'memory.usage_in_bytes'),
      stat: path.join(folder, 'memory.stat'),
      inactive: /^total_inactive_file (\d+)$/m,
      cpu: () => Number(read(path.join(root, 'cpuacct', cpu, 'cpuacct.usage'))) / 1e6,
    }
  }
  const own = lines.find((line) => line.startsWith('0::'))?.slice(3)
  if (own === undefined) return null
  const folder = path.join(root, own)
  return {
    memory: path.join(folder, 'memory.current'),
    stat: path.join(folder, 'memory.stat'),
    inactive: /^inactive_file (\d+)$/m,
    cpu: () =>
      Number(/^usage_usec (\d+)$/m.exec(read(path.join(folder, 'cpu.stat')))?.[1] ?? 0) / 1e3,
  }
}

export interface GroupFigures {
  readonly memoryMb: number | null
  readonly cpuMs: number
  /** Reads the figures again. */
  look(): void
}

/** @param pid the container's first process */
export function groupFigures(pid: number): GroupFigures {
  let places: Places | null = null
  try {
    places = placesOf(pid)
  } catch {
    // The process has ended already, or this system has no /proc.
  }
  const figures = {
    memoryMb: null as number | null,
    cpuMs: 0,
    look() {
      if (!places) return
      try {
        const idle = Number(places.inactive.exec(readFileSync(places.stat, 'utf8'))?.[1] ?? 0)
        const bytes = Number(readFileSync(places.memory, 'utf8'))
        figures.memoryMb = Math.round((bytes - idle) / megabyte)
        figures.cpuMs = Math.round(places.cpu())
      } catch {
        // The container has ended.
      }
    },
  }
  figures.look()
  return figures
}
