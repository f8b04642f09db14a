/**
 * Limits enforced by the kernel, where the portal was given a part of the cgroup v2 tree (systemd:
 * Delegate=yes): memory, processor and number of processes of each container. Elsewhere the driver
 * checks memory every two seconds, and the processor is not limited. Source:
 * Documentation/admin-guide/cgroup-v2.rst of Linux.
 */
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

const megabyte = 1_048_576
/** The period of cpu.max, microseconds. */
const cpuPeriodUs = 100_000
/** Threads that a process may have; Node uses about a dozen. */
const threadsOfProcess = 24
const leastProcesses = 128
/**
 * cpu.weight per processor of the plan. Other groups below the portal's have 100, the portal itself
 * among them.
 */
const weightOfCpu = 5
/**
 * The kernel's limit is higher than the plan by this factor, so that the driver's own check of
 * resident memory acts first.
 */
const memoryMargin = 1.15
const wanted = ['memory', 'cpu', 'pids'] as const
/** How often processes are moved before the group counts as one that the portal cannot divide. */
const moves = 5
/**
 * The portal's own processes move to this group: a group that hands controllers on may hold no
 * process.
 */
const ownGroup = 'portal'

type Controller = (typeof wanted)[number]

export interface Limits {
  readonly memoryMb: number
  readonly cpu: number
  /** Most processes of Node. */
  readonly processes: number
}

export interface Cgroups {
  /** The controllers that the kernel enforces here. */
  readonly controllers: readonly Controller[]
  /**
   * Puts a process, which has no children yet, under its limits; answers a function that removes
   * its group.
   */
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
 * Takes over the group in that folder. Null where the portal cannot divide it: the root of the
 * tree, a folder that it may not write to, or none of the wanted controllers.
 */
export async function openCgroups(folder: string | null): Promise<Cgroups | null> {
  if (folder === null) return null
  // With DelegateSubgroup= the portal starts in its own group already.
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
    // A process that was started while the others were moved keeps the group from being divided:
    // move again.
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
    // Removes groups of an earlier run; a group in use stays.
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
    // Swapping a site out would slow everything else on the disk.
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
