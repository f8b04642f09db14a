// How the processes of a container begin: what each may read and write, and what holds it to its
// plan.
import fs from 'node:fs/promises'
import path from 'node:path'
import { wasmFlags, type Command } from './confinement.ts'
import type { BootOrder } from './container.ts'
import type { Host } from './host.ts'
import type { SiteFolder } from './site-folder.ts'
import { giveTree } from './site-users.ts'

/** What PHP leaves behind is soon garbage; a small space for it takes 30 MB less. */
const phpFlags = ['--max-semi-space-size=4']
/** No container has more processes of PHP than so many MB of its plan's memory each. */
const phpProcessMb = 400

/**
 * What a plan's PHP leaves to others (nice): 12 for one processor, 2 less each time they double.
 * Where all want the same processor, a step of 2 is half as much again (sched(7)).
 */
export const niceOf = (cpu: number): number =>
  Math.max(4, Math.round(12 - 2 * Math.log2(Math.max(1, cpu))))

/**
 * The commands of a container and of its PHP, whose folders are their user's from now on. The
 * container serves files and takes sign-in links; PHP alone writes to the site.
 */
export async function commandsOf(
  { confinement, runtimeDir, program, engine }: Host,
  { id, folder, name }: { readonly id: string; readonly folder: SiteFolder; readonly name: string },
  order: Omit<BootOrder, 'php'>,
): Promise<{ command: Command; php: Command }> {
  const owner = await folder.owner()
  const { siteDir, internalDir, ticketsDir, mailDir, countDir } = order
  const own = [siteDir, internalDir, ticketsDir, mailDir, countDir]
  for (const dir of [ticketsDir, mailDir, countDir])
    await fs.mkdir(dir, { recursive: true, mode: 0o700 })
  if (owner !== null) for (const dir of own) await giveTree(dir, owner)
  const named = ['--container', name]
  // The stand-in for PHP runs in the container itself.
  const simulated = program === 'simulated.js'
  const command = await confinement.command(
    path.join(runtimeDir, program),
    ['--site', id, ...named],
    simulated || engine
      ? { reads: [runtimeDir, order.sqliteDir, '/proc/self'], writes: own }
      : {
          // What its processes of PHP take of processor and memory stands in /proc.
          reads: [runtimeDir, order.siteDir, '/proc'],
          writes: [order.internalDir, order.ticketsDir],
        },
    owner,
    { addons: false, programs: !simulated && !engine },
  )
  const php = await confinement.inside(
    path.join(runtimeDir, 'php-worker.js'),
    ['--php-of', id, ...named],
    {
      reads: [runtimeDir, order.sqliteDir],
      writes: [siteDir, internalDir, mailDir, countDir],
    },
    { addons: true, flags: [...phpFlags, ...wasmFlags] },
  )
  return { command, php }
}

/** Has the kernel hold a process to its plan until it `ended`, where it does so for us. */
export async function holdToPlan(
  host: Host,
  {
    id,
    name,
    pid,
    ended,
  }: {
    readonly id: string
    readonly name: string
    readonly pid: number
    readonly ended: Promise<unknown>
  },
  { memoryMb, cpu }: Pick<BootOrder, 'memoryMb' | 'cpu'>,
): Promise<void> {
  const cgroups = await host.cgroups()
  if (!cgroups) return
  try {
    const processes = Math.ceil(memoryMb / phpProcessMb)
    const end = await cgroups.hold(`${id}-${name}`, pid, { memoryMb, cpu, processes })
    void ended.then(end)
  } catch (error) {
    host.warn({ site: id, error }, 'a WordPress container runs without cgroup limits')
  }
}
