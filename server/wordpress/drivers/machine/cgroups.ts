/**
 * Limits that the kernel holds, where the portal was given a part of the cgroup v2 tree of its own
 * (systemd: Delegate=yes): memory, processor and number of processes of each container. Elsewhere
 * the driver looks at memory every two seconds, and nothing limits the processor.
 * Source: Documentation/admin-guide/cgroup-v2.rst of Linux.
 */
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

const megabyte = 1_048_576
/** Of cpu.max, microseconds. */
const cpuPeriodUs = 100_000
/** Threads of a process; Node has about a dozen. */
const threadsOfProcess = 24
const leastProcesses = 128
/**
 * Of cpu.weight, for each of a plan's processors. Whoever else runs below the portal's group has
 * 100, the portal itself among them.
 */
const weightOfCpu = 5
/** What the driver's own look at resident memory lets through is not for the kernel to end. */
const memoryMargin = 1.15
const wanted = ['memory', 'cpu', 'pids'] as const
/** How often processes are moved before the group counts as not ours to divide. */
const moves = 5
/** No process may stand in a group that hands controllers on: the portal's own moves here. */
const ownGroup = 'portal'

type Controller = (typeof wanted)[number]

export interface Limits {
  readonly memoryMb: number
  readonly cpu: number
  /** Of Node, at most. */
  readonly processes: number
}

export interface Cgroups {
  /** What the kernel holds here. */
  readonly controllers: readonly Controller[]
  /** Puts a process, which has no children yet, under its limits; answers what ends its group. */
  hold(name: string, pid: number, limits: Limits): Promise<() => Promise<void>>
}

/** The folder of this process's group of cgroup v2; null where there is none. */
export async function ownCgroup(): Promise<string | null> {
  try {
    const mounts = await readFile('/proc/self/mounts', 'utf8')
    const mount = mounts.split('\n').find((line) => line.split(' ')[2] === 'cgroup2')
    const own = /^0::(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1]
    const top = mount?.split(' ')[1]
    return top === undefined || own === undefined ? null : path.join(top, own)
  } catch {
    return null
  }
}

/**
 * Takes over the group in that folder. Null where it is not the portal's to divide: the root of the
 * tree, a folder that it may not write to, or no controller of ours.
 */
export async function openCgroups(folder: string | null): Promise<Cgroups | null> {
  if (folder === null) return null
  // After a start under DelegateSubgroup= it is in its own group already.
  const top = path.basename(folder) === ownGroup ? path.dirname(folder) : folder
  const file = (...parts: string[]) => path.join(top, ...parts)
  try {
    // The root of the tree has no such file.
    await readFile(file('cgroup.events'))
    await access(file('cgroup.subtree_control'), constants.W_OK)
    const offered = (await readFile(file('cgroup.controllers'), 'utf8')).trim().split(/\s+/)
    const controllers = wanted.filter((one) => offered.includes(one))
    if (controllers.length === 0) return null
    await mkdir(file(ownGroup), { recursive: true })
    // A process that began while the others were moved keeps the group from being divided.
    for (let left = moves; ; left--) {
      for (const pid of (await readFile(file('cgroup.procs'), 'utf8')).split('\n'))
        if (pid !== '') await writeFile(file(ownGroup, 'cgroup.procs'), pid).catch(() => {})
      try {
        await writeFile(
          file('cgroup.subtree_control'),
          controllers.map((one) => `+${one}`).join(' '),
        )
        break
      } catch (error) {
        if (left === 1) throw error
      }
    }
    // Groups of an earlier life; one in use stays.
    for (const name of await readdir(top))
      if (name.startsWith('site-')) await rmdir(file(name)).catch(() => {})
    return { controllers, hold: (name, pid, limits) => hold(top, controllers, name, pid, limits) }
  } catch {
    return null
  }
}

async function hold(
  top: string,
  controllers: readonly Controller[],
  name: string,
  pid: number,
  { memoryMb, cpu, processes }: Limits,
): Promise<() => Promise<void>> {
  const group = path.join(top, `site-${name}`)
  await mkdir(group, { recursive: true })
  const set = (file: string, value: string) => writeFile(path.join(group, file), value)
  if (controllers.includes('memory')) {
    await set('memory.max', String(Math.ceil(memoryMb * memoryMargin) * megabyte))
    // Paging a site out would slow everything else on the disk.
    await set('memory.swap.max', '0').catch(() => {})
  }
  if (controllers.includes('cpu')) {
    await set('cpu.max', `${Math.round(cpu * cpuPeriodUs)} ${cpuPeriodUs}`)
    await set('cpu.weight', String(Math.max(1, Math.round(cpu * weightOfCpu))))
  }
  if (controllers.includes('pids'))
    await set('pids.max', String(Math.max(leastProcesses, processes * threadsOfProcess)))
  await set('cgroup.procs', String(pid))
  return () => rmdir(group).catch(() => {})
}
