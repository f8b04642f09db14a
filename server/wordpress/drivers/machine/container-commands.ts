// How the processes of a container are started: what each may read and write, and what holds it to
// its plan.
import fs from 'node:fs/promises'
import path from 'node:path'
import { wasmFlags, type Command } from './confinement.ts'
import type { BootOrder } from './container.ts'
import type { Host } from './host.ts'
import type { SiteFolder } from './site-folder.ts'
import { giveTree } from './site-users.ts'

/** PHP's garbage is short-lived; a small space for it saves 30 MB. */
const phpFlags = ['--max-semi-space-size=4']
/** A container has at most one process of PHP per so many MB of its plan's memory. */
const phpProcessMb = 400

/**
 * The nice value of a plan's PHP: 12 for one processor, 2 less each time their number doubles.
 * Where all want the same processor, a step of 2 gives half as much again (sched(7)).
 */
export const niceOf = (cpu: number): number =>
  Math.max(4, Math.round(12 - 2 * Math.log2(Math.max(1, cpu))))

/**
 * The commands of a container and of its PHP; their folders are given to their user. The container
 * serves files and takes sign-in links; only PHP writes to the site.
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
  // The simulated PHP of tests runs in the container itself.
  const simulated = program === 'simulated.js'
  const command = await confinement.command(
    path.join(runtimeDir, program),
    ['--site', id, ...named],
    simulated || engine
      ? { reads: [runtimeDir, order.sqliteDir, '/proc/self'], writes: own }
      : {
          // /proc tells the processor time and memory of its PHP processes.
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

/** Has the kernel hold a process to its plan until it has `ended`, where cgroups are available. */
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
